"""Drafts: what a person is changing in a chain before it is saved as a version."""
