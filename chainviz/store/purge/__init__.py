"""Deletion for good: whole chains (delete), what nothing reaches any more (garbage), single values (values, blanking)."""
