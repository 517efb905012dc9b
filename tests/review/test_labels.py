"""Labels on chains and nodes: set, taken away, filtered by, exported. Local mode has them too."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import AuditRow, local_owner
from chainviz.drafts.target import version_of
from chainviz.review.fsck import fsck_review
from chainviz.review.labels import LabelChoice, labels_of, set_label
from chainviz.review.models import Label, TeamRules, Thread
from chainviz.review.requests.services import give_verdict
from chainviz.review.threads.writing import NewThread, begin
from chainviz.store.content.chain import StoredChain
from tests.chains.making import STORY, human, make_chain
from tests.review.conftest import Room
from tests.review.test_places import TALK, apply
from tests.review.test_requests import save_version
from tests.review.test_sign_off import sign

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def label(client: Client, room: Room, kind: str, value: str, **more: Any) -> Any:
    return client.post(f"/c/{room.chain.pk}/labels/", {"kind": kind, "value": value, **more})


def test_a_commenter_labels_a_chain_and_a_node(room: Room) -> None:
    mei = room.client(room.mei)
    for kind, value in (("tag", "  to  check "), ("rating", "4"), ("outcome", "0")):
        assert label(mei, room, kind, value).status_code == 303
    assert label(mei, room, "tag", "=cmd", v=1, path="s1.p1").status_code == 303
    assert label(room.client(room.sam), room, "tag", "no").status_code == 403

    assert sorted(each.text for each in Label.objects.all()) == ["4 of 5", "=cmd", "fail", "to check"]
    page = room.client(room.sam).get(f"/c/{room.chain.pk}/labels/").content.decode()
    assert f'href="/c/{room.chain.pk}/v/1/at/s1.p1"' in page
    library = mei.get("/").content.decode()
    assert "to check" in library and "4 of 5" in library


@pytest.mark.parametrize(
    ("kind", "value"), [("tag", " "), ("tag", "x" * 41), ("rating", "6"), ("rating", ""), ("outcome", "2"), ("x", "1")]
)
def test_what_is_no_label_is_refused(room: Room, kind: str, value: str) -> None:
    assert label(room.client(room.mei), room, kind, value).status_code == 422
    assert not Label.objects.exists()


@pytest.mark.parametrize("path", ["s9", "nonsense", "s1.p99"])
def test_a_node_that_is_not_there(room: Room, path: str) -> None:
    assert label(room.client(room.mei), room, "tag", "x", v=1, path=path).status_code == 404


def test_a_person_has_one_rating_of_a_node(room: Room) -> None:
    for who, value in ((room.mei, "2"), (room.mei, "5"), (room.ivo, "1")):
        label(room.client(who), room, "rating", value)
    for who in (room.mei, room.ivo):
        label(room.client(who), room, "tag", "urgent")
    assert sorted(Label.objects.values_list("kind", "value")) == [("rating", 1), ("rating", 5), ("tag", None)]


def test_labels_of_nodes_follow_into_later_versions(client: Client) -> None:
    """Labels follow their nodes as threads do: moved, changed or removed. A person's rating of the same content stays one rating."""
    chain = make_chain(TALK)
    by = local_owner()
    for path in ("s1.p1", "s1.p2", "s2.p1"):
        set_label(chain, LabelChoice(1, path, "rating", "2"), by=by)
    apply(chain, "edit", path="s1.p1", action="delete")
    apply(chain, "edit", version=2, path="s2.p1.m0.c0", action="text", text="Two o'clock.")
    stored = StoredChain(version_of(chain, 3).snapshot)
    assert [(row.label.path, row.state, row.path) for row in labels_of(chain, stored)] == [
        ("s1.p2", "carried", "s1.p1"),
        ("s2.p1", "outdated", "s2.p1"),
        ("s1.p1", "removed", ""),
    ]
    set_label(chain, LabelChoice(3, "s1.p1", "rating", "5"), by=by)
    set_label(chain, LabelChoice(3, "s2.p1", "rating", "4"), by=by)
    assert sorted(Label.objects.values_list("path", "version", "value")) == [
        ("s1.p1", 1, 2), ("s1.p2", 1, 5), ("s2.p1", 1, 2), ("s2.p1", 3, 4),
    ]  # fmt: skip
    page = " ".join(client.get(f"/c/{chain.pk}/labels/").content.decode().split())
    for words in (f'/c/{chain.pk}/v/3/at/s1.p1"', "set on version 1", "outdated", "removed"):
        assert words in page
    panel = client.get(f"/c/{chain.pk}/v/3/review/panel/?at=s1.p1&only=node", headers={"HX-Request": "true"})
    assert "5 of 5" in panel.content.decode() and "2 of 5" not in panel.content.decode()
    assert list(fsck_review()) == []


def test_ones_own_label_can_be_removed_and_an_editor_removes_any(room: Room) -> None:
    def remove(who: Any, of: Label) -> int:
        return int(room.client(who).post(f"/c/{room.chain.pk}/labels/{of.pk}/remove/").status_code)

    of_ivo = set_label(room.chain, LabelChoice(1, "", "tag", "a"), by=room.ivo.user)
    of_mei = set_label(room.chain, LabelChoice(1, "", "tag", "b"), by=room.mei.user)
    assert [remove(room.mei, of_ivo), remove(room.ivo, of_mei), remove(room.ivo, of_ivo)] == [422, 303, 303]
    assert not Label.objects.exists()
    assert list(fsck_review()) == []


def test_the_library_filters_by_label(room: Room) -> None:
    other = make_chain([human("Another question"), *STORY[2:6]], "other.json")
    set_label(room.chain, LabelChoice(1, "s1.p1", "tag", "urgent"), by=room.mei.user)
    set_label(other, LabelChoice(1, "", "rating", "3"), by=room.mei.user)
    client = room.client(room.sam)

    def found(query: str) -> list[str]:
        page = client.get(f"/?label={query}").content.decode()
        return [chain.title for chain in (room.chain, other) if f'aria-label="Tick {chain.title}"' in page]

    assert found("tag:urgent") == [room.chain.title]
    assert found("rating:3") == [other.title]
    assert found("rating:x") == found("tag:nothing") == []
    assert found("") == [room.chain.title, other.title]
    assert '<option value="tag:urgent">urgent</option>' in client.get("/filters/fields/").content.decode()


def test_labels_and_comments_are_exported(room: Room) -> None:
    set_label(room.chain, LabelChoice(1, "s1.p1", "tag", "=1+1"), by=room.mei.user)
    begin(room.chain, room.mei.user, NewThread(1, Thread.Kind.NODE, "s1.p1"), "@cmd, why?")
    begin(room.chain, room.mei.user, NewThread(1, Thread.Kind.CHAIN), "only mine", is_pending=True)
    client = room.client(room.sam)

    def table(name: str) -> list[Any]:
        return list(csv.DictReader(io.StringIO(client.get(f"/labels/{name}.csv").getvalue().decode())))

    def lines(name: str) -> list[Any]:
        answer = client.get(f"/labels/{name}.jsonl?chain={room.chain.pk}")
        return [json.loads(line) for line in answer.getvalue().splitlines()]

    assert [(row["kind"], row["label"], row["now"]) for row in table("labels")] == [("tag", "'=1+1", "s1.p1")]
    assert [(row["thread"], row["text"]) for row in table("comments")] == [("1", "'@cmd, why?")]
    save_version(room, room.ivo, "Another drill.")
    assert [(row["label"], row["path"], row["place"], row["who"]) for row in lines("labels")] == [("=1+1", "s1.p1", "carried", "Mei")]
    assert [(row["text"], row["now"], row["place"], row["state"]) for row in lines("comments")] == [
        ("@cmd, why?", "s1.p1", "carried", "open")
    ]
    audited = AuditRow.objects.filter(outcome="done", act__in=("review:labels_export", "review:comments_export"))
    assert audited.count() == 4
    assert client.get("/labels/labels.exe").status_code == 404
    TeamRules.objects.create(team=room.team, locks_export=True)
    for name in ("labels", "comments"):
        assert client.get(f"/labels/{name}.jsonl").getvalue() == b"", "comments quote content, which is locked"
        assert client.get(f"/labels/{name}.jsonl?chain={room.chain.pk}").status_code == 403
    begin(room.chain, room.mei.user, NewThread(2, Thread.Kind.CHAIN), "Now it is fine.")
    give_verdict(room.chain, 2, "approve", "", by=room.mei.user)
    TeamRules.objects.update(no_open_threads=False)
    sign(room, version=2)
    assert [row["text"] for row in lines("comments")] == ["Now it is fine."], "the other was written on a locked version"


def test_local_mode_has_labels(client: Client) -> None:
    chain = make_chain(STORY)
    assert client.post(f"/c/{chain.pk}/labels/", {"kind": "tag", "value": "mine"}).status_code == 303
    assert "mine" in client.get("/").content.decode()
