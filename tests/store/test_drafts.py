"""Drafts and versions: undo and redo, compare-and-swap, restore, branches, byte-exact exports of each state."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest
from django.db import connection

from chainviz.core.chain.chain import MemoryChain, Splice, apply_splices
from chainviz.core.chain.messages import Message, Text
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.spans import stored_bytes
from chainviz.store.errors import Conflict, Overlap
from chainviz.store.history.drafts import (
    add_step,
    current,
    head_of,
    redo,
    restore,
    save,
    saved_as_branch,
    start_draft,
    steps,
    steps_of,
    undo,
)
from chainviz.store.history.rebase import rebase
from chainviz.store.history.steps import NewStep
from chainviz.store.models import Draft, Snapshot, Version
from chainviz.store.outline.blocks import to_bytes
from chainviz.store.outline.build import compute
from chainviz.store.transfer.exports import export
from tests.store.stub import document
from tests.store.test_import import TALK, stored

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database, pytest.mark.usefixtures("stub_format")]


def content(snapshot: Snapshot) -> tuple[Message, ...]:
    return tuple(StoredChain(snapshot).slice(0, snapshot.messages))


def put(draft: Draft, *changes: Splice) -> Snapshot:
    return add_step(draft, NewStep(changes, "edit", {"x": 1}, report=[{"path": "s1"}]))


def said(text: str, role: str = "human") -> Message:
    return Message(role, (Text(text),))


def test_steps_undo_redo_and_save() -> None:
    version = stored(TALK)
    draft = start_draft(version, author="me")
    first = content(current(draft))
    put(draft, Splice(1, 1, (said("list all files"),)))
    put(draft, Splice(7, 0, (said("bye"),)))
    third = content(current(draft))
    assert third == apply_splices(first, [Splice(1, 1, (said("list all files"),)), Splice(7, 0, (said("bye"),))])
    assert undo(draft) and undo(draft) and not undo(draft)
    assert content(current(draft)) == first
    assert redo(draft) and redo(draft) and not redo(draft)
    assert content(current(draft)) == third
    undo(draft)
    put(draft, Splice(0, 1))
    assert len(steps(draft)) == 2 and not redo(draft)
    saved = save(draft, author="me", note="shorter")
    assert saved.number == 2 and head_of(saved.history) == saved
    assert [step.operation for step in steps_of(saved)] == ["edit", "edit"]
    assert b"".join(export(version.snapshot)) == document(TALK)
    again = restore(version, author="me", expected=saved)
    assert (again.number, content(again.snapshot)) == (3, first)
    assert list(steps_of(again)) == []


def test_one_edit_changes_one_message_of_the_export() -> None:
    version = stored(TALK)
    draft = start_draft(version, author="me")
    put(draft, Splice(5, 1, (said("thank you"),)))
    lines = b"".join(export(current(draft))).split(b",\n")
    before = document(TALK).split(b",\n")
    assert [i for i, (a, b) in enumerate(zip(before, lines, strict=True)) if a != b] == [5]


def test_the_slower_of_two_is_told_and_loses_nothing() -> None:
    version = stored(TALK)
    mine, yours = start_draft(version, author="me"), start_draft(version, author="you")
    put(mine, Splice(0, 1))
    put(yours, Splice(5, 1, (said("no thanks"),)))
    head = save(yours, author="you")
    with pytest.raises(Conflict) as caught:
        save(mine, author="me")
    assert (caught.value.base, caught.value.head) == (version, head)
    assert Version.objects.count() == 2
    with saved_as_branch(mine, author="me") as branch:
        assert branch.history != version.history and branch.number == 1
    assert content(branch.snapshot) == content(current(mine))


def test_fifty_drafts_walk_like_tuples() -> None:
    version = stored(TALK)
    chance = random.Random(5)
    for _ in range(50):
        draft = start_draft(version, author="me")
        states = [content(version.snapshot)]
        cursor = 0
        for _ in range(8):
            move = chance.choice(["put", "put", "undo", "redo"])
            if move == "undo" and undo(draft):
                cursor -= 1
            elif move == "redo" and redo(draft):
                cursor += 1
            elif move == "put":
                here = states[cursor]
                start = chance.randint(0, len(here))
                change = Splice(start, chance.randint(0, len(here) - start), (said(str(chance.random())),))
                put(draft, change)
                states[cursor + 1 :] = [apply_splices(here, [change])]
                cursor += 1
            assert content(current(draft)) == states[cursor]
            chain = StoredChain(current(draft))
            memory = MemoryChain(states[cursor])
            assert [str(p) for p, _ in chain.tree.pairs()] == [str(p) for p, _ in memory.tree.pairs()]
            assert chain.outline.listing.total.size == memory.tree.size


def test_of_many_at_once_exactly_one_saves() -> None:
    version = stored(TALK)
    drafts = [start_draft(version, author=str(i)) for i in range(8)]
    for i, draft in enumerate(drafts):
        put(draft, Splice(0, 0, (said(str(i)),)))
    outcomes: list[Any] = []

    def attempt(draft: Draft) -> None:
        try:
            outcomes.append(save(draft, author="x"))
        except Exception as error:
            outcomes.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=attempt, args=[draft]) for draft in drafts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict"] * 7 + ["Version"]
    assert Version.objects.filter(history=version.history).count() == 2


def test_changes_to_different_pairs_merge_by_themselves() -> None:
    version = stored(TALK)
    mine, yours = start_draft(version, author="me"), start_draft(version, author="you")
    put(mine, Splice(4, 1, (said("two of them", "ai"),)))
    put(mine, Splice(7, 0, (said("bye"),)))
    put(yours, Splice(0, 1))
    put(yours, Splice(4, 1, (said("no thanks"),)))
    head = save(yours, author="you")
    with pytest.raises(Conflict):
        save(mine, author="me")
    mine = rebase(mine, head)
    saved = save(mine, author="me")
    base = content(version.snapshot)
    assert content(saved.snapshot) == (
        *base[1:4], said("two of them", "ai"), said("no thanks"), base[6], said("bye"),
    )  # fmt: skip
    assert [step.operation for step in steps_of(saved)] == ["edit", "edit"]
    assert (saved.snapshot.stored, saved.snapshot.digest) == _anew(saved.snapshot)


def test_changes_to_the_same_pair_are_named() -> None:
    version = stored(TALK)
    mine, yours = start_draft(version, author="me"), start_draft(version, author="you")
    put(mine, Splice(2, 1, (said("I cannot", "ai"),)))
    put(yours, Splice(2, 1, (said("I can", "ai"),)))
    head = save(yours, author="you")
    with pytest.raises(Overlap) as caught:
        rebase(mine, head)
    assert [str(path) for path in caught.value.paths] == ["s1.p1"]
    assert Draft.objects.get(pk=mine.pk).base == version


def _anew(snapshot: Snapshot) -> tuple[int, bytes]:
    listing, _ = compute(snapshot)
    rows = StoredChain(snapshot).rows(0, snapshot.messages)
    return sum(stored_bytes(row.source) for row in rows), to_bytes(listing.hash)
