"""Webhooks of a team: signed messages to its own servers when versions are saved and reviews go on.

Read models, deliveries, sending, page in this order.
"""
