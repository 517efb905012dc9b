"""Merge two changed versions with their common base: lists (`three_way`, with `sequences` for rows that both changed), items
(`items`), one message (`messages`), and JSON or plain text (`json_and_text`)."""
