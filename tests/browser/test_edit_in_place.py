"""Editing in the explorer: nothing in sight moves, nothing typed is lost, and everything works from the keyboard (issue 12)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import expect

from chainviz.chains.models import Chain
from tests.browser.test_page import PHONE, WIDE, axe_violations_in_both_themes
from tests.chains.files import send

pytestmark = pytest.mark.django_db(transaction=True)
MESSAGES = [{"role": "user" if i % 2 == 0 else "assistant", "content": f"Message number {i}."} for i in range(60)]
PLACES = """[...document.querySelectorAll('[data-rows] > [data-path]')]
    .map(row => [row.dataset.path, Math.round(row.getBoundingClientRect().top)])"""
WATCH_SHIFTS = """new PerformanceObserver(list => list.getEntries().forEach(each => {
    window.shift = (window.shift ?? 0) + (each.hadRecentInput ? 0 : each.value)})).observe({type: 'layout-shift'})"""


@pytest.fixture
def chain(live_server: Any) -> Chain:
    send(Client(), ("long.json", json.dumps(MESSAGES).encode()))
    return Chain.objects.get()


def places(page: Any, until: str) -> list[Any]:
    """Paths of the rows in the page down to one of them, each with its height in the window."""
    found = page.evaluate(PLACES)
    return found[: [path for path, _ in found].index(until) + 1]


def open_form(page: Any) -> Any:
    page.keyboard.press("e")
    field = page.locator(".row-form textarea").first
    expect(field).to_be_focused()
    return field


def test_a_node_is_edited_where_it_stands(page: Any, live_server: Any, chain: Chain) -> None:
    page.set_viewport_size({**WIDE, "height": 1300})  # a form below the window's end would be scrolled to
    page.goto(f"{live_server.url}/c/{chain.pk}/v/1/at/s3.p1")
    expect(page.locator("#s3-p1")).to_have_attribute("aria-current", "true")
    expect(page.locator("#s1-h-m0")).to_be_visible()  # rows before the window have come
    page.locator("#s2-p1 .node-body").click()
    for _ in ("s3", "s3.h.m0", "s3.p1"):
        page.keyboard.press("j")
    expect(page.locator("#s3-p1 > .node-line")).to_be_focused()
    before = places(page, "s3.p1")
    page.evaluate(WATCH_SHIFTS)
    field = open_form(page)
    assert places(page, "s3.p1") == before
    assert axe_violations_in_both_themes(page) == []

    field.fill("Other words.")
    page.keyboard.press("Escape")
    expect(page.locator("#s3-p1 > .node-line")).to_be_focused()
    expect(open_form(page)).to_have_value("Other words.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("status")).to_contain_text("3.1 changed.")
    expect(page.locator("#s3-p1")).to_contain_text("Other words.")
    expect(page.locator("#s3-p1 > .node-line")).to_be_focused()
    expect(page).to_have_url(re.compile(r"/d/\d+/explore/at/s3.p1"))
    assert places(page, "s3.p1") == before
    expect(page.locator("#s2-p1 .node-body")).to_be_visible()
    assert axe_violations_in_both_themes(page) == []

    page.keyboard.press("z")
    expect(page.get_by_role("status")).to_contain_text("Undo: Text of 3.1.")
    expect(page.locator("#s3-p1")).to_contain_text("Message number 5.")
    assert places(page, "s3.p1") == before
    assert page.evaluate("window.shift ?? 0") <= 0.02


def test_a_new_part_that_was_typed_is_kept_in_sight_and_applied(page: Any, live_server: Any, chain: Chain) -> None:
    page.goto(f"{live_server.url}/c/{chain.pk}/v/1/at/s3.p1")
    open_form(page)
    page.locator(".row-form .new-part summary").click()
    field = page.locator("#s3-p1-m0-new-text")
    field.fill("One more part.")
    page.keyboard.press("Escape")
    open_form(page)
    expect(field).to_be_visible()
    expect(field).to_have_value("One more part.")
    field.press("Control+Enter")
    expect(page.get_by_role("status")).to_contain_text("3.1 changed.")
    expect(page.locator("#s3-p1")).to_contain_text("One more part.")


def test_the_mark_of_a_change_lasts_and_z_undoes_it_on_the_page_of_an_operation(page: Any, live_server: Any, chain: Chain) -> None:
    page.goto(f"{live_server.url}/c/{chain.pk}/v/1/at/s3.p1")
    expect(page.locator("#s3-p1")).to_have_attribute("aria-current", "true")
    open_form(page).fill("Other words.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#s3-p1[data-changed][data-edited] .flag")).to_have_text("changed")
    page.reload()
    expect(page.locator("#s3-p1[data-changed] .flag")).to_have_text("changed")
    page.get_by_role("button", name="Shorten").click()
    page.get_by_role("link", name="Redact tool results").click()
    expect(page.get_by_role("heading", name="Redact", exact=True)).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("z")
    expect(page.get_by_role("button", name="Redo")).to_be_enabled()
    expect(page.get_by_role("heading", name="Redact", exact=True)).to_be_visible()


def test_rows_behind_a_deleted_one_keep_what_is_open_and_folded(page: Any, live_server: Any, chain: Chain) -> None:
    page.goto(f"{live_server.url}/c/{chain.pk}/v/1/at/s2.p1")
    page.locator("#s4-p1 > .node-line").click()
    page.locator("#s4-p1 .node-body").wait_for(state="detached")
    for _ in ("s4.h.m0", "s4", "s3.p1", "s3.h.m0", "s3", "s2.p1"):
        page.keyboard.press("k")
    open_form(page)
    with page.expect_response(re.compile("/rows")):
        page.locator(".row-form").get_by_role("button", name="Delete", exact=True).first.click()
    # without its answer, the question of section 2 and that of section 3 stand together
    opened = page.locator("#s2-h-m1")
    expect(opened).to_contain_text("Message number 4.")
    expect(opened.locator(".node-body")).to_be_visible()
    expect(page.locator("#s3-p1 > .node-line")).to_have_attribute("aria-expanded", "false")
    expect(page.locator("#s4-p1 > .node-line")).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#s4")).to_have_attribute("aria-label", "Section 4")


def test_a_closed_draft_leaves_the_text_in_its_form(page: Any, live_server: Any, chain: Chain, faults: list[str]) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{live_server.url}/c/{chain.pk}/v/1/at/s1.p1")
    expect(page.locator("#s1-p1")).to_have_attribute("aria-current", "true")
    open_form(page).fill("First")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Save as version 2")).to_be_visible()
    open_form(page).fill("Not lost")
    Client().post(re.sub(r".*(/c/\d+/d/\d+/).*", r"\1", page.url) + "save", {"note": ""})
    with page.expect_console_message():  # the browser reports every 409
        page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("saved as version 2")
    expect(page.locator(".row-form textarea").first).to_have_value("Not lost")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    faults.clear()


def test_back_and_forward_follow_jumps_and_a_section_is_deleted(page: Any, live_server: Any, chain: Chain) -> None:
    page.set_viewport_size(WIDE)
    page.goto(f"{live_server.url}/c/{chain.pk}/v/1/at/s1.p1")
    expect(page.locator("#s1-p1")).to_have_attribute("aria-current", "true")
    for path in ("s9", "s2"):
        page.locator(f'[data-outline] [data-path="{path}"]').click()
        expect(page.locator(f"#{path}")).to_have_attribute("aria-current", "true")
    page.evaluate("window.same = true")
    for step, path in ((page.go_back, "s9"), (page.go_back, "s1.p1"), (page.go_forward, "s9")):
        step()
        expect(page.locator(f'[data-rows] > [data-path="{path}"]')).to_have_attribute("aria-current", "true")
    assert page.evaluate("window.same")

    page.keyboard.press("e")
    page.get_by_role("button", name="Delete the section").click()
    expect(page.get_by_role("status")).to_contain_text("§9 deleted.")
    expect(page.locator("#s9")).to_contain_text("Message number 18.")
    page.go_back()  # to the chain before the draft
    expect(page.locator("#s9")).to_contain_text("Message number 16.")


def test_what_opens_is_in_sight_and_the_page_stays_where_it_is(page: Any, live_server: Any) -> None:
    path = {"path": "/yard/shop.py", "text": "line\n" * 400}
    calls = [{"id": f"call_{i}", "type": "function", "function": {"name": "write", "arguments": json.dumps(path)}} for i in range(12)]
    talk = [{"role": "user", "content": "Go."}]
    for call in calls:
        talk += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": "ok"},
        ]
    send(Client(), ("calls.json", json.dumps(talk).encode()))
    page.set_viewport_size(WIDE)
    page.goto(f"{live_server.url}/c/{Chain.objects.get().pk}/v/1/at/s1.p4")
    pane = page.locator(".chain-pane")
    row = page.locator("#s1-p12")
    row.scroll_into_view_if_needed()
    row.locator(".node-text, .node-title, .node-line").first.click(position={"x": 60, "y": 10})
    expect(row.locator(".node-body")).to_be_visible()
    end = pane.bounding_box()["y"] + pane.bounding_box()["height"]
    assert row.bounding_box()["y"] + 200 <= end
    field = open_form(page)
    buttons = page.locator(".row-form").get_by_role("button", name="Delete", exact=True).first
    expect(buttons).to_be_in_viewport()
    head = page.locator(".section-row").first.bounding_box()
    assert buttons.bounding_box()["y"] >= head["y"] + head["height"], "a long field does not push the buttons under the section's row"
    field.fill('{"path": "/yard/till.py"}')
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-draft-strip]")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight"), "only the panes scroll"
