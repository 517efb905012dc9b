"""The pages of observations in a browser: filter, convert, parse, import of a log; by keyboard and without scripts too."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from chainviz.chains.models import Chain
from tests.browser.test_page import faults_at_both_widths
from tests.chains.making import make_chain
from tests.chains.observations.story import CONVENTIONS
from tests.chains.observations.test_parse import LOG, REPLY

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def chain(live_server: Any) -> Chain:
    return make_chain(CONVENTIONS)


@pytest.fixture
def home(live_server: Any, chain: Chain) -> str:
    return f"{live_server.url}/c/{chain.pk}/"


def test_pages_are_accessible_and_fit(page: Any, home: str, live_server: Any) -> None:
    wrong: list[str] = []

    def look(what: str) -> None:
        wrong.extend(f"{what}: {each}" for each in faults_at_both_widths(page))

    for where in (
        "v/1/observations", "v/1/observations?tool=nothing", "v/1/observations/media", "v/1/observations/text/s5.p1",
        "v/1/parse/s1.p1", "v/1/parse/s1.p1?format=markdown", "v/1/parse/s4.p1?strict=1",
        "do/observations/?to=markdown", "do/observations/?roles=to_text", "do/observations/?roles=to_tools",
    ):  # fmt: skip
        assert page.goto(home + where).status == 200
        look(where)
    for text in (REPLY, LOG):
        page.goto(f"{live_server.url}/parse/")
        look("empty")
        page.get_by_role("textbox", name="Reply of a model").fill(text)
        page.get_by_role("button", name="Parse").click()
        page.locator("#source-title").wait_for()
        look(text[:20])
    assert wrong == []


def test_the_filter_changes_results_in_place(page: Any, home: str) -> None:
    page.goto(f"{home}v/1/observations")
    page.evaluate("window.same = true")
    cards = page.locator(".obs-cards > .tool-call")
    expect(cards).to_have_count(7)
    page.get_by_role("radio", name="Errors").check()
    expect(cards).to_have_count(3)
    page.wait_for_url(re.compile("state=error"))
    page.get_by_role("checkbox", name="Tool messages").check()
    expect(cards).to_have_count(1)
    page.get_by_role("checkbox", name="Tool messages").uncheck()
    page.get_by_role("radio", name="All results").check()
    page.get_by_role("searchbox", name="Find in results").fill("changes")
    expect(cards).to_have_count(1)
    expect(page.get_by_text("1 result shown").or_(page.get_by_text("1 matching result"))).to_be_visible()
    assert page.evaluate("window.same")


def test_results_are_reached_by_keys(page: Any, home: str) -> None:
    page.goto(f"{home}v/1/observations")
    page.keyboard.press("j")
    expect(page.locator("#r0")).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("]")
    expect(page.locator("#r4")).to_be_focused()
    page.keyboard.press("[")
    expect(page.locator("#r1")).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("c")
    page.wait_for_url(re.compile(r"/at/s1\.p1\.m0\.c0"))
    page.goto(f"{home}v/1/observations")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Find in results")).to_be_focused()


def test_a_conversion_is_chosen_previewed_and_saved(page: Any, home: str) -> None:
    page.goto(f"{home}do/observations/?v=1")
    page.evaluate("window.same = true")
    page.get_by_role("radio", name=re.compile("^Markdown")).check()
    expect(page.get_by_text("1 loss").first).to_be_visible()
    expect(page.get_by_label("Convert anyway")).to_be_visible()
    page.get_by_role("radio", name=re.compile("^Brackets")).check()
    expect(page.get_by_text("every result reads back")).to_be_visible()
    expect(page.get_by_label("Convert anyway")).to_have_count(0)
    assert page.evaluate("window.same")
    page.get_by_role("button", name="Preview", exact=True).click()
    page.wait_for_url(re.compile(r"/d/\d+/$"))
    page.get_by_role("button", name="Save as version 2").click()
    page.wait_for_url(re.compile(r"/c/\d+/v/2/"))


def test_a_section_lights_its_lines(page: Any, home: str) -> None:
    page.goto(f"{home}v/1/parse/s1.p1")
    page.locator("a.sec").first.hover()
    expect(page.locator("li[data-range][data-lit]").first).to_be_visible()
    page.get_by_label("Section 2", exact=True).fill("thinking")
    expect(page.get_by_text("No section is named action.")).to_be_visible()


def test_typed_text_is_kept_and_a_log_imported(page: Any, live_server: Any, chain: Chain) -> None:
    page.goto(f"{live_server.url}/parse/")
    page.get_by_role("textbox", name="Reply of a model").fill(LOG)
    page.reload()
    expect(page.get_by_role("textbox", name="Reply of a model")).to_have_value(LOG)
    page.get_by_role("button", name="Parse").click()
    page.get_by_role("button", name="Import 2 chains").click()
    page.wait_for_url(re.compile(r"/pick/\d+/"))


def test_everything_works_without_scripts(plain_page: Any, home: str, live_server: Any) -> None:
    page = plain_page
    page.goto(f"{home}v/1/observations")
    page.get_by_role("radio", name="Errors").check()
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".obs-cards > .tool-call")).to_have_count(3)
    page.goto(f"{home}v/1/parse/s1.p1")
    page.get_by_label("Another section", exact=True).fill("note")
    page.get_by_label("Strict").check()
    page.get_by_role("button", name="Parse").click()
    expect(page.get_by_label("Section 4", exact=True)).to_have_value("note")
    page.goto(f"{home}do/observations/?v=1")
    page.get_by_role("radio", name=re.compile("^Markdown")).check()
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.get_by_text("This conversion has losses.")).to_be_visible()
    page.get_by_label("Convert anyway").check()
    page.get_by_role("button", name="Preview", exact=True).click()
    page.wait_for_url(re.compile(r"/d/\d+/$"))
    page.goto(f"{live_server.url}/parse/")
    page.get_by_role("textbox", name="Reply of a model").fill(LOG)
    page.get_by_role("button", name="Parse").click()
    page.get_by_role("button", name="Import 2 chains").click()
    page.wait_for_url(re.compile(r"/pick/\d+/"))
