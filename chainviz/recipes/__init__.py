"""Recipes and word lists that a team keeps: their tables, their pages, and what `core.recipes` takes of them.

In reading order: `models`, `services` (all writes), `step_form` (options of a step), `views`, `fsck`.
"""
