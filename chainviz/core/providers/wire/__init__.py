"""The JSON of a request as each API takes it: which members, of which types, in whose messages."""
