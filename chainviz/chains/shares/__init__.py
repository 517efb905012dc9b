"""Links with which anybody reads one version of a chain, without an account and nothing else.

Read models, links, form, view in this order.
"""
