"""A window is a cut of the flat list of rows, from any path, in any direction, under any folds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import parse
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import pieces_of, read_rows
from chainviz.store.outline import blocks
from chainviz.store.query import windows
from chainviz.store.query.windows import Folds, window
from tests.examples import examples
from tests.store.test_import import stored
from tests.store.test_outline import MESSAGES

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stub_format")]


def flat(chain: StoredChain, folds: Folds) -> list[tuple[Path, int, int, int]]:
    """All rows, from the parsed chain: path, first message, messages, size."""
    rows = []
    place = 0
    for s, section in enumerate(parse(chain.shapes()).sections, 1):
        rows.append((Path(s), place, len(section), section.size))
        own = []
        for i, message in enumerate(section.header):
            own.append((Path(s, 0, i), place, 1, message.size))
            place += 1
        for p, pair in enumerate(section.body, 1):
            own.append((Path(s, p), place, len(pair.messages), pair.size))
            place += len(pair.messages)
        inside = {Path(s, p) for p in range(1, len(section.body))}
        if folds.runs_folded and len(section.body) >= windows.FEWEST and not inside & folds.shown:
            headers = len(section.header)
            run = own[headers:-1]
            own[headers:-1] = [(run[0][0], run[0][1], sum(row[2] for row in run), sum(row[3] for row in run))]
        rows += own if folds.is_open(s) else []
    return rows


@examples(120, suppress_health_check=list(HealthCheck))
@given(st.data(), st.lists(MESSAGES, min_size=1, max_size=70), st.booleans(), st.sets(st.integers(1, 12)))
def test_window_is_a_cut_of_all_rows(data: Any, values: list[Any], is_open: bool, exceptions: set[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", 8)
        chain = StoredChain(stored(values).snapshot)
        shown = data.draw(st.frozensets(st.builds(Path, st.integers(1, 4), st.integers(1, 6)), max_size=2))
        check(data, chain, Folds(is_open, frozenset(exceptions), data.draw(st.booleans()), shown))


def check(data: Any, chain: StoredChain, folds: Folds) -> None:
    rows = flat(chain, folds)
    at = data.draw(st.integers(0, len(rows) - 1))
    count = data.draw(st.integers(1, 20))
    down = window(chain, rows[at][0], "down", count, folds)
    assert [(r.path, r.start, r.messages, r.size) for r in down.rows] == rows[at : at + count]
    assert down.down == (rows[at + count][0] if at + count < len(rows) else None)
    up = window(chain, rows[at][0], "up", count, folds)
    assert [(r.path, r.start, r.messages, r.size) for r in up.rows] == rows[max(0, at - count) : at]
    assert up.up == (rows[at - count][0] if at > count else None)
    kept = [message.shape for message in read_rows(pieces_of(chain.snapshot))]
    for row in (*down.rows, *up.rows):
        shapes = kept[row.start : row.start + len(row.shapes)]
        assert row.shapes == tuple(shapes)
