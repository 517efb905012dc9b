"""Tool results of a chain, in tool messages or in texts, each beside its call.

`contract` defines the values, `reader` reads a chain, `texts` reads and writes one text and reports losses, and `index`
stores only the place of each result.
"""
