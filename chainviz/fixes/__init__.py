"""Fix sessions of agents that their API refuses to continue: in the file on disk, with a backup.

In reading order: `records` (the lines of the file), `fix` (the changes), `backups` (writing and restoring), `difference` (the changes
side by side), `page` (the same in the browser). Only the last two depend on Django.
"""
