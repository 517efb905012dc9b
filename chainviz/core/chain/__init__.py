"""A chain in memory: its messages, the tree over them, paths, sizes and problems."""
