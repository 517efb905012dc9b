"""A file on its way into the library, until it is a chain.

In reading order: `staging` (where its bytes wait), `imports` (a message list becomes a chain), `arrivals` (received, imported,
offered for a choice or refused), `pick` (the choice), `state_files` (a state document), `tray` and `upload_view` (the lines of the
tray), `local_files` (files of this machine, and again when they have grown).
"""
