"""The State page: what a chain would store between two calls of a model, and what its next call would send (seed 3).

In reading order: what_if (what a person enters for the next call), rows (the two columns), document (the download),
page (the view, which also appends without a call), import_step and import_page (a document as the chain's next version).
"""
