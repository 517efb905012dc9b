"""The outline of a snapshot: two sequences of blocks, rows (header messages and pairs) and sections, with relative numbers.

A cache: it is made while a chain is imported, changed in the touched blocks only by an edit, and can be rebuilt from
the messages at any time. Sections follow from the kinds of rows alone: one begins at the first row and at each header
row after a pair.
"""
