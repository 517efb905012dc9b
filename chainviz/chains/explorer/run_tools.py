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
"""Messages of all runs in a window; the tools of runs beyond them are not named, so that a window costs the same everywhere."""
NAMED = 4
NAME_LENGTH = 24


def run_teasers(chain: StoredChain, rows: Iterable[WindowRow]) -> dict[Path, str]:
    """Returns such as `bash 31 · edit 12 · 96 messages` for each run, from one read."""
    runs: list[WindowRow] = []
    places: list[int] = []
    for row in rows:
        if row.kind == "run" and len(places) + row.messages <= MOST_READ:
            runs.append(row)
            places += range(row.start, row.start + row.messages)
    stored = iter(chain.rows_at(places) if places else ())
    return {row.path: _teaser(row, Counter(_calls(next(stored).shape for _ in range(row.messages)))) for row in runs}


def _calls(shapes: Iterable[StoredShape]) -> Iterable[str]:
    return (call.name for shape in shapes for call in shape.calls)


def _teaser(row: WindowRow, calls: Counter[str]) -> str:
    names = [f"{name[:NAME_LENGTH] or '(no name)'} {number:,}" for name, number in calls.most_common(NAMED)]
    more = [count_text(len(calls) - NAMED, "more tool")] if len(calls) > NAMED else []
    return " · ".join([*names, *more, count_text(row.messages, "message")])
