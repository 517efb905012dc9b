"""Conversation state (seed 3): what a program stores between two calls of a model, and what each call would send.

In reading order: document (a state and its JSON), read (a file classified, nothing thrown away), raw (messages in the
dialect of their provider), call (the next call, append, add event), request (what a compactor is given), window and usage
(measures of it), next_call (what a chain would store and send), export (a chain as a state).
No compactor is here: those are in operations/compact.
"""
