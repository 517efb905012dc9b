"""Labels of chains and nodes: set and taken away, the page of a chain, and the filter of the library.

Read places, services, view in this order.
"""
