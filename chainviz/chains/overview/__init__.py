"""The overview: cost and tokens by day, health, tools, errors and waste of the sessions in the index.

In reading order: `figures` (what is counted, and sums over the index), `charts` (bars by day), `overview_page`.
"""
