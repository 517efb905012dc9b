"""Compares two chains that share nothing, such as two runs of one task."""
