"""The page of changes between two contents of a chain."""
