"""The badges of the entries of a history: operations, and what the history itself does."""

from __future__ import annotations

from chainviz.core.operations import OPERATIONS
from chainviz.core.operations.contract import Badge

_BADGES = {
    "": Badge("Uploaded", "upload", "quiet"),
    "copy": Badge("Branched", "share", "open"),
    "restore": Badge("Restored", "restore", "open"),
    "merge": Badge("Merged", "compact", "changed"),
    "purge": Badge("Purged", "trash", "removed"),
    **{operation.name: operation.badge for operation in OPERATIONS},
}


def badge_of(name: str) -> Badge:
    """Returns the badge of a stored step; one of an operation that this edition no longer has gets a plain one."""
    return _BADGES.get(name) or Badge(name.capitalize(), "settings", "changed")
