"""The page of changes between two versions of a chain.

In reading order: `compare` (two stored snapshots) with `equal_stretches` and `stored_rows`; `address` (what is asked for),
`groups` (one changed node) with `part_rows`, `folds` (what did not change), `measures` (how much in all), `page` (the window),
`diff_html` (drawn), `view`; `files`: the exported files, line by line;
`runs`: two chains that share nothing.
"""
