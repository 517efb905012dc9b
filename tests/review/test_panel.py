"""The review beside the chain: the panel, its marks, and the way from one open thread to the next."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import local_owner
from chainviz.core.operations.edit import Edit
from chainviz.core.operations.edit.locate import EditOptions
from chainviz.drafts.operations.run import change
from chainviz.drafts.target import target_of_version
from chainviz.review.models import Thread
from chainviz.review.requests.services import ask
from chainviz.review.threads.writing import NewThread, begin, set_resolved
from tests.chains.making import STORY, make_chain
from tests.review.conftest import Room

pytestmark = pytest.mark.django_db
FRAGMENT = {"HX-Request": "true"}


def panel(client: Client, chain: Any, query: str = "") -> str:
    answer = client.get(f"/c/{chain.pk}/v/1/review/panel/{query}", headers=FRAGMENT)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def thread(chain: Any, author: Any, path: str, **kwargs: Any) -> Thread:
    kind = Thread.Kind.NODE if path else Thread.Kind.CHAIN
    return begin(chain, author, NewThread(1, kind, path), f"About {path or 'all'}", **kwargs).thread


def test_the_panel_says_how_the_review_stands(room: Room) -> None:
    ask(room.chain, [room.mei.user_id], "For the vendor", by=room.ivo.user)
    thread(room.chain, room.lin.user, "s1.p2")
    thread(room.chain, room.lin.user, "s2.p1")
    set_resolved(thread(room.chain, room.lin.user, "s1.p2"), room.lin.user, True)
    thread(room.chain, room.lin.user, "", is_pending=True)
    mei = room.client(room.mei)
    shown = panel(mei, room.chain, "?at=s1.p2")
    for words in ("For the vendor", "Requested by Ivo", "waiting", "0 of 3 sections viewed", "2 open threads", "Mark §1 viewed"):
        assert words in shown, words
    assert "About all" not in shown, "pending comments are their author's"
    node, others = shown.split("Open threads")
    assert node.count('data-go="s1.p2"') == 2 and others.count("data-go") == 2
    form = {"viewed": "1", "at": "s1.p2"}
    marked = mei.post(f"/c/{room.chain.pk}/v/1/section/1/viewed/", form, headers=FRAGMENT).content.decode()
    assert 'data-viewed="1"' in marked and "1 of 3 sections viewed" in marked
    assert "§1 viewed" in panel(mei, room.chain, "?at=s1.p1&only=node")
    assert "Mark §1 viewed" in panel(room.client(room.lin), room.chain, "?at=s1.p1"), "of each person alone"
    assert 'name="kind"' not in panel(room.client(room.sam), room.chain), "a viewer gives no verdict"
    assert mei.get(f"/c/{room.chain.pk}/v/1/review/panel/")["Location"] == room.page


def test_one_person_has_threads_beside_the_chain(client: Client) -> None:
    chain = make_chain(STORY)
    thread(chain, local_owner(), "s1.p2")
    shown = panel(client, chain, "?at=s1.p2")
    assert shown.count("About s1.p2") == 2 and "viewed" not in shown.replace("data-viewed", "")
    assert client.get(f"/c/{chain.pk}/v/1/review/panel/?at=s9", headers=FRAGMENT).status_code == 404
    assert client.get(f"/c/{chain.pk}/v/1/review/panel/?at=x", headers=FRAGMENT).status_code == 404


def test_open_threads_are_walked_through_the_whole_chain(client: Client) -> None:
    """Threads without a place in the version, and resolved threads, are skipped."""
    chain, owner = make_chain(STORY), local_owner()
    for path in ("s2.p1", "s1.p2", "", "s1.p2"):
        thread(chain, owner, path)
    set_resolved(thread(chain, owner, "s1.h.m0"), owner, True)

    def step(query: str) -> tuple[str, str]:
        shown = client.get(f"/c/{chain.pk}/v/1/threads/step/?{query}", headers=FRAGMENT).content.decode()
        return re.findall(r'data-path="(.*?)" data-number="(.*?)"', shown)[0]

    assert step("") == ("s1.p2", "2")
    assert step("from=s1.p2") == ("s1.p2", "2")
    assert step("from=s1.p2&thread=2") == ("s1.p2", "4")
    assert step("from=s1.p2&thread=4") == ("s2.p1", "1")
    assert step("from=s2.p1&thread=1") == ("s1.p2", "2"), "round"
    assert step("from=s2.p1&dir=previous") == ("s1.p2", "4")
    assert step("from=s1.p2&thread=2&dir=previous") == ("s2.p1", "1"), "round"
    assert client.get(f"/c/{chain.pk}/v/1/threads/step/")["Location"] == f"/c/{chain.pk}/v/1/at/s1.p2#thread-2"
    Thread.objects.all().delete()
    assert client.get(f"/c/{chain.pk}/v/1/threads/step/", headers=FRAGMENT).content.strip() == b""


def test_the_panel_of_many_threads_costs_as_many_statements(room: Room, django_assert_max_num_queries: Any) -> None:
    client = room.client(room.mei)
    panel(client, room.chain)
    for _ in range(30):
        thread(room.chain, room.lin.user, "s1.p2")
    shown = panel(client, room.chain)
    assert shown.count("About s1.p2") == 20 and "30 open threads" in shown
    with django_assert_max_num_queries(27):
        panel(client, room.chain, "?at=s1.p2")


def test_a_draft_has_no_panel(client: Client) -> None:
    chain = make_chain(STORY)
    thread(chain, local_owner(), "s1.p2")
    options = EditOptions(path="s1.p1.m0.c0", action="text", text="I look.")
    draft = change(target_of_version(chain, 1, local_owner()), Edit(), options)
    shown = client.get(f"/c/{chain.pk}/d/{draft.pk}/explore/at/s1.p2").content.decode()
    assert "data-review-panel" not in shown and 'id="thread-1"' in shown
