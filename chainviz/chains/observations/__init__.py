"""The page of a chain's tool results, each beside its call, and of its media. Converting them is an operation of drafts.

In reading order: `index_job` (where the results are; those of one AI message as one text), `filters` (the choice among them), `cards`
(the results that are shown, in groups), `results_page` (with the media).
"""
