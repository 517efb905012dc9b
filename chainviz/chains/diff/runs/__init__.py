"""The page that compares any two chains, such as two runs of one task."""
