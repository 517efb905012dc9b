"""Slow work: its row, lease and progress. Knows functions only by their dotted path, never what they do."""
