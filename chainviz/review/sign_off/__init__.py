"""Sign-off: a version that meets the rules of its team is let go, and the record that says so.

Read services, export_lock, page, view in this order.
"""
