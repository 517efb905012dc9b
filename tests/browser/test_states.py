"""States that no address shows: a form in its row, refused, applied, with its steps; nodes to choose in. Each is accessible and fits."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import expect

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from tests.browser.test_every_page import chain  # noqa: F401
from tests.browser.test_page import PHONE, WIDE, axe_violations_in_both_themes, faults_at_both_widths
from tests.drafts.pages import send_form

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def look(page: Any) -> Any:
    def look() -> None:
        assert axe_violations_in_both_themes(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    return look


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_an_edit_in_its_row(
    page: Any,
    live_server: Any,
    chain: Chain,  # noqa: F811
    size: Any,
    look: Any,
    faults: list[str],
) -> None:
    page.set_viewport_size(size)
    page.goto(f"{live_server.url}/c/{chain.pk}/v/3/at/s4.p1")
    page.keyboard.press("e")
    field = page.locator("#s4-p1-m0-c0-text")
    expect(field).to_be_focused()
    look()
    field.fill('{"order": }')
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert").first).to_contain_text("invalid JSON")
    expect(field).to_be_in_viewport(ratio=1)
    look()
    assert "422" in faults.pop()
    field.fill("{}")
    page.keyboard.press("Control+Enter")
    page.locator("[data-draft-strip] summary").click()
    look()


def test_nodes_to_choose_in(page: Any, live_server: Any, chain: Chain) -> None:  # noqa: F811
    client, late = Client(), Draft.objects.get(chain=chain, base=1)
    send_form(client, f"/c/{chain.pk}/edit/s1.p1?v=3", s1__p1__m0__c0__text="The newer version says this.")
    client.post(f"/c/{chain.pk}/d/{Draft.objects.latest('pk').pk}/save", {"note": ""})
    page.goto(f"{live_server.url}/c/{chain.pk}/d/{late.pk}/conflict")
    expect(page.get_by_role("radio", name="Mine changed")).to_be_visible()
    assert faults_at_both_widths(page) == []
