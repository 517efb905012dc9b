"""Conversation states: what a program stores between two calls of a model, and what each call would send.

In reading order: `document` (a state and its JSON), `faults` (the problems of a file, with their places, and its
readable messages), `message_index` (sizes and tokens), `call` (the next call, append, add event), `export` (a chain as a
state), `processed_length` (its value after a change). The compactors are in core/operations/compact.
"""
