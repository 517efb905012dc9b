"""The passes of repair, each for one kind of problem. A pass reads the tree of the worklist and offers fixes."""
