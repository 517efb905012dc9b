"""Transcripts inside other text: JSON in a string, a command, Python's repr, a table, a log.

In reading order: `unwrap` (the text that a file becomes), `kinds` (what a file may be), `values` (JSON and Python values that
begin somewhere in a text).
"""
