"""Where the bytes of a chain go: a chart to drill down in, and bars whose parts can be selected.

level (which part of the chain is shown) · groups (its bytes by tool, node and part) · strips and
detail (blocks of the chart) ·
selection (what is selected, and the redaction it leads to) · page · view
"""
