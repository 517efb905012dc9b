"""Nothing on a page moves when its fragments come late, as on a slow machine or a phone (issue 12)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest

from chainviz.chains.models import Chain
from tests.browser.test_every_page import addresses, chain  # noqa: F401
from tests.browser.test_page import PHONE, WIDE
from tests.chains.making import ai, long_story, make_chain

pytestmark = pytest.mark.django_db(transaction=True)
PAGE_OR_FRAGMENT = re.compile("^(?!.*/static/)")
MOST = 0.02
ROUNDS = 5
"""Fragments ask for further ones."""
WATCH = (
    "window.shifts = 0; window.moved = []; new PerformanceObserver(list => { for (const each of list.getEntries()) {"
    " window.shifts += each.value; for (const one of each.sources) window.moved.push(one.node?.outerHTML?.slice(0, 150)) } })"
    ".observe({type: 'layout-shift', buffered: true})"
)
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
PAGES = (
    "/c/{chain}/v/1/at/s20.p5", "/c/{chain}/v/1/at/s40.p1", "/c/{chain}/repair/",
    *(f"/c/{{chain}}/do/{name}/" for name in ("redact", "summarize", "mask", "convert", "compact")),
)  # fmt: skip
WHOLE = (
    "/c/{chain}/v/1/observations", "/c/{chain}/v/1/parse/s1.p31", "/parse/", "/c/{chain}/v/1/bytes", "/c/{chain}/do/observations/",
)  # fmt: skip
"""Pages that come whole: scripts and choices may move what is on them."""


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_late_fragments_move_nothing(page: Any, live_server: Any, size: Any) -> None:
    """When a page of a long chain opens, and when somebody chooses something on it."""
    story = make_chain([*long_story(1, 30), ai("<answer>All is read.</answer>"), *long_story(40, 30)])
    faults, late = moved(page, live_server.url, size, [address.format(chain=story.pk) for address in (*PAGES, *WHOLE)])
    assert faults == [] and late >= len(PAGES) // 2  # a slow page may ask too late for this test


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_late_fragments_move_nothing_on_any_page(page: Any, live_server: Any, chain: Chain, size: Any) -> None:  # noqa: F811
    faults, _ = moved(page, live_server.url, size, addresses(chain))
    assert faults == []


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize(
    ("address", "keys", "shown"),
    [
        ("/c/{chain}/v/3/at/s2.p2", "e", ".row-form"),
        ("/c/{chain}/v/3/at/s2.p2", "hl", ".node-body[aria-busy]"),
        ("/c/{chain}/diff/1..3", "", ".diff-fold"),
    ],
)
def test_what_was_asked_for_by_key_or_click_comes_late_and_moves_nothing(
    page: Any,
    live_server: Any,
    chain: Chain,  # noqa: F811
    size: Any,
    address: str,
    keys: str,
    shown: str,
) -> None:
    """A node opens as a form, a row opens, and unchanged rows unfold."""
    held = hold_fragments(page, size)
    page.goto(live_server.url + address.format(chain=chain.pk))
    let_through(page, held)
    for key in keys:
        page.keyboard.press(key)
    if keys:
        page.locator(shown).wait_for()
    else:
        page.locator(shown).last.click()
    page.evaluate(DRAWN)
    page.evaluate("window.shifts = 0")
    assert let_through(page, held) > 0
    assert page.evaluate("window.shifts") <= MOST, page.evaluate("window.moved")


def hold_fragments(page: Any, size: Any) -> list[Any]:
    """Returns the requests for fragments, which nothing answers until they are let through."""
    held: list[Any] = []
    page.add_init_script(WATCH)
    page.route(PAGE_OR_FRAGMENT, lambda route: held.append(route) if "hx-request" in route.request.headers else route.continue_())
    page.set_viewport_size(size)
    return held


def moved(page: Any, site: str, size: Any, where: Iterable[str]) -> tuple[list[Any], int]:
    """The addresses whose pages move too much, by how much and what moves, and how many fragments came late."""
    held = hold_fragments(page, size)
    faults, late = [], 0
    for address in where:
        answer = page.goto(site + address)
        assert answer.ok, address
        late += let_through(page, held)
        shifts = page.evaluate("window.shifts")
        choice = page.locator("main form :is(input[type=radio], input[type=checkbox]):not(:checked):visible").first
        if choice.count():
            choice.check(force=True)
            page.evaluate("window.shifts = 0")
            late += let_through(page, held)
        shifts = max(shifts, page.evaluate("window.shifts"))
        if shifts > MOST:
            faults.append((address, shifts, page.evaluate("window.moved")))
    return faults, late


def let_through(page: Any, held: list[Any]) -> int:
    """Answers what was asked for, and what the answers ask for, once the page is drawn. Returns how many there were."""
    count = 0
    for turn in range(ROUNDS):
        page.evaluate(DRAWN)
        late, held[:] = list(held), []
        if turn and not late:
            break
        for route in late:
            route.fulfill(response=route.fetch())
        count += len(late)
    page.evaluate(DRAWN)
    return count
