"""Recipes and word lists that a team keeps: their tables, their pages, and what `core.recipes` takes of them.

In reading order: `models`, `services` (all writes), `redact_form` and `step_form` (options of a step), `views`,
`written_texts` (for the scan), `fsck`.
"""
