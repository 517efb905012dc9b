"""The chart of where the bytes of a long chain go, by keyboard (issue 12)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.test_explorer import until
from tests.chains.making import long_story, make_chain

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_block_of_the_chart_is_selected_by_key(page: Any, live_server: Any) -> None:
    """Its results are; the way back up has every level."""
    chain = make_chain(long_story(1, 60))
    page.goto(f"{live_server.url}/c/{chain.pk}/v/1/bytes?at=s1")
    page.locator(".bytes-chart [data-select][aria-label^='Pairs']").nth(1).focus()
    page.keyboard.press("x")
    until(page, "document.querySelector('[data-pick-title]').textContent.includes('results selected')")
    expect(page.locator("[data-pick-redact]")).to_be_focused()
    expect(page.locator(".drill li")).to_have_count(3)
    page.keyboard.press("Backspace")
    expect(page.locator(".drill li")).to_have_count(2)
