"""The passes of repair, one file a kind of problem. Each reads the tree of the `session` and offers fixes in it."""
