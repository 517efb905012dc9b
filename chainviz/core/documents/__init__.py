"""Source bytes to units and back: what a file is before any provider's format is known (DESIGN 4.1).

`json` edits and scans JSON text, `detection` finds the message lists of a file. Here, in reading order: `source` (bytes as
UTF-8), `compressed` (the file inside of gzip and Zstandard), `eval_archive` (a ZIP as JSON), `event_folder` (a folder as
JSON Lines), `units` (the pieces of a document), `unit_reader` and `sequence_reader` (bytes to units), `document_context` and
`envelope_json` (what surrounds the messages), `links` (units that name their parent), `written_lists` and `assemble` (units
back to bytes), `written_file` (UTF-8 back to what was uploaded).
"""
