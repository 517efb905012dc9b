"""Tool calls: their ids and their arguments."""
