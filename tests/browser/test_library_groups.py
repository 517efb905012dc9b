"""Projects in the table of chains fold and stay folded, also without a script; saved filters get their counts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from chainviz.accounts.models import local_member
from chainviz.chains.folders.choose_folders import watch
from chainviz.chains.folders.opening import open_file
from chainviz.chains.samples import load_samples
from tests.browser.test_explorer import until
from tests.browser.test_page import faults_at_both_widths
from tests.store.test_growth import session

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def root(tmp_path: Path, live_server: Any) -> Path:
    root = tmp_path / "runs"
    for name in ("app/one.jsonl", "app/two.jsonl", "docs/three.jsonl"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(session(2, name))
        os.utime(path, (1_790_000_000, 1_790_000_000))
    watch(local_member(), str(root))
    for name in ("app/one.jsonl", "app/two.jsonl", "docs/three.jsonl"):
        open_file(local_member(), root / name)
    load_samples()
    return root


def test_a_folded_folder_stays_folded(page: Any, live_server: Any, root: Path) -> None:
    page.goto(live_server.url)
    titles = page.locator(".chain-link:visible")
    expect(titles).to_have_count(7)
    page.locator("summary", has=page.get_by_title(f"{root}/app", exact=True)).press("Enter")
    expect(titles).to_have_count(5)
    until(page, "document.cookie.includes('library_folded')")
    page.reload()
    expect(titles).to_have_count(5)
    page.get_by_role("searchbox").fill("jsonl")
    expect(page.locator(".lib-count")).to_contain_text("3 chains of")
    expect(titles).to_have_count(3)  # a search is one list: what it finds in a folded project is seen
    page.get_by_role("searchbox").fill("")
    expect(page.locator(".group-row")).to_have_count(3)
    expect(titles).to_have_count(5)
    page.get_by_role("link", name="Only app", exact=True).click()
    expect(titles).to_have_count(2)


def test_without_a_script(plain_page: Any, live_server: Any, root: Path) -> None:
    plain_page.goto(live_server.url)
    expect(plain_page.locator(".chain-link:visible")).to_have_count(7)
    plain_page.locator("summary", has=plain_page.get_by_title(f"{root}/app", exact=True)).click()
    expect(plain_page.locator(".chain-link:visible")).to_have_count(5)


def test_groups_are_accessible_and_fit(page: Any, live_server: Any, root: Path) -> None:
    page.goto(live_server.url)
    expect(page.locator(".group-row")).to_have_count(3)
    assert faults_at_both_widths(page) == []


def test_counts_of_saved_filters_come_after_the_page_and_follow_an_upload(page: Any, live_server: Any, root: Path) -> None:
    page.goto(f"{live_server.url}/?q=jacket")
    page.get_by_label("Name of the filter").fill("Jackets")
    page.get_by_role("button", name="Save filter").click()
    count = page.locator(".lib-side a", has_text="Jackets").locator(".number")
    expect(count).to_have_text("1")
    page.get_by_role("searchbox").fill("harbour")
    expect(page.locator(".lib-count")).to_contain_text("1 chain of")
    expect(count).to_have_text("1")
