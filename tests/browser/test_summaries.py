"""Summaries in a browser: the plan follows the settings, pieces arrive by themselves, everything works without scripts too."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from playwright.sync_api import expect

from chainviz.chains.models import Chain
from chainviz.drafts.models import SummaryPiece
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.store.models import Version
from tests.browser.test_page import faults_at_both_widths
from tests.drafts.summary_story import summarizable
from tests.drafts.test_summaries import begin
from tests.llm.fake_server import Exchange, says, serving
from tests.waiting import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def chain(live_server: Any) -> Chain:
    return summarizable(sections=3, pairs=3, size=3_000)


@pytest.fixture
def at(live_server: Any, chain: Chain) -> Any:
    return lambda path: f"{live_server.url}/c/{chain.pk}/{path}"


@pytest.fixture
def worker() -> Iterator[Any]:
    """Call it to have the jobs of now done, beside the browser."""
    running: list[threading.Thread] = []

    def work() -> None:
        try:
            run_waiting_jobs()
        finally:
            connection.close()

    def start() -> threading.Thread:
        running.append(threading.Thread(target=work))
        running[-1].start()
        return running[-1]

    yield start
    for each in running:
        each.join(PATIENCE)


def test_pages_are_accessible_and_fit(page: Any, at: Any, chain: Chain, worker: Any) -> None:
    run = begin(Client(), chain)
    waiting = at(f"summaries/{run.pk}/")
    piece = run.pieces.earliest("pk").pk
    addresses = [at("do/summarize/?v=1&anew=1"), at("do/summarize/prompt?v=1"), waiting]
    for address in addresses:
        check(page, address)
    worker().join(PATIENCE)
    check(page, f"{waiting}?open={piece}")
    SummaryPiece.objects.filter(pk=piece).update(state="failed", cause="The model had no time.")
    check(page, waiting)
    taken = Client().post(f"/c/{chain.pk}/summaries/{run.pk}/do", {"act": "take"})["Location"]
    check(page, waiting)
    check(page, at(taken.removeprefix(f"/c/{chain.pk}/") + "explore/replaced/s2.p1"))


def check(page: Any, address: str) -> None:
    page.goto(address)
    for box in page.locator("details:not([open]) > summary").all():
        if box.is_visible():
            box.click()
    assert faults_at_both_widths(page) == [], address


def test_the_plan_follows_the_settings(page: Any, at: Any, faults: list[str]) -> None:
    page.goto(at("do/summarize/?v=1"))
    expect(page.get_by_role("button", name="Write 2 summaries")).to_be_enabled()
    page.evaluate("window.same = true")
    page.locator("[name=keep_qa_sections]").fill("2")
    expect(page.get_by_role("heading", name="1 summary would be written")).to_be_visible()
    expect(page.get_by_role("button", name="Write 1 summary")).to_be_enabled()
    page.locator("[name=keep_qa_sections]").fill("9")
    expect(page.get_by_role("heading", name="Nothing would be folded")).to_be_visible()
    expect(page.get_by_role("button", name="Write summaries")).to_be_disabled()
    page.locator("[name=reserve_percent]").fill("200")
    expect(page.get_by_role("heading", name="These settings are not valid")).to_be_visible()
    page.locator("[name=reserve_percent]").fill("20")
    expect(page.get_by_role("heading", name="Nothing would be folded")).to_be_visible()
    faults[:] = [fault for fault in faults if "422" not in fault]
    assert page.evaluate("window.same")
    page.get_by_role("link", name="After a provider switch").click()
    expect(page.locator("[name=max_bp_bytes]")).to_have_value("8192")


def test_a_prompt_opens_in_place(page: Any, at: Any) -> None:
    page.goto(at("do/summarize/?v=1"))
    page.get_by_role("link", name="Prompt", exact=True).first.click()
    expect(page.get_by_text("SUMMARIZATION TASK")).to_be_visible()
    page.get_by_role("link", name="Prompt", exact=True).first.click()
    expect(page.get_by_text("SUMMARIZATION TASK")).to_be_hidden()


def test_from_the_menu_to_a_version_without_a_model(page: Any, at: Any, worker: Any) -> None:
    page.goto(at("v/1/"))
    page.get_by_role("button", name="Shorten").click()
    page.get_by_role("link", name="Summarize sections").click()
    page.get_by_role("button", name="Write 2 summaries").click()
    expect(page.get_by_role("heading", name="Writing summaries: 0 of 2 ready")).to_be_visible()
    expect(page.get_by_role("button", name="Preview the summaries")).to_be_disabled()
    page.goto(at("v/1/"))
    page.get_by_role("button", name="Shorten").click()
    page.get_by_role("link", name="Summarize sections").click()
    page.wait_for_url(re.compile(r"/summaries/\d+/$"))
    page.evaluate("window.same = true")
    worker()
    expect(page.get_by_role("heading", name="All 2 summaries are ready")).to_be_visible()
    assert page.evaluate("window.same"), "the pieces came by themselves"
    text = page.get_by_role("textbox", name="Text of the summary of 1.1–1.4")
    text.fill("It was the clock.")
    page.locator(".loss-kind", has_text="File paths").first.locator("summary").click()
    page.get_by_role("button", name="Add /var/log/app_1.log to the summary").click()
    expect(text).to_have_value("It was the clock.\nFile paths: /var/log/app_1.log")
    paths = page.locator(".loss-kind", has_text="File paths").first
    expect(paths).to_contain_text("1 of 6")
    expect(paths.locator("summary")).to_be_focused()
    page.reload()
    expect(text).to_have_value("It was the clock.\nFile paths: /var/log/app_1.log")
    page.get_by_role("button", name="Leave as it is").last.click()
    expect(page.get_by_role("heading", name="1 of 2 summaries ready")).to_be_visible()
    page.get_by_role("button", name="Use it anyway").click()
    page.get_by_role("button", name="Preview 2 summaries").click()
    page.wait_for_url(re.compile(r"/d/\d+/$"))
    expect(page.get_by_text("4 pairs become one summary").first).to_be_visible()
    folded, summary = (page.locator(part).first.bounding_box() for part in (".replaced-list", ".diff-beside-rows"))
    assert folded["x"] + folded["width"] <= summary["x"] and abs(folded["y"] - summary["y"]) < 60, "side by side"
    assert Version.objects.count() == 1
    page.get_by_role("button", name="Save as version 2").click()
    page.wait_for_url(re.compile(r"/v/2/$"))
    page.goto(at("v/2/at/s1.p1"))
    page.get_by_text("Replaces 4 pairs").click()
    expect(page.locator(".replaced-nodes li")).to_have_count(4)
    page.locator(".replaced-nodes summary").first.click()
    expect(page.locator(".replaced-nodes").get_by_text("permission denied")).to_be_visible()
    page.locator(".replaced-link").first.click()
    page.wait_for_url(re.compile(r"/v/1/at/s1\.p1"))


def test_typed_text_is_not_lost_while_others_are_written(page: Any, at: Any, chain: Chain, worker: Any, settings: Any) -> None:
    go_on = threading.Event()

    def play(exchange: Exchange) -> None:
        if exchange.number == 2:
            go_on.wait(PATIENCE)
        says("From the model.")(exchange)

    with serving(play) as server:
        changed = {"llm_base_url": server.url, "llm_model": "small", "llm_concurrency": 1}
        settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update=changed)
        page.goto(at("do/summarize/?v=1"))
        page.get_by_text("model small at 127.0.0.1").click()
        page.get_by_role("button", name="Write 2 summaries").click()
        worker()
        text = page.get_by_role("textbox", name="Text of the summary of 1.1–1.4")
        expect(text).to_have_value("From the model.")
        text.fill("From me.")
        go_on.set()
        expect(page.get_by_role("heading", name="All 2 summaries are ready")).to_be_visible()
        expect(text).to_have_value("From me.")
        page.get_by_role("button", name="Keep this text").first.click()
        expect(page.get_by_text("written by model small at 127.0.0.1").first).to_contain_text("edited by you")
        page.get_by_placeholder("A hint").first.fill("shorter")
        page.get_by_placeholder("A hint").first.press("Enter")
        expect(page.get_by_role("heading", name="Writing summaries: 1 of 2 ready")).to_be_visible()
        worker()
        expect(text).to_have_value("From the model.")
        assert "The person who asked adds: shorter" in server.seen[2].body["messages"][0]["content"]


def test_without_scripts(plain_page: Any, at: Any, worker: Any) -> None:
    page = plain_page
    page.goto(at("do/summarize/?v=1"))
    page.locator("[name=keep_qa_sections]").fill("2")
    page.get_by_role("button", name="Show the plan").click()
    expect(page.get_by_role("heading", name="1 summary would be written")).to_be_visible()
    page.get_by_role("button", name="Write 1 summary").click()
    worker().join(PATIENCE)
    page.reload()
    expect(page.get_by_role("heading", name="The summary is ready")).to_be_visible()
    page.get_by_role("textbox", name="Text of the summary").fill("Short.")
    page.get_by_role("button", name="Keep this text").click()
    page.locator(".loss-kind", has_text="URLs").locator("summary").click()
    page.get_by_role("button", name="Add all").locator("visible=true").click()
    expect(page.get_by_role("textbox", name="Text of the summary")).to_have_value(re.compile("Short.\nURLs: https://"))
    page.get_by_role("button", name="Preview 1 summary").click()
    expect(page.get_by_text("4 pairs become one summary").first).to_be_visible()
    page.goto(page.url + "explore/node/s1.p1")
    page.get_by_text("Replaces 4 pairs").click()
    page.get_by_role("link", name="Show what it replaced").click()
    expect(page.get_by_role("heading", name="What the summary replaced")).to_be_visible()
