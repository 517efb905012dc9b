"""Review requests: asking people, their verdicts, how a chain stands against its team's rules, and the page of it all.

Read services, secret_search, standing, sections, page, view in this order.
"""
