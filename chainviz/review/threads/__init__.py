"""Threads of comments: find their places, write them, and show them on pages."""
