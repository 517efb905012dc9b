"""The shell that every page has: themes, keys, small screens, accessibility, forms under the referrer policy."""

from __future__ import annotations

import json
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import expect

from chainviz.chains.samples import load_samples
from tests.browser import shots

LOAD_FOREIGN_IMAGE = """() => new Promise(done => {
  const image = new Image();
  image.onerror = done;
  image.src = "http://127.0.0.2:9/pixel.png";
})"""
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


COLOR_RULES = ["color-contrast", "link-in-text-block"]
"""What axe finds by colors; all else is the same in both themes."""
STOP_TRANSITIONS = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("*, *::before, *::after { transition-property: none !important }");
  document.adoptedStyleSheets.push(sheet);
}"""
"""Else a new theme goes down the page: what inherits a color starts when its parent has ended."""


def axe_violations(page: Any, **options: Any) -> list[str]:
    shots.take(page)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate("options => axe.run(options).then(({violations}) => violations)", {"resultTypes": ["violations"], **options})
    return [f"{each['id']}: {json.dumps([node['html'] for node in each['nodes']])}" for each in found]


def axe_violations_in_both_themes(page: Any) -> list[str]:
    page.evaluate(STOP_TRANSITIONS)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    light = axe_violations(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    return light + [f"dark: {each}" for each in axe_violations(page, runOnly={"type": "rule", "values": COLOR_RULES})]


def faults_at_both_widths(page: Any) -> list[str]:
    """Examine an open page at a desk and on a phone: axe in both themes, one main heading, nothing wider than the screen.

    The page is resized, not opened again: its scripts fold nothing away, so that a phone shows all there is to examine.
    """
    wrong = []
    for size in (WIDE, PHONE):
        page.set_viewport_size(size)
        here = axe_violations_in_both_themes(page)
        if page.locator("h1").count() != 1:
            here.append("not one h1")
        if not page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            here.append("wider than the screen")
        wrong += [f"at {size['width']} px: {each}" for each in here]
    page.set_viewport_size(WIDE)
    return wrong


def test_home_is_accessible_and_fits(page: Any, live_server: Any) -> None:
    page.goto(live_server.url)
    assert faults_at_both_widths(page) == []


def test_help_opens_by_key_and_can_be_switched_off(page: Any, live_server: Any) -> None:
    page.goto(live_server.url)
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    assert axe_violations(page) == []
    page.locator("[data-keys-choice]").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.keyboard.press("?")
    assert not page.locator("#help").is_visible()


def test_the_chosen_theme_stays(page: Any, live_server: Any) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(live_server.url)
    canvas = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(canvas)
    page.get_by_role("button", name="Light or dark").click()
    assert axe_violations(page) == []
    page.get_by_role("button", name="Dark", exact=True).click()
    assert page.evaluate(canvas) != light
    page.reload()
    assert page.evaluate(canvas) != light
    page.get_by_role("button", name="Light or dark").click()
    page.get_by_role("button", name="As the system").click()
    assert page.evaluate(canvas) == light


def test_skip_link_goes_to_the_content(page: Any, live_server: Any) -> None:
    page.goto(live_server.url)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_an_error_page_leads_back(page: Any, live_server: Any, faults: list[str]) -> None:
    load_samples()  # an empty library leads on to the first page
    page.goto(f"{live_server.url}/nothing-here")
    assert axe_violations(page) == []
    assert [fault for fault in faults if "404" in fault]
    faults.clear()
    page.get_by_role("link", name="Go to all chains").click()
    page.wait_for_url(live_server.url + "/")
    expect(page.locator(".chain-link")).to_have_count(4)


def test_another_origin_is_refused_and_noticed(page: Any, live_server: Any, faults: list[str]) -> None:
    page.goto(live_server.url)
    page.evaluate(LOAD_FOREIGN_IMAGE)
    assert any("Content Security Policy" in fault for fault in faults)
    faults.clear()
