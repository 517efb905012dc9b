"""The State page: what a chain would store between two calls of a model, and what its next call would send.

In reading order: `what_if` (the next call that a person enters, and the two columns), `state_page` (the view, the download, and appending
without a call), `import_page` (a document as the next version of the chain).
"""
