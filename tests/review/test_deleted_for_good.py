"""Deleting a chain for good reaches what people said about it: nothing in any table spells it any more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db.models import Model

from chainviz.chains.models import Chain
from chainviz.review.fsck import fsck_review
from chainviz.review.labels import LabelChoice, set_label
from chainviz.review.models import Mute, SignOff, TeamRules, Thread
from chainviz.review.requests.services import ask, dismiss, give_verdict
from chainviz.review.sign_off import sign_off_version
from chainviz.review.threads.writing import NewThread, begin
from tests.purge.canaries import stored
from tests.review.conftest import Room

pytestmark = [pytest.mark.django_db, pytest.mark.database]
KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
OF_TEAM_OR_PERSON = {"TeamRules", "MailChoice"}


def tables() -> Iterator[type[Model]]:
    """Return the tables of the review that are about a chain. A sign-off outlives the chain and contains none of its text."""
    return (
        model for model in apps.get_app_config("review").get_models() if model is not SignOff and model.__name__ not in OF_TEAM_OR_PERSON
    )


def written_about(room: Room) -> Chain:
    """The chain with a row in every table of the review, each text of which spells KEY."""
    ivo, mei, chain = room.ivo.user, room.mei.user, room.chain
    room.client(room.ivo).post(f"/c/{chain.pk}/rename/", {"title": f"Why {KEY} failed"})
    chain.refresh_from_db()
    begin(chain, ivo, NewThread(1, Thread.Kind.NODE, "s1.p1", quote=f"say {KEY}"), f"@Mei {KEY}")
    begin(chain, ivo, NewThread(1, Thread.Kind.CHAIN), f"Not sent: {KEY}", is_pending=True)
    set_label(chain, LabelChoice(1, "s1.p1", "tag", KEY), by=ivo)
    ask(chain, [mei.pk], f"Is {KEY} valid?", by=ivo)
    dismiss(give_verdict(chain, 1, "changes", f"{KEY} is in it", by=mei), f"{KEY} is a test", by=ivo)
    give_verdict(chain, 1, "approve", KEY, by=room.lin.user)
    TeamRules.objects.create(team=chain.team, approvals=0, no_open_threads=False)
    sign_off_version(chain, 1, by=room.lin)
    Mute.objects.create(chain=chain, person=mei)
    reader = room.client(room.mei)
    for page in ("review/", "threads/", "labels/", "versions/", "presence/"):
        reader.get(f"/c/{chain.pk}/{page}")
    reader.post(f"/c/{chain.pk}/v/1/section/1/viewed/", {"viewed": "1"})
    return chain


def test_deleting_a_chain_for_good_deletes_what_was_said_about_it(room: Room) -> None:
    chain, lin = written_about(room), room.client(room.lin)
    assert [model.__name__ for model in tables() if not model._default_manager.exists()] == []
    assert KEY.encode() in stored()

    lin.post("/bin/add/", {"chain": chain.pk})
    assert lin.post(f"/bin/{chain.pk}/delete/", {"title": chain.title}).status_code == 303

    assert [model.__name__ for model in tables() if model._default_manager.exists()] == []
    assert KEY.encode() not in stored()
    assert SignOff.objects.exists()
    assert list(fsck_review()) == []
