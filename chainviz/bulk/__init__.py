"""Bulk: one act on many chains of the library, as one job with a report.

In reading order: `models` (a run and its rows), `acts` (what can be done, one file a kind), `job` (chain by chain), `report` (the
page of a run), `views`.
"""
