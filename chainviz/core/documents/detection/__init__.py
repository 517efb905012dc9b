"""Find the message lists of a file.

`recognition` asks the formats what a message is and keeps a sample for them, `find_lists` and `json_lines` search (also
broken files), `sequences` joins lists that make up one chain, and `detect` is the entry point.
"""
