"""Where the reference crashes and we change nothing."""

from __future__ import annotations

from chainviz.core.state.compaction_request import CompactionFailed


class Panic(CompactionFailed):
    """A crash of the reference, raised only where its behaviour is asked for."""

    def __init__(self, what: str) -> None:
        super().__init__(f"runtime error: {what}")
