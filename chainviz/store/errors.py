"""The errors of the store, with sentences for a person."""

from __future__ import annotations

from chainviz.core.chain.paths import Path
from chainviz.core.errors import Refused
from chainviz.store.models import Version


class Conflict(Refused):
    """Raised if somebody else saved a version in the meantime. Nothing is saved, and the draft stays."""

    def __init__(self, base: Version, head: Version) -> None:
        super().__init__(
            f"Version {head.number} was saved while you worked on version {base.number}; rebase your draft, or save yours as a copy."
        )
        self.base = base
        self.head = head


class Overlap(Refused):
    """Raised if a draft and the newest version changed the same pairs."""

    def __init__(self, paths: tuple[Path, ...]) -> None:
        shown = ", ".join(map(str, paths[:5])) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
        shown = shown or "the document around the messages"
        super().__init__(f"Both your draft and the newer version changed {shown}; choose which change to keep, or save yours as a copy.")
        self.paths = paths
        """In the draft's base."""
