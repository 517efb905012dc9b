"""Scan chains for secrets, and describe the findings."""
