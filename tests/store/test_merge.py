"""A draft on a newer version: what both changed is chosen node by node, and the way back stays open."""

from __future__ import annotations

import random

import pytest

from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import Message
from chainviz.core.diff.merge.three_way import Choice
from chainviz.store.content.message_reader import read_placed
from chainviz.store.content.pieces import Piece
from chainviz.store.errors import Overlap
from chainviz.store.fsck import fsck
from chainviz.store.history.drafts import current, save, start_draft, steps, undo
from chainviz.store.history.merge import Conflict
from chainviz.store.history.rebase import MERGE, merge_of, rebase
from chainviz.store.models import Draft, Snapshot, Version
from tests.store.test_drafts import _anew, content, put, said
from tests.store.test_import import TALK, stored

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("stub_format")]

MINE, THEIRS = said("mine"), said("theirs")


def two(mine: list[list[Splice]], theirs: list[list[Splice]]) -> tuple[Draft, Version, tuple[Message, ...]]:
    """A draft with these steps behind a version with those, and what both began with."""
    version = stored(TALK)
    draft, other = start_draft(version, author="me"), start_draft(version, author="you")
    for own, made in ((draft, mine), (other, theirs)):
        for step in made:
            put(own, *step)
    return draft, save(other, author="you"), content(version.snapshot)


def messages_in(pieces: list[Piece]) -> tuple[Message, ...]:
    return tuple(each.message for each in read_placed(pieces))


def conflicts(draft: Draft, head: Version) -> tuple[Conflict, ...]:
    return merge_of(Draft.objects.get(pk=draft.pk), head).conflicts


def rebased(draft: Draft, head: Version, *choices: Choice) -> Snapshot:
    found = conflicts(draft, head)
    made = rebase(draft, head, {each.key: choice for each, choice in zip(found, choices, strict=True)})
    assert (current(made).stored, current(made).digest) == _anew(current(made))
    return current(made)


@pytest.mark.parametrize(("choice", "expected"), [("mine", [MINE]), ("theirs", [THEIRS]), ("both", [MINE, THEIRS])])
def test_one_message_changed_by_both(choice: Choice, expected: list[Message]) -> None:
    draft, head, base = two([[Splice(5, 1, (MINE,))], [Splice(0, 1, (said("rules", "system"),))]], [[Splice(5, 1, (THEIRS,))]])
    [found] = conflicts(draft, head)
    assert (str(found.path), found.spans, found.choices) == ("s2.h.m0", ((5, 6),), ("mine", "theirs", "both"))
    result = rebased(draft, head, choice)
    assert content(result) == (said("rules", "system"), *base[1:5], *expected, *base[6:])


def test_what_was_typed_comes_back_by_undoing_the_merge() -> None:
    draft, head, _ = two([[Splice(5, 1, (MINE,))]], [[Splice(5, 1, (THEIRS,))]])
    assert content(rebased(draft, head, "theirs")) == content(head.snapshot)
    draft.refresh_from_db()
    assert [step.snapshot.operation for step in steps(draft)] == ["edit", MERGE]
    undo(draft)
    assert content(current(draft))[5] == MINE


def test_mine_everywhere_needs_no_step_of_its_own() -> None:
    draft, head, _ = two([[Splice(5, 1, (MINE,))]], [[Splice(5, 1, (THEIRS,)), Splice(7, 0, (said("bye"),))]])
    result = rebased(draft, head, "mine")
    assert not list(fsck())
    assert content(result)[5:] == (MINE, content(head.snapshot)[6], said("bye"))
    assert [step.snapshot.operation for step in steps(Draft.objects.get(pk=draft.pk))] == ["edit"]


def test_a_conflict_without_a_choice_is_refused_and_changes_nothing() -> None:
    draft, head, _ = two([[Splice(5, 1, (MINE,))]], [[Splice(5, 1, (THEIRS,))]])
    key = conflicts(draft, head)[0].key
    for choices in ({}, {key: "neither"}, {"another": "mine"}):
        with pytest.raises(Overlap):
            rebase(draft, head, choices)  # type: ignore[arg-type]
    draft.refresh_from_db()
    assert draft.base.number == 1 and content(current(draft))[5] == MINE


def test_the_same_conflict_keeps_its_name_when_another_version_comes() -> None:
    draft, head, _ = two([[Splice(5, 1, (MINE,))]], [[Splice(5, 1, (THEIRS,))]])
    third = start_draft(head, author="you")
    put(third, Splice(0, 1))
    before, later = conflicts(draft, head), conflicts(draft, save(third, author="you"))
    assert [each.key for each in before] == [each.key for each in later]


def test_both_added_messages_at_the_end() -> None:
    draft, head, base = two([[Splice(7, 0, (MINE,))]], [[Splice(7, 0, (THEIRS,))]])
    [found] = conflicts(draft, head)
    assert (str(found.path), found.spans) == ("s2.p1", ((7, 7),))
    assert content(rebased(draft, head, "both")) == (*base, MINE, THEIRS)


def test_a_moved_message_that_the_other_edited() -> None:
    move = [Splice(1, 0, (said("thanks"),)), Splice(5, 1)]
    draft, head, base = two([move], [[Splice(5, 1, (THEIRS,))]])
    [found] = conflicts(draft, head)
    assert (str(found.path), found.spans) == ("s2.h.m0", ((1, 1), (5, 6)))
    assert content(rebased(draft, head, "both")) == (base[0], THEIRS, *base[1:5], base[6])


def test_random_changes_of_both_sides() -> None:
    """Mine everywhere is my draft, and theirs everywhere the newer version, wherever nothing lies outside of conflicts."""
    chance = random.Random(12)
    for _ in range(8):
        version = stored(TALK)
        draft, other = start_draft(version, author="me"), start_draft(version, author="you")
        for own in (draft, other):
            for _ in range(chance.randint(1, 3)):
                length = current(own).messages
                start = chance.randint(0, length)
                put(own, Splice(start, chance.randint(0, min(2, length - start)), (said(str(chance.random())),)))
        mine, head = content(current(draft)), save(other, author="you")
        merge = merge_of(Draft.objects.get(pk=draft.pk), head)
        keys = [each.key for each in merge.conflicts]
        disputed = {i for each in merge._merge.conflicts for i in each.places}
        alone = [each for i, each in enumerate(merge._merge.regions) if i not in disputed]
        for choice, whole, others in (("mine", mine, "theirs"), ("theirs", content(head.snapshot), "mine")):
            pieces = merge.pieces(dict.fromkeys(keys, choice))  # type: ignore[arg-type]
            made = messages_in(pieces)
            if not any(getattr(each, others) for each in alone):
                assert made == whole
        assert content(rebased(draft, head, *["mine"] * len(keys))) == messages_in(merge.pieces(dict.fromkeys(keys, "mine")))
