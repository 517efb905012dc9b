"""The redact page in a browser: decisions follow the settings at once, pages are accessible and fit."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from chainviz.chains.models import Chain
from tests.browser.test_page import axe_violations, axe_violations_in_both_themes, faults_at_both_widths
from tests.chains.making import ai, human, make_chain, result

pytestmark = pytest.mark.django_db(transaction=True)


def story(rounds: int = 4) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You look after the shop of eve.moreau@shop-floor.io."}]
    for n in range(rounds):
        messages += [
            human(f"Question {n}"),
            ai(None, (f"call_a{n}", "query_database", {"q": n}), (f"call_b{n}", "read_file", {"path": f"{n}.py"})),
            result(f"call_a{n}", f"rows of {n}\n" * 60),
            result(f"call_b{n}", f"lines of {n}\n" * 90 + "password = 'hX7$kq9Lw2Zp'\nmail to eve.moreau@shop-floor.io"),
            ai("Looking further.", (f"call_c{n}", "mcp__crm__find_customer", {"name": "x"})),
            result(f"call_c{n}", "customer\n" * 30),
            *([ai(f"Answer {n}")] if n + 1 < rounds else [human("Wait")]),
        ]
    return messages


@pytest.fixture
def chain(live_server: Any) -> Chain:
    return make_chain(story())


@pytest.fixture
def address(live_server: Any, chain: Chain) -> str:
    return f"{live_server.url}/c/{chain.pk}/do/redact/"


def test_pages_are_accessible_and_fit(page: Any, address: str, live_server: Any, chain: Chain) -> None:
    at = f"{live_server.url}/c/{chain.pk}"
    for each in (
        address,
        f"{at}/audit/",
        f"{at}/do/mask/",
        f"{at}/purge/",
        f"{at}/versions/",
        f"{at}/v/1/export",
        f"{at}/v/1/raw/s2.p1",
        f"{live_server.url}/secrets/",
    ):
        page.goto(each)
        assert faults_at_both_widths(page) == []


def show_rows(page: Any) -> None:
    page.get_by_role("button", name="One by one").click()
    page.locator("#rows-title").wait_for()


def test_groups_are_walked_by_keyboard(page: Any, address: str) -> None:
    page.goto(address)
    page.evaluate("window.same = true")
    names = page.locator(".group-fold b")
    expect(names).to_have_text(["read_file", "query_database", "mcp__crm__find_customer"])
    page.locator("#example-after").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 of 3", exact=True)).to_be_visible()
    expect(page.locator("#example-after")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 of 2", exact=True)).to_be_visible()
    expect(page.get_by_text("1 Decided by hand", exact=True)).to_be_visible()
    page.get_by_role("button", name=re.compile("query_database")).focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("rows of 0").first).to_be_visible()
    assert axe_violations_in_both_themes(page) == []
    assert page.evaluate("window.same")


def test_keys_go_from_group_to_group_and_from_example_to_example(page: Any, address: str) -> None:
    page.goto(address)
    folds = page.locator(".group-fold")
    page.keyboard.press("]")
    expect(folds.first).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("2 of 3", exact=True)).to_be_visible()
    expect(folds.first).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("1 of 3", exact=True)).to_be_visible()
    page.keyboard.press("]")
    page.keyboard.press("o")
    expect(page.get_by_text("rows of 0").first).to_be_visible()
    expect(folds.nth(1)).to_be_focused()
    expect(folds.nth(1)).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("[")
    expect(folds.first).to_be_focused()
    page.locator("input[name=policy]").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("input[name=policy]").nth(1)).to_be_checked()


PRESS_THE_NEW_BUTTON_AT_ONCE = """() => {
  const shown = document.querySelector("#example-after");
  new MutationObserver((_, observer) => {
    const next = document.querySelector("#example-after");
    if (!next || next === shown) return;
    observer.disconnect();
    next.click();
  }).observe(document.body, { childList: true, subtree: true });
  shown.click();
}"""


def test_a_button_answers_as_soon_as_it_is_shown(page: Any, address: str) -> None:
    page.goto(address)
    page.evaluate("window.same = true")
    page.evaluate(PRESS_THE_NEW_BUTTON_AT_ONCE)
    expect(page.get_by_text("3 of 3", exact=True)).to_be_visible()
    assert page.evaluate("window.same")


def test_decisions_follow_the_settings_at_once(page: Any, address: str) -> None:
    page.goto(address)
    page.evaluate("window.same = true")
    show_rows(page)
    redacted = page.locator("tbody [data-state=redacted]")
    expect(redacted).to_have_count(9)
    page.get_by_role("radio", name="Every result").check()
    expect(redacted).to_have_count(12)
    expect(page.locator("#count-by_hand")).to_have_text("0 of 12")
    page.get_by_text("Advanced").click()
    page.get_by_role("radio", name="Once anything but tool work follows").check()
    expect(page.get_by_text("Decisions by rule")).to_be_visible()
    expect(redacted).to_have_count(12)
    page.locator(".tools-fold > summary").click()
    page.get_by_role("checkbox", name="query_database").uncheck()
    expect(redacted).to_have_count(8)
    page.get_by_label("Decide read_file at 1.1 by hand").select_option("keep")
    expect(redacted).to_have_count(7)
    expect(page.get_by_text("kept by hand")).to_be_visible()
    page.locator("#show").select_option("by_hand")
    expect(page.locator("tbody tr")).to_have_count(1)
    assert page.evaluate("window.same")
    page.get_by_role("button", name="Preview the redaction").click()
    page.wait_for_url(re.compile(r"/d/\d+/$"))
    expect(page.get_by_text("[redacted]").first).to_be_visible()


def test_a_long_table_is_read_in_pages(page: Any, live_server: Any, chain: Chain) -> None:
    long = make_chain(story(60), "long.json")
    page.goto(f"{live_server.url}/c/{long.pk}/do/redact/")
    page.evaluate("window.same = true")
    show_rows(page)
    assert page.evaluate("document.querySelectorAll('*').length") <= 1400
    expect(page.get_by_text("1 to 30 of 180")).to_be_visible()
    page.get_by_label("Decide read_file at 1.1 by hand").select_option("keep")
    expect(page.get_by_text("kept by hand")).to_be_visible()
    page.get_by_role("button", name="Next rows").click()
    expect(page.get_by_text("31 to 60 of 180")).to_be_visible()
    page.get_by_role("button", name="Previous rows").click()
    expect(page.get_by_text("kept by hand")).to_be_visible()
    assert page.evaluate("window.same")


def test_a_redacted_result_comes_back_from_its_node(page: Any, address: str, live_server: Any, chain: Chain) -> None:
    page.goto(address)
    page.get_by_role("button", name="Preview the redaction").click()
    page.get_by_role("button", name="Save as version 2").click()
    page.wait_for_url(re.compile(r"/c/\d+/v/2/"))
    page.goto(f"{live_server.url}/c/{chain.pk}/v/2/at/s1.p1#s1-p1")
    page.locator("[data-node-actions] a[aria-label='Earlier versions of this node']").click()
    expect(page.get_by_text("rows of 0").first).to_be_visible()
    assert axe_violations(page) == []
    page.get_by_role("button", name=re.compile("Restore this.*Result of query_database")).click()
    page.wait_for_url(re.compile(r"/d/\d+/$"))
    expect(page.get_by_text("rows of 0").first).to_be_visible()
    expect(page.get_by_text("1 node changed", exact=True)).to_be_visible()


def test_tools_beyond_the_first_are_found_by_name(page: Any, live_server: Any, chain: Chain) -> None:
    messages = [human("Use all")]
    for n in range(40):
        messages += [ai(None, (f"m{n}", f"tool_{n:02}", {})), result(f"m{n}", f"rows {n} " * (90 - n))]
    many = make_chain([*messages, ai("All used.")], "many.json")
    page.goto(f"{live_server.url}/c/{many.pk}/do/redact/")
    page.evaluate("window.same = true")
    page.locator(".tools-fold > summary").click()
    expect(page.get_by_text("1 to 30 of 40").first).to_be_visible()
    page.get_by_role("checkbox", name="tool_03").uncheck()
    page.get_by_placeholder("Find a tool").fill("_37")
    expect(page.locator(".tool-list li")).to_have_count(1)
    page.get_by_role("checkbox", name="tool_37").uncheck()
    expect(page.locator(".measure-after").first).to_have_text("38")
    assert page.evaluate("window.same")


def test_a_click_jumps_to_the_node(page: Any, address: str) -> None:
    page.goto(address)
    show_rows(page)
    page.locator("tbody a").first.click()
    expect(page.get_by_text("rows of 0").first).to_be_visible()


def test_a_fault_is_said_beside_the_settings(page: Any, address: str, faults: list[str]) -> None:
    page.goto(address)
    page.get_by_role("textbox", name="Replace with").fill("{content}")
    expect(page.get_by_role("alert")).to_contain_text("A placeholder has no")
    faults.clear()  # the browser reports every 422


def test_it_works_without_scripts(plain_page: Any, address: str) -> None:
    page = plain_page
    page.goto(address)
    show_rows(page)
    page.get_by_text("Advanced").click()
    page.get_by_role("radio", name="Once anything but tool work follows").check()
    page.get_by_role("button", name="Show the decisions").last.click()
    expect(page.locator("tbody [data-state=redacted]")).to_have_count(12)
    page.get_by_role("button", name="Preview the redaction").click()
    expect(page.get_by_role("heading", name="Preview of changes")).to_be_visible()
