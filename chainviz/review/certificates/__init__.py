"""Certificates: an export for somebody outside the team ends in a record of what was removed and what was searched. The
record is a row of the sign-offs with a recipient; it contains no removed value.

Read facts, services, view in this order.
"""
