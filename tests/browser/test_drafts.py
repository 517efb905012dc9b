"""Changing a chain in the browser: nothing typed is lost, keys work, pages are accessible and fit, also without scripts."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import expect

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from tests.browser.test_page import PHONE, axe_violations, axe_violations_in_both_themes, faults_at_both_widths
from tests.chains.files import send
from tests.drafts.conftest import BROKEN
from tests.drafts.pages import send_form
from tests.drafts.test_draft import last_texts

pytestmark = pytest.mark.django_db(transaction=True)
LONG = "\n".join(f"line {number}: <b>{number * 7 % 13}</b>" for number in range(4000))


@pytest.fixture
def chain(live_server: Any) -> Chain:
    send(Client(), ("broken.json", json.dumps(BROKEN).encode()))
    return Chain.objects.get()


@pytest.fixture
def at(live_server: Any, chain: Chain) -> Any:
    return lambda path: f"{live_server.url}/c/{chain.pk}/{path}"


def begin(page: Any, at: Any, text: str = "It is the calendar.") -> None:
    page.goto(at("edit/s1.p2?v=1"))
    page.get_by_role("textbox", name="Text", exact=True).first.fill(text)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(r"/d/\d+/$"))


def test_pages_are_accessible_and_fit(page: Any, at: Any) -> None:
    begin(page, at)
    for address in (page.url, at("repair/?v=1"), page.url + "explore/", at("edit/s1.p1?v=1"), at("diff/1..1/"), at("do/convert/")):
        page.goto(address)
        assert faults_at_both_widths(page) == [], address


def test_typed_text_survives_a_reload_and_goes_when_it_is_applied(page: Any, at: Any) -> None:
    page.goto(at("edit/s1.p2?v=1"))
    field = page.get_by_role("textbox", name="Text", exact=True).first
    field.fill("Not lost")
    page.reload()
    expect(field).to_have_value("Not lost")
    expect(page.get_by_text("Your unsaved text was restored.")).to_be_visible()
    field.press("Control+Enter")
    page.wait_for_url(re.compile(r"/d/\d+/$"))
    page.goto(at("edit/s1.p2?v=1"))
    expect(page.get_by_role("textbox", name="Text", exact=True).first).to_have_value("Not lost")
    expect(page.get_by_text("Your unsaved text was restored.")).to_be_hidden()


def test_typed_text_can_be_forgotten(page: Any, at: Any) -> None:
    page.goto(at("edit/s1.p2?v=1"))
    field = page.get_by_role("textbox", name="Text", exact=True).first
    field.fill("Forget me")
    page.reload()
    page.get_by_role("button", name="Start from the saved text").click()
    expect(field).to_have_value("It is the clock.")
    page.reload()
    expect(field).to_have_value("It is the clock.")


def test_json_is_checked_while_typing(page: Any, at: Any) -> None:
    page.goto(at("edit/s1.p1?v=1"))
    verdict = page.locator("#s1-p1-m0-c1-json")
    expect(verdict).to_have_text("Valid JSON")
    page.locator("#s1-p1-m0-c1-text").fill('{"path": \n x}')
    expect(verdict).to_contain_text("line 2, column 2")


def test_keys_of_a_draft(page: Any, at: Any) -> None:
    begin(page, at)
    diff = page.locator(".diff")
    page.keyboard.press("u")
    expect(diff).to_have_attribute("data-layout", "unified")
    page.reload()
    expect(diff).to_have_attribute("data-layout", "unified")
    page.keyboard.press("u")
    page.keyboard.press("]")
    expect(page.locator("#change-1")).to_be_focused()
    for key, undone in (("z", 1), ("Shift+Z", 0)):
        with page.expect_navigation():  # the page while it loads has no step at all, and no keys yet
            page.keyboard.press(key)
        expect(page.locator(".step[data-undone]")).to_have_count(undone)
    page.keyboard.press("s")
    expect(page.get_by_role("button", name="Save as version 2")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/v/2/$"))


def test_a_run_unfolds_without_leaving_the_page(page: Any, at: Any) -> None:
    begin(page, at)
    page.evaluate("window.same = true")
    page.get_by_text("… 1 unchanged pair").first.click()
    expect(page.get_by_text("Human Why is it red?")).to_be_visible()
    assert page.evaluate("window.same")


def test_both_people_keep_their_work(page: Any, at: Any, faults: list[str]) -> None:
    begin(page, at)
    page.get_by_role("button", name="Save as version 2").click()
    page.wait_for_url(re.compile(r"/v/2/$"))
    begin(page, at, "It is the cat.")
    page.get_by_label("Note for the history").fill("cats")
    page.get_by_role("button", name="Save as version").click()
    expect(page.get_by_role("heading", name="Version 2 is newer than version 1")).to_be_visible()
    faults.clear()  # the browser reports every 409
    assert axe_violations(page) == []
    page.get_by_label("Name of the branch").fill("Cats")
    page.get_by_role("button", name="Save as a branch").click()
    expect(page.get_by_text("Cats").first).to_be_visible()


def choose_next(page: Any, side: str) -> None:
    """Tabs to the next choice without a side and chooses one with the arrow keys.

    Every key waits for a painted frame: Chromium moves between radio buttons only when their style is up to date.
    """
    is_open = "document.activeElement.matches('.conflict:not(:has(:checked)) input')"
    for _ in range(60):
        if page.evaluate(is_open):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator(":focus")).to_be_checked()
    for _ in range(("mine", "theirs", "both").index(side)):
        page.evaluate("new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))")
        page.keyboard.press("ArrowDown")
    expect(page.locator(f":focus[value={side}]")).to_be_checked()


def test_mine_theirs_and_both_are_chosen_by_keyboard(page: Any, at: Any, chain: Chain, faults: list[str]) -> None:
    client, nodes = Client(), {"s1.p1": "look", "s1.p2": "clock", "s2.p1": "thanks"}
    for side in ("Their", "My"):
        for path, word in nodes.items():
            draft = Draft.objects.filter(saved_as=None).first()
            name = f"{path}.m0.c0".replace(".", "__") + "__text"
            where = f"draft={draft.pk}" if draft else "v=1"
            assert send_form(client, f"/c/{chain.pk}/edit/{path}?{where}", **{name: f"{side} {word}"}).status_code == 303
        draft = Draft.objects.get(saved_as=None)
        if side == "Their":
            client.post(f"/c/{chain.pk}/d/{draft.pk}/save")
    page.goto(at(f"d/{draft.pk}/"))
    page.keyboard.press("s")
    page.keyboard.press("Enter")
    heading = page.get_by_role("heading", name="Version 2 is newer than version 1")
    expect(heading).to_be_visible()
    for side in ("mine", "theirs"):
        choose_next(page, side)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Choose a side for every node first.")).to_be_visible()
    expect(page.locator("fieldset[data-state=problem] :focus")).to_have_count(1)
    faults.clear()  # the browser reports every 409 and 422
    page.set_viewport_size(PHONE)
    assert axe_violations_in_both_themes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    choose_next(page, "both")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Preview of changes")).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("s")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/v/3/$"))
    assert last_texts(chain) == ["My look", "Their clock", "My thanks", "Their thanks"]


def test_a_long_text_stays_a_small_page(page: Any, live_server: Any, at: Any, chain: Chain) -> None:
    send(Client(), ("long.json", json.dumps([{"role": "user", "content": LONG}, {"role": "assistant", "content": "ok"}]).encode()))
    long = Chain.objects.exclude(pk=chain.pk).get()
    page.goto(f"{live_server.url}/c/{long.pk}/edit/s1.h.m0?v=1")
    page.get_by_role("textbox", name="Text", exact=True).first.evaluate(
        "(field, text) => { field.value = text; field.focus(); }", LONG.replace("line", "row")
    )
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(r"/d/\d+/$"))
    assert page.evaluate("document.querySelectorAll('*').length") <= 1400
    page.get_by_text("Show the rest of this text").click()
    expect(page.get_by_text("more line")).to_be_visible()
    assert page.evaluate("document.querySelectorAll('*').length") <= 1400


def test_everything_works_without_scripts(plain_page: Any, at: Any) -> None:
    page = plain_page
    page.goto(at("repair/?v=1"))
    page.get_by_role("button", name="Preview the fixes").click()
    expect(page.get_by_role("heading", name="Preview of changes")).to_be_visible()
    page.get_by_role("link", name="Unified").click()
    expect(page.locator(".diff")).to_have_attribute("data-layout", "unified")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".step[data-undone]")).to_have_count(1)
    page.get_by_role("button", name="Redo").click()
    page.get_by_label("Note for the history").fill("by hand")
    page.get_by_role("button", name="Save as version 2").click()
    expect(page).to_have_url(re.compile(r"/v/2/$"))
