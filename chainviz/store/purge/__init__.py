"""Deletion for good: whole chains (delete) and single values (values)."""
