"""The parse panel: what a reader gets from a model's answer, or from a text that is pasted. Stores nothing.

settings.py reads the form; spans.py says which characters belong to which section, source_lines.py shows them as lines;
calls.py shows the calls of action sections, react.py the steps of a ReAct log; panel.py puts the panel together, view.py
answers for a message of a chain and for a pasted text.
"""
