"""Checks everything that is stored: findings, rows (checksums), contents (uploads, runs, messages), check (all of it).

The rows of the apps above, and the folders, are checked by chainviz/fsck.
"""

from chainviz.store.fsck.check import fsck

__all__ = ["fsck"]
