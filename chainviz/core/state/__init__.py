"""Conversation states: what a program stores between two calls of a model, and what each call would send.

In reading order: `document` (a state, its JSON, and processed_length after a change), `faults` (the problems of a file, with
their places, and its readable messages), `call` (sizes and tokens of messages, the next call, append, add event), `export`
(a chain as a state). The compactors are in core/operations/compact.
"""
