"""Review requests: ask people, record their verdicts, compare a chain with its team's rules, and show the page of it
all.

Read services, secret_search, standing, sections, page, view in this order.
"""
