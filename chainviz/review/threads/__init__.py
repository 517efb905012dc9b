"""Threads of comments: where they stand, how they are written, and the pages that show them."""
