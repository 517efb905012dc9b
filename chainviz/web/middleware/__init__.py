"""Middleware: the limit for uploads, no caching of pages, and a page for addresses that only accept forms."""
