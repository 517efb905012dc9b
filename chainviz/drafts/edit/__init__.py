"""Editing one node: its form, its earlier texts, and bringing one of them back."""
