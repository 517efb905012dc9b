"""Summaries before they are part of a chain: a run of pieces that are planned, written, reviewed, and then become one step of a draft."""
