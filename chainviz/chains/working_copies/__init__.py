"""Sessions of the index as chains: opening one makes a working copy, which is collected unless something is done with it.

In reading order: `kept` (which copies are more than that), `opening` (the pages and functions that open sessions).
"""
