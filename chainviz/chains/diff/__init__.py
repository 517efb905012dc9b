"""Pages of changes: between two versions of a chain, and between any two chains.

In reading order: `compare` (two stored snapshots), `address` (what is asked for), `groups` (one changed node) with `part_rows`,
`changes_page` (the window), `diff_html` and `strip_svg` (drawn), `versions_page`; `files`: the exported files, line by line; `runs`:
chains that share nothing.
"""
