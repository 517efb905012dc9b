"""The explorer in a browser: windows, keys, find, small screens, hostile content, and the page without JavaScript."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from playwright.sync_api import expect

from chainviz.chains.library.search import start_if_needed
from chainviz.chains.models import Chain
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.jobs.worker import run_waiting_jobs
from tests.browser.test_page import PHONE, WIDE, axe_violations, faults_at_both_widths
from tests.chains.making import STORY, ai, human, long_story, make_chain, result
from tests.waiting import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)
CURRENT = "[data-rows] > [aria-current=true]"


def until(page: Any, statement: str) -> None:
    """Waits for a statement to be true in the page; Playwright's own way needs eval, which the policy forbids."""
    end = time.monotonic() + PATIENCE
    while not page.evaluate(statement):
        assert time.monotonic() < end, f"never true: {statement}"
        page.wait_for_timeout(50)


def open_chain(page: Any, live_server: Any, chain: Chain, where: str = "") -> None:
    page.goto(f"{live_server.url}/c/{chain.pk}/{where}")
    # the outline is marked or the minimap framed only once the script has run
    until(page, "document.querySelector('[data-frame]')?.getAttribute('height') > 0")


def expect_current(page: Any, path: str) -> None:
    expect(page.locator(CURRENT)).to_have_attribute("data-path", path)


@pytest.fixture
def story() -> Chain:
    return make_chain(STORY)


def test_the_explorer_is_accessible(page: Any, live_server: Any, story: Chain) -> None:
    open_chain(page, live_server, story, "v/1/at/s1.p1")
    page.wait_for_selector(".inspector .facts", state="attached")
    assert faults_at_both_widths(page) == []
    open_chain(page, live_server, story, "v/1/at/s2.p1")
    page.locator("[data-lazy]").first.locator("summary").click()
    page.wait_for_selector(".bytes-chart")
    assert faults_at_both_widths(page) == []


SINGLE = ["node/s1.p1", "part/s1.p1.m1.c0", "raw/s1.p1", "inspect/s1.p1", "problems", "find?q=drill", "bytes", "export"]


@pytest.mark.parametrize("where", SINGLE)
def test_pages_of_one_thing_are_accessible(page: Any, live_server: Any, story: Chain, where: str) -> None:
    page.goto(f"{live_server.url}/c/{story.pk}/v/1/{where}")
    assert page.locator("h1").count() == 1
    assert axe_violations(page) == []


def test_nodes_open_and_are_walked_by_keys(page: Any, live_server: Any, story: Chain) -> None:
    open_chain(page, live_server, story)
    for _ in range(4):
        page.keyboard.press("j")
    expect_current(page, "s1.p1")
    page.keyboard.press("l")
    page.wait_for_selector("#s1-p1 .tool-call")
    page.wait_for_selector(".inspector:has-text('Pair 1.1')")
    page.wait_for_url("**/at/s1.p1#s1-p1")
    page.keyboard.press("h")
    expect(page.locator("#s1-p1 .tool-call")).to_have_count(0)
    page.keyboard.press("k")
    expect_current(page, "s1.h.m1")
    page.keyboard.press("]")
    page.wait_for_selector("#s2-p1 .missing")
    expect_current(page, "s2.p1")
    expect(page.locator("[data-status]")).to_contain_text("no result follows")


def test_enter_opens_the_focused_row(page: Any, live_server: Any, story: Chain) -> None:
    open_chain(page, live_server, story)
    page.locator("#s1-p1 .node-line").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#s1-p1 .tool-call")
    expect(page.locator("#s1-p1 .node-line")).to_have_attribute("aria-expanded", "true")


def test_tab_reaches_the_chain_past_an_outline_that_goes_on_while_one_tabs(page: Any, live_server: Any) -> None:
    open_chain(page, live_server, make_chain(long_story(30, 20)))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="The chain")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(".chart-box > summary")).to_be_focused()


def test_sections_fold(page: Any, live_server: Any, story: Chain) -> None:
    open_chain(page, live_server, story)
    page.locator("#s1 > .node-line").click()
    page.wait_for_selector("#s1-p1", state="detached")
    expect(page.locator("#s2-p1")).to_have_count(1)
    page.locator("#s1 > .node-line").click()
    page.wait_for_selector("#s1-p1")


def test_the_last_of_two_quick_clicks_on_a_section_counts(page: Any, live_server: Any, story: Chain) -> None:
    open_chain(page, live_server, story)
    page.evaluate("{ const line = document.querySelector('#s1 > .node-line'); line.click(); line.click(); }")
    with page.expect_response(lambda answer: "/rows?" in answer.url):
        page.evaluate("{ const line = document.querySelector('#s2 > .node-line'); line.click(); line.click(); line.click(); }")
    page.wait_for_selector("#s2-p1", state="detached")
    expect(page.locator("#s1-p1")).to_have_count(1)


RUN = "[data-rows] > [data-run]"


def test_a_run_of_closed_pairs_is_one_row_until_somebody_goes_into_it(page: Any, live_server: Any) -> None:
    chain = make_chain([*long_story(1, 199), ai("All is read."), *long_story(1, 2)])
    open_chain(page, live_server, chain)
    expect(page.locator(RUN)).to_contain_text("199 pairs")
    expect(page.locator(RUN)).to_contain_text("read_file 199 · 398 messages")
    expect(page.locator("#s1-p200 .prose")).to_have_text("All is read.")
    page.locator("#s1-h-m0 .node-line").focus()
    for key in ("j", "j", "j"):
        page.keyboard.press(key)
    expect_current(page, "s1.p1")
    for key in ("e", "c", "y"):
        page.evaluate("document.querySelector('[data-status]').replaceChildren()")
        page.keyboard.press(key)
        expect(page.locator("[data-status]")).to_contain_text("This row contains several pairs.")
    expect(page.locator(".row-form, [data-composer-place] form")).to_have_count(0)
    page.keyboard.press("l")
    expect(page.locator("#s1-p2")).to_have_count(1)
    expect(page.locator(RUN)).to_have_count(0)
    expect(page.locator("#s1-p1 > .node-line")).to_be_focused()
    page.wait_for_url("**/at/s1.p1#s1-p1")
    # a section that closes folds it again
    page.locator("#s1 > .node-line").click()
    page.wait_for_selector("#s1-p1", state="detached")
    page.locator("#s1 > .node-line").click()
    expect(page.locator(RUN)).to_have_count(1)
    page.keyboard.press("o")
    expect(page.locator("#s1-p2 .tool-call")).to_have_count(1)
    page.keyboard.press("o")
    expect(page.locator(RUN)).to_have_count(1)


def test_every_pair_of_a_folded_run_is_gone_to(page: Any, live_server: Any) -> None:
    messages = [*long_story(1, 199), ai("All is read.")]
    messages[241:241] = [{"role": "tool", "tool_call_id": "nowhere", "content": "lost"}]
    chain = make_chain([*messages, human("And?"), ai("Nothing.")])
    open_chain(page, live_server, chain)
    expect(page.locator(RUN)).to_contain_text("1 problem")
    page.keyboard.press("]")
    expect_current(page, "s1.p120")
    expect(page.locator("#s1-p119")).to_have_count(1)
    open_chain(page, live_server, chain)
    page.locator("[data-outline] [data-path='s1.p1']").click()
    expect_current(page, "s1.p1")
    page.locator("[data-outline] [data-path='s1.p9']").click()
    expect_current(page, "s1.p9")
    open_chain(page, live_server, chain)
    page.keyboard.press("/")
    page.keyboard.type("text 1-77")
    page.wait_for_selector("[data-hit]")
    page.keyboard.press("Enter")
    expect_current(page, "s1.p77")
    open_chain(page, live_server, chain)
    page.locator("[data-minimap] a[data-at]").nth(3).click()
    expect(page.locator(RUN)).to_have_count(0)
    open_chain(page, live_server, chain, "v/1/at/s1.p150")
    page.keyboard.press("h")
    page.locator("#s1-p152 > .node-line").click()
    page.wait_for_selector("#s1-p152 .tool-call")
    expect(page.locator(RUN)).to_have_count(0)


def test_all_of_a_kind_open_together(page: Any, live_server: Any, story: Chain) -> None:
    open_chain(page, live_server, story)
    page.get_by_role("button", name="Expand / collapse").click()
    page.get_by_role("button", name="Expand all: Answers").click()
    page.wait_for_selector("#s1-p2 .prose")
    expect(page.locator("#s3-p1 .prose")).to_have_count(1)
    expect(page.locator("#s1-p1 .tool-call")).to_have_count(0)


def test_short_sections_are_there_wherever_the_scrollbar_goes(page: Any, live_server: Any) -> None:
    """Their heads stick to the top: one of them at the window's end must not pass for a row in sight."""
    chain = make_chain([message for n in range(400) for message in (human(f"Task {n}"), ai(f"Answer {n}"))])
    open_chain(page, live_server, chain)
    pane = page.locator("[data-chain-pane]")
    for share, there in ((0.5, 200), (0.98, 392), (0.25, 100)):
        pane.evaluate("(pane, share) => { pane.scrollTop = share * pane.scrollHeight }", share)
        until(page, VIEW_IS_FULL)
        first = page.evaluate(FIRST_IN_SIGHT)
        assert abs(int(first.split(".")[0][1:]) - there) < 20, first
    pane.focus()
    page.keyboard.press("End")
    page.wait_for_selector("#s400-p1")
    page.keyboard.press("Home")
    page.wait_for_selector("#s1-p1")
    page.wait_for_url("**/at/s1.h.m0*")


IN_SIGHT = """[...document.querySelectorAll('[data-rows] > .node')].filter(row => {
  const view = document.querySelector('[data-chain-pane]').getBoundingClientRect(), place = row.getBoundingClientRect();
  return place.bottom > view.top + 60 && place.top < view.bottom;
})"""
VIEW_IS_FULL = f"{IN_SIGHT}.length >= 4"
FIRST_IN_SIGHT = f"{IN_SIGHT}[0].dataset.path"


def test_find_looks_through_the_whole_chain(page: Any, live_server: Any) -> None:
    chain = make_chain([*long_story(20, 20), human("The last word is Zanzibar, nothing else")])
    open_chain(page, live_server, chain)
    page.keyboard.press("/")
    page.keyboard.type("zanzibar")
    page.wait_for_selector("[data-hit]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#s21-h-m0 .node-body")
    until(page, "CSS.highlights.get('search-hit')?.size > 0")
    expect(page.locator("#s21-h-m0")).to_be_visible()
    expect(page.locator("[data-hit-ticks]")).to_have_attribute("d", re.compile("."))
    page.keyboard.press("Escape")
    page.wait_for_selector("[data-hit]", state="detached")


def test_rows_leave_the_page_as_they_scroll_away(page: Any, live_server: Any) -> None:
    chain = make_chain(long_story(40, 30))
    open_chain(page, live_server, chain)
    most = 0
    page.mouse.move(700, 500)
    for _ in range(30):
        page.mouse.wheel(0, 500)
        page.wait_for_timeout(50)
        most = max(most, page.evaluate("document.querySelectorAll('*').length"))
    assert most <= 1_400
    until(page, "document.querySelector('[data-chain-pane]').scrollTop > 5_000")
    expect(page.locator("#s1-p1")).to_have_count(0)
    # rows that arrive late keep the place that was read, so a busy machine needs more than one jump
    until(page, "document.querySelector('[data-chain-pane]').scrollTop = 1e9, document.querySelector('#s40-p30')")
    page.evaluate("document.querySelector('[data-chain-pane]').scrollTop = 0")
    page.wait_for_selector("#s1")


IN_OUTLINE = "[...document.querySelectorAll('[data-outline] [data-in-sight]')]"
"""Of the rows that are in sight in the chain; the first of them must be in sight in the outline."""
OUTLINE_IS_THERE = f"""(() => {{
  const view = document.querySelector('[data-outline-box]').getBoundingClientRect(), first = {IN_OUTLINE}[0]?.getBoundingClientRect();
  return first && first.top >= view.top - 1 && first.bottom <= view.bottom + 1;
}})()"""


SECTION_IN_SIGHT = f"{FIRST_IN_SIGHT}.split('.')[0]"


def test_the_outline_shows_where_one_scrolls(page: Any, live_server: Any) -> None:
    chain = make_chain(long_story(40, 30))
    page.set_viewport_size(WIDE)
    open_chain(page, live_server, chain)
    until(page, OUTLINE_IS_THERE)
    pane = page.locator("[data-chain-pane]")
    for share in (0.05, 0.5, 0.97, 0.2):
        pane.evaluate("(pane, share) => { pane.scrollTop = share * pane.scrollHeight }", share)
        until(page, VIEW_IS_FULL)
        until(page, f"{IN_OUTLINE}.some(row => [{FIRST_IN_SIGHT}, {SECTION_IN_SIGHT}].includes(row.dataset.path)) && {OUTLINE_IS_THERE}")
        until(page, f"document.querySelector(`[data-outline] .outline-item[data-path^='${{{SECTION_IN_SIGHT}}}.']`)")
    expect(page.locator(CURRENT)).to_have_count(0)


def test_the_outline_stays_where_the_reader_is_in_it(page: Any, live_server: Any) -> None:
    page.set_viewport_size(WIDE)
    open_chain(page, live_server, make_chain(long_story(40, 30)))
    page.locator("[data-outline-box]").hover()
    pane = page.locator("[data-chain-pane]")
    pane.evaluate("pane => { pane.scrollTop = 0.5 * pane.scrollHeight }")
    until(page, VIEW_IS_FULL)
    page.wait_for_timeout(400)
    assert page.locator("[data-outline] [data-path='s1.p1']").is_visible()


ROWS_AHEAD = """(() => {
  const view = document.querySelector('[data-chain-pane]').getBoundingClientRect();
  const places = [...document.querySelectorAll('[data-rows] > .node:not(.section-row)')].map(row => row.getBoundingClientRect());
  return places[0].top < view.top - 200 && places.at(-1).bottom > view.bottom + 200;
})()"""


def test_nothing_jumps(page: Any, live_server: Any) -> None:
    page.add_init_script(
        "window.shifts = 0; new PerformanceObserver(list => { for (const each of list.getEntries()) window.shifts += each.value })"
        ".observe({type: 'layout-shift', buffered: true})"
    )
    chain = make_chain(long_story(40, 30))
    open_chain(page, live_server, chain, "v/1/at/s20.p5")
    page.mouse.move(700, 500)
    # at the pace of a reader: whoever drags past all rows in the page gets others, which is no shift of theirs
    for by in [100] * 20 + [-100] * 40:
        until(page, ROWS_AHEAD)
        page.mouse.wheel(0, by)
        page.wait_for_timeout(110)
    page.wait_for_timeout(200)
    assert page.evaluate("window.shifts") <= 0.02


def test_links_lead_to_their_place(page: Any, live_server: Any) -> None:
    chain = make_chain(long_story(40, 30))
    open_chain(page, live_server, chain, "v/1/at/s33.p7.m1.c0")
    expect_current(page, "s33.p7")
    expect(page.locator("#s33-p7-m1-c0")).to_be_visible()
    page.locator("[data-minimap] a").first.press("Enter")
    page.wait_for_selector("#s1")
    page.wait_for_url("**/at/s1.h.m0#*")
    page.locator("[data-minimap] a[tabindex='0']").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/at/s38.*")
    page.reload()
    page.wait_for_selector("[id^=s38-][aria-current]")


def test_a_long_result_comes_in_steps_and_can_be_widened(page: Any, live_server: Any) -> None:
    page.set_viewport_size(WIDE)
    text = "".join(f"line {i}\n" for i in range(2_000))
    chain = make_chain([human("a"), ai(None, ("c1", "f", {"x": 1})), result("c1", text)])
    open_chain(page, live_server, chain, "v/1/at/s1.p1")
    page.get_by_text("Show more").click()
    until(page, "document.querySelector('#s1-p1').textContent.includes('line 1999')")
    page.get_by_role("button", name="Wrap").click()
    expect(page.locator("#s1-p1 pre[data-unwrapped]")).to_have_count(2)
    before = page.locator("#s1-p1-m1-c0").bounding_box()["width"]
    page.get_by_role("link", name="Full width").click()
    until(page, f"document.querySelector('#s1-p1-m1-c0').getBoundingClientRect().width > {before * 1.3}")


def test_a_hit_far_down_in_a_long_part_is_gone_to(page: Any, live_server: Any) -> None:
    text = "".join(f"line {i} of it\n" for i in range(30_000))
    calls = [(f"c{i}", "f", {"x": 1}) for i in range(30)]
    answers = [result(f"c{i}", text if i == 29 else "short") for i in range(30)]
    chain = make_chain([human("a"), ai(None, *calls), *answers])
    open_chain(page, live_server, chain)
    page.keyboard.press("/")
    page.keyboard.type("line 25000 of")
    page.wait_for_selector("[data-hit]")
    page.keyboard.press("Enter")
    until(page, "CSS.highlights.get('search-hit')?.size === 1")
    until(page, "document.querySelector('#s1-p1-m30-c0')?.textContent.includes('line 25000 of it')")
    assert "Match 1 of 1" in page.locator("[data-status]").inner_text()
    assert page.evaluate("document.querySelectorAll('*').length") <= 1_400
    page.wait_for_selector(".inspector:has-text('30 completed')")
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight"), "only panes scroll"


def test_a_hit_of_the_library_leads_to_its_words(page: Any, live_server: Any) -> None:
    text = "".join(f"line {i} of it\n" for i in range(3_000))
    make_chain([human("a"), *[ai(None, ("c", "f", {})), result("c", text)] * 30, human("b"), ai("All read.")])
    start_if_needed()
    run_waiting_jobs()
    # the answer comes when the address has followed the reader
    page.route("**/find?*", lambda route: (page.wait_for_timeout(1_000), route.continue_()))
    page.goto(f"{live_server.url}/?q=2500")
    page.locator(".row-hits a").nth(1).click()
    until(page, "CSS.highlights.get('search-hit')?.size > 0")
    expect(page.locator("#s1-p2-m1-c0")).to_contain_text("line 2500 of it")
    expect(page.locator("[data-hit][aria-current=true]")).to_have_attribute("data-path", "s1.p2.m1.c0")
    assert page.locator("[data-search]").input_value() == "2500"


def test_a_page_of_one_node_has_the_same_buttons(page: Any, live_server: Any) -> None:
    text = "".join(f"line {i}\n" for i in range(2_000))
    chain = make_chain([human("a"), ai(None, ("c1", "f", {"x": 1})), result("c1", text)])
    page.goto(f"{live_server.url}/c/{chain.pk}/v/1/node/s1.p1")
    page.get_by_text("Show more").click()
    until(page, "document.querySelector('main').textContent.includes('line 1999')")
    page.get_by_role("button", name="Wrap").click()
    expect(page.locator("pre[data-unwrapped]")).not_to_have_count(0)


def test_single_keys_can_be_switched_off(page: Any, live_server: Any, story: Chain) -> None:
    open_chain(page, live_server, story)
    page.keyboard.press("?")
    page.locator("[data-keys-choice]").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert page.locator(CURRENT).count() == 0


def test_a_phone_shows_the_health_and_the_next_step_in_a_low_header(page: Any, live_server: Any) -> None:
    call = {"id": "not an id!", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    answered = [human("List it"), {"role": "assistant", "content": None, "tool_calls": [call]}, result("not an id!", "a b")]
    page.set_viewport_size(PHONE)
    open_chain(page, live_server, make_chain(answered))
    for part in (page.locator(".health"), page.locator(".next-step")):
        expect(part).to_be_in_viewport(ratio=1)
    assert page.locator(".chain-bar").bounding_box()["height"] <= 140
    page.locator(".health").click()
    assert page.locator("#health li").count() == 1 + len(PROVIDERS)
    expect(page.locator("#health")).to_be_in_viewport(ratio=1)


def test_a_wide_header_is_one_row(page: Any, live_server: Any, story: Chain) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    open_chain(page, live_server, story)
    assert page.locator(".chain-bar").bounding_box()["height"] <= 56
    for menu in page.locator(".chain-menus > .button").all():
        menu.click()
        expect(page.locator(f"#{menu.get_attribute('popovertarget')}")).to_be_in_viewport(ratio=1)
        assert axe_violations(page) == []
        page.keyboard.press("Escape")


def test_go_to_a_message_a_path_and_a_call(page: Any, live_server: Any, story: Chain) -> None:
    open_chain(page, live_server, story)
    field = page.locator("[data-goto] input")
    for words, path in (("s2.p1", "s2.p1"), ("0", "s1.h.m0")):
        page.keyboard.press("#")
        field.fill(words)
        field.press("Enter")
        expect(page.locator(CURRENT)).to_have_attribute("data-path", path)
    page.keyboard.press("#")
    field.fill("999999")
    field.press("Enter")
    expect(page.locator("[data-goto-error]")).to_contain_text("No message 999,999: the last one is ")
    field.press("Escape")
    page.keyboard.press("End")
    last = page.locator(CURRENT)
    expect(last).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("e")
    expect(page.locator(CURRENT)).to_have_attribute("data-path", "s1.h.m0")


def test_the_palette_finds_places_actions_and_pages(page: Any, live_server: Any, story: Chain) -> None:
    open_chain(page, live_server, story)
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search and commands")
    expect(page.get_by_role("option").first).to_be_visible()
    assert axe_violations(page) == []
    field.fill("mask")
    expect(page.get_by_role("option", name="Mask secrets")).to_be_visible()
    field.fill("0")
    expect(page.get_by_role("option", selected=True)).to_contain_text("Go to message 0")
    field.press("Enter")
    page.wait_for_url("**/at/s1.h.m0*")
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(page.locator(".palette")).to_be_hidden()


def test_enter_waits_for_the_places_of_the_words_that_were_typed(page: Any, live_server: Any, story: Chain) -> None:
    open_chain(page, live_server, story)
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search and commands")
    expect(page.get_by_role("option", selected=True)).to_be_visible()
    field.fill("0")
    field.press("Enter")
    page.wait_for_url("**/at/s1.h.m0*")


def test_the_palette_is_a_page_without_scripts(plain_page: Any, live_server: Any, story: Chain) -> None:
    plain_page.goto(f"{live_server.url}/c/{story.pk}/")
    plain_page.get_by_role("link", name="Search and commands").click()
    plain_page.get_by_label("Message number, path, call id").fill("export")
    plain_page.get_by_role("button", name="Search").click()
    expect(plain_page.get_by_role("link", name="Download, copy or share")).to_be_visible()


def test_keys_for_the_fields_open_the_drawer_of_a_phone(page: Any, live_server: Any, story: Chain) -> None:
    page.set_viewport_size(PHONE)
    open_chain(page, live_server, story)
    page.keyboard.type("#0")
    expect(page.locator("[data-goto] input")).to_have_value("0")
    page.keyboard.press("Enter")
    expect_current(page, "s1.h.m0")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.type("/drill")
    expect(page.locator("[data-find] [type=search]")).to_have_value("drill")


def test_drawers_on_a_phone(page: Any, live_server: Any, story: Chain) -> None:
    page.set_viewport_size(PHONE)
    page.emulate_media(reduced_motion="reduce")
    open_chain(page, live_server, story)
    expect(page.locator("#outline")).to_be_hidden()
    page.get_by_label("Panes").get_by_role("button", name="Outline").click()
    page.wait_for_selector("#outline", state="visible")
    assert axe_violations(page) == []
    page.locator("[data-outline] [data-path='s1.p1']").click()
    page.wait_for_selector("#outline", state="hidden")
    expect_current(page, "s1.p1")
    page.get_by_label("Panes").get_by_role("button", name="Details").click()
    page.wait_for_selector(".inspector:has-text('Pair 1.1')")
    assert page.evaluate("document.querySelector('[data-inspector-tabs]').offsetHeight") > 24, "long details leave the tabs their height"
    page.keyboard.press("Escape")
    page.wait_for_selector("#inspector", state="hidden")


def test_everything_is_reached_without_javascript(plain_page: Any, live_server: Any) -> None:
    page, chain = plain_page, make_chain([*STORY, *long_story(5, 30)])
    page.goto(f"{live_server.url}/c/{chain.pk}/")
    page.get_by_role("link", name="Later rows").click()
    page.get_by_role("link", name="Earlier rows").click()
    page.goto(f"{live_server.url}/c/{chain.pk}/")
    page.locator("#s1-p1 .node-line").click()
    expect(page.locator("h1")).to_have_text("Pair 1.1")
    expect(page.locator("main")).to_contain_text("hammer drill")
    page.get_by_role("link", name="In the chain").click()
    expect(page.locator("#s1-p1 .tool-call")).to_have_count(2)
    expect(page.locator(".inspector")).to_contain_text("2 completed")
    page.get_by_label("Find in this chain").fill("hammer")
    page.keyboard.press("Enter")
    page.locator("[data-hit]").first.click()
    expect(page.locator("#s1-p1")).to_be_visible()
    page.locator(".health").click()
    page.get_by_role("link", name="Structure 1 problem").click()
    expect(page.locator("main")).to_contain_text("no result follows")


HOSTILE = [
    "<script>window.pwned=1</script>",
    '"><img src=x onerror=window.pwned=1>',
    "<svg/onload=window.pwned=1>",
    "'\" onmouseover='window.pwned=1' x=\"",
    "[link](javascript:window.pwned=1) ![x](http://127.0.0.2:9/a.png)",
    '<a hx-get="/bin/" hx-trigger="load" data-hx-get="/bin/">x</a>',
    "</pre></textarea></template><iframe src=//127.0.0.2:9></iframe>",
    "{{ 7|add:7 }} {% now 'Y' %} <!-- ",
    "\u202e\x00\x1b[31m\ud800 \u2028 ]]>",
]


FORBIDDEN = "main :is(script, iframe, img, [hx-get]:not(.export-convert), [data-hx-get], [onerror], [onload], [onmouseover], [style])"


def hostile_chain() -> Chain:
    messages: list[dict[str, Any]] = []
    for text in HOSTILE:
        image = {"type": "image_url", "image_url": {"url": text}}
        remote = {"type": "image_url", "image_url": {"url": f"http://127.0.0.2:9/{text}"}}
        messages += [
            human(text),
            {**ai(text, (text, text, {text: text}), (f"{text}2", "f", text)), "name": text, "reasoning_content": text},
            {**result(text, text), "name": text},
            human([{"type": "text", "text": text}, image, remote, {"type": text, "value": text}]),
            {"role": text, "content": text},
        ]
    return make_chain(messages, f"{HOSTILE[0]}.json")


def test_hostile_content_stays_text(page: Any, live_server: Any) -> None:
    """The fixture of the browser fails on script errors, violations of the policy and requests to other origins."""
    chain = hostile_chain()
    open_chain(page, live_server, chain)
    page.keyboard.press("o")
    page.wait_for_selector(".node-body")
    pane = "document.querySelector('[data-chain-pane]')"
    for _ in range(40):
        page.evaluate(f"{pane}.scrollTop += 700")
        page.wait_for_timeout(40)
    page.keyboard.press("/")
    page.keyboard.type("<script")
    page.wait_for_selector("[data-hit]")
    page.keyboard.press("Enter")
    page.wait_for_timeout(200)
    assert page.locator("main :is(script, iframe, [hx-get], [data-hx-get], [onerror], [onload], [onmouseover])").count() == 0
    for view in ("node/s2.p1", "part/s1.p1.m0.c0", "find?q=window", *SINGLE):
        page.goto(f"{live_server.url}/c/{chain.pk}/v/1/{view}")
        assert page.evaluate("window.pwned") is None
        assert page.locator(FORBIDDEN).count() == 0
