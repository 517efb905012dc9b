"""Tool results of a chain, in tool messages or in texts, each beside its call (seed 2).

`contract` has the values; `reader` goes through a chain, `texts` reads and writes one text; `round_trip` names what would be lost;
`index` stores only the place of each result.
"""
