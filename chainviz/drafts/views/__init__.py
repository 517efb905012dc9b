"""One file a page; what a page does to a draft is in services."""
