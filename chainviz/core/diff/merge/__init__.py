"""Three-way merge of what two sides changed of one base: of a list (three_way, with sequence_merge for rows that both changed),
of one message (message_merge), of JSON text (text_merge) and of words (word_merge)."""
