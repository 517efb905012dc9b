"""The bytes of a chain by node: a chart to drill down in, and bars whose parts can be selected.

In reading order: `level` (the part of the chain on display, and its bytes by tool, node and part), `strips` (rows of the chart),
`bytes_page`.
"""
