"""A chain in memory: messages, the tree over them (seed 0), paths, sizes, problems."""
