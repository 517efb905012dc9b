"""Sign-off: approve a version that meets the rules of its team, and record it.

Read services, export_lock, page, view in this order.
"""
