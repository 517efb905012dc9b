"""Webhooks of a team: signed messages to its servers about saved versions and reviews. Read models, deliveries, sending, page in this
order."""
