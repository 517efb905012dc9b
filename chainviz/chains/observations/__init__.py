"""The page of a chain's tool results, each beside its call, and of its media. Converting them is an operation of drafts.

index_job.py reads where the results lie; filters.py chooses among them, find.py by words; contents.py reads those that
are shown, cards.py, groups.py and media.py show them; facets.py counts; page.py and view.py put the page together.
as_text.py writes the results of one AI message as one text.
"""
