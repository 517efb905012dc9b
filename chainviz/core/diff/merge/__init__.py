"""Three-way merge of what two sides changed of one base: lists (`three_way`, with `sequences` for rows that both changed), items
(`items`), one message (`messages`), and JSON or plain text (`json_and_text`)."""
