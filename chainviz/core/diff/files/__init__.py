"""Compares two whole files, line by line."""
