"""Conversation state (seed 3): what a program stores between two calls of a model, and what each call would send.

In reading order: `document` (a state and its JSON), `faults` (a file: fine, or what is wrong and where), `salvage` (what can be
read of a broken one), `message_index` (sizes and tokens), `call` (the next call, append, add event), `export` (a chain as a state),
`processed_length` (how it follows a change). The compactors are in core/operations/compact.
"""
