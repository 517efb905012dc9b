"""The library in a browser follows what happens elsewhere: rows change where they stand, and nothing that somebody does is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from chainviz.accounts.models import local_member
from chainviz.chains.folders import opening
from chainviz.chains.folders.choose_folders import watch
from chainviz.chains.folders.opening import open_file
from chainviz.chains.models import Chain
from tests.browser.test_folders import WATCH_SHIFTS
from tests.browser.test_page import PHONE, WIDE, axe_violations_in_both_themes
from tests.chains.making import human, make_chain
from tests.store.test_growth import session

pytestmark = pytest.mark.django_db(transaction=True)
HELD = "[document.activeElement.id, scrollY, document.querySelectorAll('tbody :checked').length]"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, live_server: Any) -> Path:
    monkeypatch.setattr(opening, "PAUSE", opening.PAUSE * 0)
    monkeypatch.setattr(opening, "REST", 0)
    root = tmp_path / "runs"
    root.mkdir()
    watch(local_member(), str(root))
    for number in range(12):
        file = root / f"run-{number}.jsonl"
        file.write_bytes(session(2, f"task {number}"))
        open_file(local_member(), file)
    return root


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_session_grows_in_its_row_and_new_chains_wait(page: Any, live_server: Any, root: Path, size: Any) -> None:
    page.set_viewport_size(size)
    page.goto(f"{live_server.url}/?order=title")
    row = page.locator("tbody tr", has_text="task 11 0")
    for name in ("task 10 0", "task 11 0"):
        page.get_by_role("checkbox", name=f"Tick {name}", exact=True).check()
    row.locator("[id$=-open]").focus()
    held = page.evaluate(HELD)
    page.evaluate(WATCH_SHIFTS)
    expect(row.locator(".of-tokens")).to_have_text("7")
    (root / "run-11.jsonl").write_bytes(session(5, "task 11"))
    expect(row.locator(".of-tokens")).to_have_text("14")
    expect(row).to_be_visible()
    assert Chain.objects.get(title="task 11 0").version == 2
    make_chain([human("Above all")])
    news = page.get_by_role("status").filter(has_text="1 new chain")
    expect(news).to_be_visible()
    assert page.evaluate(HELD) == held and held[2] == 2
    assert page.evaluate("shifted") <= 0.02
    assert axe_violations_in_both_themes(page) == []

    news.get_by_role("link", name="Show").press("Enter")
    expect(page.get_by_role("link", name="Above all", exact=True)).to_be_focused()
    expect(page.locator("[data-picked-count]")).to_have_text("2 of 13 ticked")
    expect(page.locator("#library-news")).to_be_empty()
    assert page.url.endswith("/?order=title")
    assert axe_violations_in_both_themes(page) == []
