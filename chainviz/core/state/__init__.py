"""Conversation state (seed 3): what a program stores between two calls of a model, and what each call would send.

In reading order: document (a state and its JSON), classify (a file: fine, or what is wrong and where), salvage (what can be
read of one that is not fine), raw_messages (messages in the dialect of their provider), call (the next call, append, add
event), compaction_request, message_index and usage (what a compactor is given), stored_and_sent (what a chain would store
and send), export (a chain as a state), processed_length (how it follows a change), continued (a later state of a
chain). The compactors themselves are in operations/compact.
"""
