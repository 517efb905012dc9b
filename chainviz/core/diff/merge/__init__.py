"""Merge two changed versions with their common base: lists (`three_way`, with `sequences` for rows that both changed), items
and texts (`items`), and one message (`messages`)."""
