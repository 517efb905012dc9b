"""Labels of chains and nodes: set and taken away, the page of a chain, the filter of the library, and the files of all.

Read services, exports, view in this order.
"""
