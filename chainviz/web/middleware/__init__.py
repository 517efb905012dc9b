"""Middleware: the limit for uploads, and a page for addresses that only accept forms."""
