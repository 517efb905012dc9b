"""Recipes and word lists of a team: their tables and pages, and the values that `core.recipes` needs. In reading order: `models`,
`services` (all writes), `step_form` (options of a step), `views`."""
