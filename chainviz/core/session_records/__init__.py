"""The records of a session file, one on each line, and their damage, because of which an agent would not resume the session.

In reading order: `records` (restore them one by one) and `damage` (what a format adds).
"""
