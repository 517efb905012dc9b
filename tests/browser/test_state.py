"""The pages of a conversation's state in a browser: State, compaction and simulation."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from chainviz.chains.models import Chain
from tests.browser.test_page import axe_violations, faults_at_both_widths
from tests.chains.making import STORY, human, make_chain

pytestmark = pytest.mark.django_db(transaction=True)
TWO_LIMITS = [{"type": "token_limit", "max_tokens": 8_000}, {"type": "message_limit", "max_messages": 50}]
COMPACT = f"do/compact/?{urlencode({'strategy': json.dumps({'type': 'composite', 'compactors': TWO_LIMITS})})}"


@pytest.fixture
def chain(live_server: Any) -> Chain:
    middle = {"role": "system", "content": "The visitor checked in."}
    return make_chain([*STORY[:6], middle, *STORY[6:], human("One more thing")])


@pytest.fixture
def home(live_server: Any, chain: Chain) -> str:
    return f"{live_server.url}/c/{chain.pk}/"


def test_the_pages_are_accessible_and_fit(page: Any, home: str) -> None:
    for where in ("state/", "state/?from=0", "do/compact/", "do/compact/simulate/"):
        page.goto(home + where)
        assert faults_at_both_widths(page) == [], where


def test_the_next_call_follows_what_is_typed(page: Any, home: str) -> None:
    page.goto(f"{home}state/")
    page.evaluate("window.same = true")
    page.get_by_label("Next user message").fill("And the floor?")
    expect(page.locator("#state")).to_contain_text("And the floor?")
    page.get_by_label("Messages seen by the model").fill("1")
    expect(page.locator("#divider")).to_contain_text("1 message")
    assert "processed_length=1" in page.locator("#export-state").get_attribute("href")
    page.get_by_role("button", name="All ").click()
    expect(page.locator("#state")).to_contain_text("And for glass?")
    assert page.get_by_label("Next user message").input_value() == "And the floor?"
    assert page.evaluate("window.same")
    page.locator("h1").click()
    page.keyboard.press("n")
    expect(page.get_by_label("Next user message")).to_be_focused()


def test_a_strategy_is_built_and_saved_with_the_keyboard_and_the_mouse(page: Any, home: str) -> None:
    page.goto(home + COMPACT)
    page.evaluate("window.same = true")
    page.get_by_role("textbox", name="Keep the last").fill("3")
    expect(page.locator("#lab")).to_contain_text("removed above")
    page.get_by_role("button", name="Remove Token limit").click()
    expect(page.locator(".lab-node")).to_have_count(2)
    step = page.get_by_role("button", name="Step", exact=True)
    step.evaluate("button => button.scrollIntoView({block: 'center'})")  # its menu opens where nothing scrolls any more
    step.click()
    page.locator("[popover]:popover-open").get_by_role("button", name="Split").click()
    expect(page.locator(".lab-node")).to_have_count(3)
    expect(page.locator("#lab")).to_contain_text("The strategy is not complete")
    page.locator(".lab-node summary", has_text="Split").last.click()
    page.get_by_role("button", name="Remove Split").click()
    expect(page.locator("#lab")).to_contain_text("removed above")
    assert axe_violations(page) == []
    assert page.evaluate("window.same")
    page.get_by_role("textbox", name="Keep the last").press("Control+Enter")
    expect(page).to_have_url(re.compile(r"/d/\d+/$"))
    page.get_by_role("button", name="Save as version 2").click()
    expect(page).to_have_url(f"{home}v/2/")


def test_a_simulation_follows_its_choices(page: Any, home: str) -> None:
    page.goto(f"{home}do/compact/simulate/")
    page.evaluate("window.same = true")
    expect(page.locator("polyline")).to_have_count(5)
    page.get_by_label("Redact").uncheck()
    expect(page.locator("polyline")).to_have_count(4)
    assert page.evaluate("window.same")
    page.reload()
    expect(page.locator("polyline")).to_have_count(4)
    page.locator(".turn-hit").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#lines-title")).to_have_text("At turn 1")


def test_the_pages_work_without_scripts(plain_page: Any, home: str) -> None:
    plain_page.goto(f"{home}state/")
    plain_page.locator("#next").fill("And the floor?")
    plain_page.get_by_role("button", name="Update").last.click()
    assert "And the floor?" in plain_page.locator("#state").inner_text()
    plain_page.goto(home + COMPACT)
    plain_page.get_by_role("textbox", name="Keep the last").fill("3")
    plain_page.get_by_role("button", name="Run").last.click()
    assert "removed above" in plain_page.locator("#lab").inner_text()
    plain_page.get_by_role("button", name="Simulate").click()
    plain_page.get_by_label("Redact").uncheck()
    plain_page.get_by_role("button", name="Simulate").click()
    assert plain_page.locator("polyline").count() == 4
    plain_page.get_by_role("link", name="Apply strategy A").click()
    plain_page.get_by_role("button", name="Preview", exact=True).click()
    assert "/d/" in plain_page.url


@pytest.mark.parametrize(
    ("where", "field", "typed"),
    [(COMPACT, "Keep the last", "3"), ("state/", "Next user message", "And the floor?"), ("state/", "Messages seen by the model", "1")],
)
def test_tab_to_a_button_does_not_press_it(page: Any, home: str, where: str, field: str, typed: str) -> None:
    page.goto(home + where)
    box = page.get_by_label(field).first
    box.focus()
    for _ in range(4):
        with page.expect_request(lambda request: request.method == "POST") as sent:
            box.fill(typed)
            page.keyboard.press("Tab")
            page.locator("button[name=act]:visible").first.focus()
        assert "act=" not in (sent.value.post_data or "")
        typed += "1" if typed.isdigit() else "."
