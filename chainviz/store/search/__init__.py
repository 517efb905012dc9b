"""The search index: which chains have a word or phrase in their newest version. It finds chains and blocks of messages;
the page that shows a hit reads the messages.

It holds no text, only words, and is a cache: what is deleted or purged leaves it, and a job builds it again.

- `full_text_tables`: texts as words, and the messages of a chain in blocks of words in the database, FTS5 on SQLite and tsvector with
  GIN on PostgreSQL
- `index`: brings the index of a chain to its newest version, takes a chain out, and checks that it is complete
- `lookup`: the chains, and the blocks of chains, that have a phrase, and where it stands in a text
"""
