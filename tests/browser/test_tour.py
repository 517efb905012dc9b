"""The tour: from the first page to one worth sharing, in five steps, each of which can be left."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from tests.browser.test_page import faults_at_both_widths


def test_the_tour_leads_from_a_refused_chain_to_a_page_to_share(page: Any, live_server: Any) -> None:
    page.goto(f"{live_server.url}/welcome/")
    page.get_by_role("button", name="Take it with a sample").click()
    tour = page.get_by_role("region", name="Tour")
    for number, kind, name in (
        (2, "link", "Fix 4 problems"),
        (3, "button", "Preview the fixes"),
        (4, "button", "Save as version 2"),
        (5, "link", "See what changed"),
    ):
        expect(tour).to_contain_text(f"Tour, step {number} of 5")
        assert faults_at_both_widths(page) == [], number
        page.get_by_role(kind, name=name).first.click()
    expect(page.get_by_role("link", name="Download page")).to_be_visible()
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_role("heading", name="Version 1 → 2")).to_be_visible()
    expect(tour).to_be_hidden()


def test_the_tour_waits_on_other_pages_and_can_be_left(page: Any, live_server: Any) -> None:
    page.goto(f"{live_server.url}/welcome/")
    page.get_by_role("button", name="With a file of your own").click()
    expect(page.get_by_role("region", name="Tour")).to_contain_text("choose a file")
    page.goto(f"{live_server.url}/recipes/")
    page.get_by_role("link", name="Go on with the tour").click()
    page.get_by_role("button", name="Leave the tour").click()
    expect(page.get_by_role("region", name="Tour")).to_be_hidden()
