"""Summaries on their way: a run of pieces that are planned, written, read, corrected, and then become one step of a draft."""
