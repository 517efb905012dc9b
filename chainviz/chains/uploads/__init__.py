"""A file on its way into the library, until it is a chain.

In reading order: `staging` (where its bytes wait), `imports` (a message list becomes a chain), `arrivals` (received, imported,
offered for a choice or refused), `offer_rows` (what can be chosen from), `pick_form` and `pick_view` (the choice), `tray` and
`upload_view` (the lines of the tray), `format_choices`, `source_lines` and `state_files` (what the pages say of a file),
`local_files` and `file_growth` (files of this machine, and again when they have grown).
"""
