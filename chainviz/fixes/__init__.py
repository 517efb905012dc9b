"""Fix sessions of agents that their API refuses to continue: in the file on disk, with a backup.

In reading order: `fix` (the changes; `core.session_records` restores damaged lines first), `backups` (writing and restoring),
`difference` (the changes side by side), `fix_page` (the same in the browser). Only the last two depend on Django.
"""
