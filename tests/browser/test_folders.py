"""The page of folders in a browser: a session grows in its row and in its chain, and nothing else moves."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from chainviz.accounts.models import local_member
from chainviz.chains.folders import opening
from chainviz.chains.folders.choose_folders import watch
from chainviz.sessions_index import services
from chainviz.sessions_index.listing import list_source
from chainviz.sessions_index.models import Session
from tests.browser.test_page import PHONE, axe_violations_in_both_themes
from tests.core.databases.opencode_database import add_message, add_part, create
from tests.store.test_growth import session

pytestmark = pytest.mark.django_db(transaction=True)

WATCH_SHIFTS = """() => {
  window.shifted = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((each) => (window.shifted += each.value))).observe({type: "layout-shift"});
}"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, live_server: Any) -> Path:
    monkeypatch.setattr(opening, "SECONDS", 0.0)
    monkeypatch.setattr(opening, "REST", 0)
    monkeypatch.setattr(opening, "PAUSE", opening.PAUSE * 0)
    monkeypatch.setattr(opening, "REST", 0)
    folder = tmp_path / "sessions"
    for number in range(30):
        path = folder / f"project-{number % 3}" / f"run-{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(session(2, f"task {number}"))
    watch(local_member(), str(folder))
    return folder


def test_a_running_session_grows_where_it_is(page: Any, live_server: Any, root: Path) -> None:
    file = root / "project-1" / "run-4.jsonl"
    page.goto(f"{live_server.url}/folders/")
    row = page.locator("[data-file='project-1/run-4.jsonl']")
    row.get_by_role("button").click()
    expect(page.locator(".chain-title")).to_have_text("task 4 0")
    page.goto(f"{live_server.url}/folders/")
    row.get_by_role("link", name="task 4 0", exact=True).focus()
    before = page.evaluate("[scrollY, document.activeElement.id]")
    page.evaluate(WATCH_SHIFTS)
    file.write_bytes(session(5, "task 4") + b'{"type": "user", "mess')
    (root / "project-1" / "new.jsonl").write_bytes(session(2))

    expect(row).to_contain_text("v2")
    expect(row).to_contain_text("5 messages")
    expect(page.get_by_role("status").filter(has_text="1 new file")).to_be_visible()
    assert page.evaluate("[scrollY, document.activeElement.id]") == before
    assert page.evaluate("shifted") <= 0.02
    assert axe_violations_in_both_themes(page) == []

    row.get_by_role("link", name="task 4 0", exact=True).click()
    page.locator("[data-following]").wait_for()
    page.evaluate(WATCH_SHIFTS)
    file.write_bytes(session(8, "task 4"))
    expect(page.locator(".chain-total")).to_contain_text("8 messages")
    assert page.evaluate("shifted") <= 0.02


def open_session(page: Any, live_server: Any, file: Path, count: int) -> None:
    file.write_bytes(session(count, "task 4"))
    page.goto(f"{live_server.url}/folders/")
    page.locator(f"[data-file='{file.parent.name}/{file.name}']").get_by_role("button").click()
    page.wait_for_url("**/c/**")
    page.wait_for_load_state()


WHERE = """() => {
  const line = document.activeElement;
  return [line.parentElement.id, Math.round(line.getBoundingClientRect().top), line.getAttribute("aria-expanded"),
          document.querySelector("[data-chain-pane]").scrollTop];
}"""


def test_new_messages_come_behind_what_somebody_reads(page: Any, live_server: Any, root: Path) -> None:
    file = root / "project-1" / "run-4.jsonl"
    open_session(page, live_server, file, 9)
    page.locator("[data-rows] > .node > .node-line").last.click()
    expect(page).to_have_url(re.compile("/v/1/at/"))
    before = page.evaluate(WHERE)
    page.evaluate(WATCH_SHIFTS)
    file.write_bytes(session(15, "task 4"))
    expect(page.locator(".chain-total")).to_contain_text("15 messages")
    expect(page.get_by_role("status").filter(has_text="6 new messages.")).to_be_visible()
    expect(page.locator("[data-rows]")).to_contain_text("task 4 14")
    assert page.evaluate(WHERE) == before
    assert page.evaluate("shifted") <= 0.02
    assert "/v/2/at/" in page.url
    page.reload()
    expect(page.locator(".chain-total")).to_contain_text("15 messages")


def test_messages_of_a_database_come_behind_what_somebody_reads(page: Any, live_server: Any, root: Path, tmp_path: Path) -> None:
    store = tmp_path / "opencode.db"
    create(store, 1)
    source = services.choose_folder(local_member().team, str(store))
    list_source(source)
    row = Session.objects.get(source=source)
    page.goto(f"{live_server.url}/sessions/{row.pk}/")
    page.get_by_role("button", name="Open").click()
    page.wait_for_url("**/c/**")
    page.locator("[data-rows] > .node > .node-line").last.click()
    before = page.evaluate(WHERE)
    page.evaluate(WATCH_SHIFTS)
    with closing(sqlite3.connect(store)) as connection:
        message = add_message(connection, row.key, 90, {"role": "user"})
        add_part(connection, row.key, message, 90, {"type": "text", "text": "And the tests?"})
        connection.commit()
    expect(page.get_by_role("status").filter(has_text="1 new message.")).to_be_visible()
    expect(page.locator("[data-rows]")).to_contain_text("And the tests?")
    assert page.evaluate(WHERE) == before
    assert page.evaluate("shifted") <= 0.02


def test_while_somebody_edits_a_newer_version_is_only_named(page: Any, live_server: Any, root: Path) -> None:
    file = root / "project-1" / "run-4.jsonl"
    open_session(page, live_server, file, 5)
    page.locator("[data-rows] > .node .node-line").first.click()
    page.keyboard.press("e")
    expect(page.locator(".row-form textarea").first).to_be_focused()
    page.keyboard.type("Half a sentence")
    file.write_bytes(session(8, "task 4"))
    expect(page.get_by_role("link", name="version 2 was read from the file")).to_be_visible()
    expect(page.locator(".row-form textarea").first).to_be_focused()
    page.keyboard.press("Escape")
    file.write_bytes(session(9, "task 4"))
    expect(page.locator(".chain-total")).to_contain_text("9 messages")


def test_an_older_version_stays_what_it_is(page: Any, live_server: Any, root: Path) -> None:
    file = root / "project-1" / "run-4.jsonl"
    open_session(page, live_server, file, 5)
    file.write_bytes(session(8, "task 4"))
    expect(page.locator(".chain-total")).to_contain_text("8 messages")
    page.goto(page.url.split("/c/")[0] + "/c/" + page.url.split("/c/")[1].split("/")[0] + "/v/1/")
    expect(page.get_by_role("link", name="version 2 was read from the file")).to_be_visible()
    expect(page.locator(".chain-total")).to_contain_text("5 messages")


def test_without_a_script_and_on_a_phone(plain_page: Any, live_server: Any, root: Path) -> None:
    plain_page.set_viewport_size(PHONE)
    plain_page.goto(f"{live_server.url}/folders/?q=run-7.")
    assert plain_page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    plain_page.get_by_role("button", name="task 7").click()
    expect(plain_page.locator(".chain-title")).to_have_text("task 7 0")
    (root / "project-1" / "run-7.jsonl").write_bytes(session(4, "task 7"))
    plain_page.reload()
    plain_page.get_by_role("button", name="Read the file again").click()
    expect(plain_page.locator(".chain-total")).to_contain_text("4 messages")
