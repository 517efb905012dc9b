"""Versions, drafts and their steps: how content changes over time."""
