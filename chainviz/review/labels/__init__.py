"""Labels of chains and nodes: set and remove them, the page of a chain, and the filter of the library.

Read places, services, view in this order.
"""
