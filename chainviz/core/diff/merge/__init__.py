"""Three-way merge of what two sides changed of one base: of a list (three_way, with sequence_merge for rows that both changed),
item by item (item_merge), of one message (message_merge, part_merge), of JSON objects (json_merge), of JSON text token by token
(text_merge) and of words (word_merge). merged is what each of them returns."""
