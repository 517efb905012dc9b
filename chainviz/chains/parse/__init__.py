"""The parse panel: what a reader gets from a model's answer, or from a text that is pasted. Stores nothing.

In reading order: `source_lines` (the sections of a text by line), `react` (the steps of a ReAct log), `panel`, `parse_pages` (the
answers for a message of a chain and for a pasted text).
"""
