"""Sessions of agents that their API refuses to continue: fixed in the file on disk, beside a backup.

Read records (the lines of the file), fix (what changes), backups (writing and restoring), difference (what changes, side by
side) and page (the same in the browser) in this order. All but the last two know no Django.
"""
