"""Merge two changed versions with their common base: lists (`three_way`), items and texts (`items`), one message, and rows that
both changed (`messages`)."""
