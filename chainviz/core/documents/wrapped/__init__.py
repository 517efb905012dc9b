"""Transcripts as failures arrive: JSON inside a string, a command, Python's repr, a table, a log or any other text (issue 12).

In reading order: `unwrap` (the text that a file becomes), `kinds` (what a file may be), `shell` (cURL commands), `values`
(JSON and Python values that begin somewhere in a text) and `python_repr` (Python values as JSON).
"""
