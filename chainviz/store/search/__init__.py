"""The search index: which chains have a word or phrase in their newest version. It finds chains and blocks of messages;
the page that shows a hit reads the messages.

It holds no text, only words, and is a cache: what is deleted or purged leaves it, and a job builds it again.

- `words`: a text as words, alike for what is stored and for what is asked
- `blocks`: the messages of a chain cut into blocks of words
- `full_text_tables`: the words of the blocks in the database, FTS5 on SQLite and tsvector with GIN on PostgreSQL
- `index`: brings the index of a chain to its newest version, and takes a chain out
- `lookup`: the chains, and the blocks of chains, that have a phrase
- `excerpts`: where a phrase stands in a text
- `check`: whether the index is complete
"""
