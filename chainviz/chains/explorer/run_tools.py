"""Which tools the pairs of a folded run call, and how often: what its row says in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from chainviz.chains.render.numbers import count_text
from chainviz.core.chain.paths import Path
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_shapes import StoredShape
from chainviz.store.query.windows import WindowRow

MOST_READ = 2_000
"""Messages of all runs in a window whose calls are counted, so that a window costs the same everywhere."""
BEGINNING = 64
"""Messages that are read of any other run: some of its tools are named, without counts."""
NAMED = 4
NAME_LENGTH = 24


def run_teasers(chain: StoredChain, rows: Iterable[WindowRow]) -> dict[Path, str]:
    """Returns such as `bash 31 · edit 12 · 96 messages`, or `bash, edit … · 9,600 messages`, for each run, from one read."""
    read: list[tuple[WindowRow, range]] = []
    left = MOST_READ
    for row in rows:
        if row.kind == "run":
            count = row.messages if row.messages <= left else BEGINNING
            left -= row.messages if row.messages <= left else 0
            read.append((row, range(row.start, row.start + min(count, row.messages))))
    stored = iter(chain.rows_at([place for _, places in read for place in places]) if read else ())
    return {row.path: _teaser(row, Counter(_calls(next(stored).shape for _ in places)), len(places)) for row, places in read}


def _calls(shapes: Iterable[StoredShape]) -> Iterable[str]:
    return (call.name for shape in shapes for call in shape.calls)


def _teaser(row: WindowRow, calls: Counter[str], read: int) -> str:
    """`read`: how many of its messages the calls are from."""
    messages = count_text(row.messages, "message")
    most = [(name[:NAME_LENGTH] or "(no name)", number) for name, number in calls.most_common(NAMED)]
    if read < row.messages:
        return " · ".join([*([", ".join(name for name, _ in most) + " …"] if most else []), messages])
    more = [count_text(len(calls) - NAMED, "more tool")] if len(calls) > NAMED else []
    return " · ".join([*(f"{name} {number:,}" for name, number in most), *more, messages])
