"""Texts that people wrote about a chain are counted and purged too. An unchangeable sign-off does not stop a purge."""

from __future__ import annotations

import pytest

from chainviz.purge.jobs import start_look, start_purge
from chainviz.review.fsck import fsck_review
from chainviz.review.labels import LabelChoice, set_label
from chainviz.review.models import Comment, SignOff, Thread
from chainviz.review.requests.services import give_verdict
from chainviz.review.sign_off import sign_off_version
from chainviz.review.threads.writing import NewThread, begin
from tests.accounts.conftest import team_mode  # noqa: F401
from tests.review.conftest import Room, room  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


def test_a_value_that_only_comments_and_labels_hold_is_counted_and_purged(room: Room) -> None:  # noqa: F811
    begin(room.chain, room.ivo.user, NewThread(1, Thread.Kind.CHAIN, quote=f"say {KEY}"), f"The key is {KEY}")
    set_label(room.chain, LabelChoice(1, "", "tag", KEY), by=room.ivo.user)
    assert start_look(room.chain, KEY, "", by=room.lin.user).result["places"] == 3
    purged = start_purge(room.chain, KEY, "", (), by=room.lin.user)
    assert (purged.state, purged.result["places"], purged.result["again"]) == ("done", 3, 0)
    assert KEY not in Comment.objects.get().body
    assert not list(fsck_review())


def test_a_sign_off_that_spells_the_value_does_not_stop_a_purge(room: Room) -> None:  # noqa: F811
    give_verdict(room.chain, 1, "approve", f"Read, with {KEY}", by=room.lin.user)
    signed = sign_off_version(room.chain, 1, by=room.lin)
    assert "No open threads" in str(signed.record)
    purged = start_purge(room.chain, f"{KEY}\nNo open threads", "", (), by=room.lin.user)
    assert (purged.state, purged.result["places"]) == ("done", 1)
    assert SignOff.objects.get().record == signed.record
    assert not list(fsck_review())
