"""Tool results of a chain, in tool messages or in texts, each beside its call (seed 2).

contract.py has the values; reader.py goes through a chain, texts.py reads and writes one text, brackets.py its oldest
convention, actions.py the calls that are written as text; round_trip.py says what would be lost, media.py lists images. index.py keeps of
each result only its place, in tables of number_table.py.
"""
