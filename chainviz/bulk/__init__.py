"""Bulk runs: one act on many chains of the library, as one job with a report.

In reading order: `models` (a run and its rows), `acts` (the possible acts), `job` (the work on each chain), `views` (the
pages of a run).
"""
