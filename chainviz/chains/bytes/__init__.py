"""The bytes of a chain by node: a chart to drill down in, and bars whose parts can be selected.

level (the part of the chain on display) · groups (its bytes by tool, node and part) · strips and detail (blocks of the chart) ·
selection (the selected parts, and the redaction of them) · page · view
"""
