"""Versions take few bytes, and the work for one does not grow with the chain."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.db.models import Sum
from django.db.models.functions import Length
from django.test.utils import CaptureQueriesContext

from chainviz.core.chain.chain import Splice
from chainviz.store.content.at_hand import forget
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import pieces_of
from chainviz.store.history.drafts import add_step, save, start_draft
from chainviz.store.history.steps import NewStep
from chainviz.store.models import Body, Message, OutlineBlock, Run, Snapshot, Version
from chainviz.store.query.windows import ALL_CLOSED, Folds, window
from tests.store.test_drafts import said
from tests.store.test_import import stored

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("stub_format")]


def talk(pairs: int, sections: int = 1) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for s in range(sections):
        found.append({"role": "human", "text": f"question {s}"})
        for p in range(pairs // sections):
            found.append({"role": "ai", "calls": [[f"c{s}-{p}", "look"]]})
            found.append({"role": "tool", "results": [[f"c{s}-{p}", f"result {p} " + "word " * 10]]})
    return found


def row_bytes() -> int:
    """Estimate the bytes that versions store permanently: all columns of all tables except the outlines, plus 10 for a row and 5 for a
    number."""
    total = 0
    for model, columns, numbers in (
        (Message, ("digest", "skeleton", "preview", "source"), 3),
        (Body, ("content",), 2),
        (Snapshot, ("pieces", "format", "digest", "operation", "options", "report", "created"), 10),
        (Run, ("kind", "format"), 3),
        (Version, ("note", "author", "created"), 5),
    ):
        rows = model._default_manager.all()
        for column in columns:
            total += rows.aggregate(n=Sum(Length(column)))["n"] or 0 if column != "created" else 26 * rows.count()
        total += rows.count() * (10 + 5 * numbers)
    return total


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="counts bytes as SQLite stores them")
def test_a_version_costs_little_more_than_what_changed() -> None:
    version = stored(talk(200))
    before = row_bytes()
    words = 300
    changed = 0
    count = 110
    for i in range(count):
        draft = start_draft(version, author="me")
        new = [said(f"{i}.{part} " + "".join(chr(97 + (i * 7 + k * k) % 26) for k in range(words))) for part in range(3)]
        length = version.snapshot.messages
        add_step(draft, NewStep([Splice(i * 5 + 1, 1, (new[0],)), Splice(length, 0, tuple(new[1:]))], "edit"))
        changed += sum(len(message.parts[0].text) for message in new)  # type: ignore[union-attr]
        version = save(draft, author="me")
    each = (row_bytes() - before) / count
    assert each <= 1.5 * changed / count + 500
    forget()
    assert sum(piece.length for piece in pieces_of(version.snapshot)) == version.snapshot.messages


@pytest.mark.parametrize("sections", [1, 40])
def test_work_does_not_grow_with_the_chain(sections: int) -> None:
    found = []
    for pairs in (600, 2400):
        version = stored(talk(pairs, sections))
        snapshot = version.snapshot
        blocks = OutlineBlock.objects.filter(history=version.history).count()
        middle = StoredChain(snapshot).outline.path_at(pairs).node
        closed = Folds(open=False, exceptions=frozenset({middle.section}))
        for folds in (Folds(), ALL_CLOSED, closed):
            for direction in ("down", "up"):
                with CaptureQueriesContext(connection) as queries:
                    chain = StoredChain(snapshot)
                    window(chain, middle, direction, 60, folds)  # type: ignore[arg-type]
                assert len(queries) <= 8
                assert len(chain.outline.blocks.rows) <= 3 and len(chain.outline.blocks.sections) <= 2
        draft = start_draft(version, author="me")
        with CaptureQueriesContext(connection) as queries:
            add_step(draft, NewStep([Splice(pairs, 1, (said("x"),))], "edit"))
        written = OutlineBlock.objects.filter(history=version.history).count() - blocks
        found.append((len(queries), written))
    assert found[1][0] <= found[0][0] + 7
    assert all(written <= 5 for _, written in found)
