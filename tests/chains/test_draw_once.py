"""Windows and opened nodes that stay in memory show what a version has now, and what the person may see."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.permissions import Role
from chainviz.chains.explorer import row_views
from chainviz.chains.models import Chain
from chainviz.store.content.at_hand import forget
from chainviz.store.purge.values import purge_values
from tests.accounts.conftest import team_mode  # noqa: F401
from tests.accounts.people import client_of, make_member
from tests.chains.making import ai, human, make_chain, result
from tests.review.test_places import thread_on

pytestmark = pytest.mark.django_db
FRAGMENT = {"HX-Request": "true"}
PAGES = ("", "at/s1.p1", "rows?from=s1", "node/s1.p1")
VALUE = "hunter2-in-a-result"


@pytest.fixture
def chain() -> Chain:
    return make_chain([human("Log in."), ai("I will.", ("c1", "login", {})), result("c1", VALUE), ai("Done.")])


def body(client: Client, chain: Chain, page: str) -> str:
    headers = {} if page in PAGES[:2] else FRAGMENT
    return str(client.get(f"/c/{chain.pk}/v/1/{page}", headers=headers).content.decode())


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_drawn_once_and_the_same_again(client: Client, chain: Chain, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = body(client, chain, page)
    monkeypatch.setattr("chainviz.chains.explorer.rendered_window.body_html", lambda *args: pytest.fail("drawn again"))
    assert without_token(body(client, chain, page)) == without_token(first)


def without_token(page: str) -> str:
    before, found, after = page.partition('{"X-CSRFToken": "')
    return before + after.partition('"')[2] if found else page


@pytest.mark.parametrize("page", PAGES)
def test_a_new_thread_shows_at_once(client: Client, chain: Chain, page: str) -> None:
    assert "thread-1" not in body(client, chain, page)
    thread_on(chain, "s1.p1")
    assert "thread" in body(client, chain, page).replace("thread-step", "") and "Look here" in body(client, chain, "node/s1.p1")


def test_a_purged_value_is_gone_at_once(client: Client, chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    assert VALUE in body(client, chain, "at/s1.p1") and VALUE in body(client, chain, "node/s1.p1")
    monkeypatch.setattr("chainviz.store.purge.values.forget", lambda: None)  # another process does it
    purge_values([chain.history], [VALUE], reason="leaked")
    assert not any(VALUE in body(client, chain, page) for page in PAGES)


def test_forget_leaves_no_drawing(client: Client, chain: Chain) -> None:
    body(client, chain, "node/s1.p1")
    assert row_views._DRAWINGS._held
    forget()
    assert not row_views._DRAWINGS._held


def test_a_viewer_gets_no_links_of_an_editor(team_mode: Any) -> None:  # noqa: F811
    editor, viewer = (client_of(make_member(team_mode, name, role)) for name, role in (("Ed", Role.EDITOR), ("Vi", Role.VIEWER)))
    broken = make_chain([human("Log in."), ai("I will.", ("c1", "login", {})), human("And?"), ai("Yes.")])
    assert "/do/repair" in body(editor, broken, "at/s1.p1")
    assert "/do/repair" not in body(viewer, broken, "at/s1.p1")
