"""The passes of repair, each for one kind of problem. A pass reads the tree of the session and offers fixes in it."""
