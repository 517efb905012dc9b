"""Find the rows with messages that the draft has changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from chainviz.core.chain.paths import Path
from chainviz.store.query.windows import WindowRow


def changed_rows(changed: Sequence[range], rows: Iterable[WindowRow]) -> frozenset[Path]:
    """Yield the paths of changed rows. `changed` are ranges of messages, in order. An open section is left out, because its rows are
    listed."""
    shown = (row for row in rows if row.kind != "section" or not row.is_open)
    return frozenset(row.path for row in shown if overlaps(changed, row.start, row.messages))


def overlaps(changed: Sequence[range], start: int, messages: int) -> bool:
    """Return True if one of the messages `start : start + messages` was changed."""
    place = bisect_right(changed, start, key=lambda each: each.start)
    if place and changed[place - 1].stop > start:
        return True
    return place < len(changed) and changed[place].start < start + messages
