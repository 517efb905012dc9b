"""The versions of a chain: the list, comparing, restoring, branching."""
