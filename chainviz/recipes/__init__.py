"""Recipes and word lists that a team keeps: their tables, their pages, and what `core.recipes` takes of them.

In reading order: `models`, `services` (all writes), `word_list_views`, `recipe_views`, `written_texts` (for the scan), `fsck`.
"""
