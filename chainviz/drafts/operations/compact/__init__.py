"""The compaction page: a strategy built as a tree of compactors and triggers, what it does to the open chain, and why.

In reading order: tree (the form of a strategy), run (one run, as a page shows it), before_after (the chain with what goes
struck through), choices (the page), run_job (a run on a long chain).
"""
