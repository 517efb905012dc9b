"""Source bytes to units and back: what a file is before any provider's format is known.

`json` edits and scans JSON text, `detection` finds the message lists of a file, `wrapped` reads JSON inside other text. Here, in
reading order: `source` (bytes as UTF-8), `packed_files` (gzip, Zstandard and `.eval` archives), `event_logs` (growing files and
folders), `units` (the pieces of a document and its envelope), `unit_reader` and `sequence_reader` (bytes to units),
`document_context` (what surrounds the messages), `written_lists` and `assemble` (units back to bytes), `written_file` (UTF-8 back
to what was uploaded).
"""
