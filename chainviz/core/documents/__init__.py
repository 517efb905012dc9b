"""Read the bytes of a file into units and write them back, independently of any transcript format.

`json` edits and scans JSON text, `detection` finds the message lists of a file, and `wrapped` reads JSON inside other text. The
modules here, in reading order: `source` (bytes as UTF-8), `packed_files` (gzip, Zstandard and `.eval` archives), `event_logs`
(growing files and folders), `units` (the pieces of a document and its envelope), `unit_reader` and `sequence_reader` (bytes to
units), `document_context` (the text around the messages), `written_lists` and `assemble` (units to bytes), `written_file` (UTF-8 to
the uploaded encoding or archive).
"""
