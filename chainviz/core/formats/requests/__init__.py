"""The rest of a request beside its messages: tools and settings, as one neutral value that each API reads and writes in its way.

In reading order: `settings` (the value), `form` (the spelling of an API), `convert_request` (a chain's request to the new document
of another format).
"""
