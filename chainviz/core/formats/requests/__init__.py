"""The rest of a request beside its messages: tools and settings, as one neutral value that each API reads and writes in
its way.

Read in this order: `settings` (the value), `members` (a request while it is read or written), `changes` (what a
conversion
leaves out, changes or adds), `form` (the spelling of an API), `openai_like`, `json_schema`, `convert_request` (a
chain's
request to the new document of another format).
"""
