"""The library in a browser: files dropped, chosen and pasted, refused and kept; the table by keys; without JavaScript."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from playwright.sync_api import expect

from chainviz.accounts.models import local_member
from chainviz.chains.folders.choose_folders import watch
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.samples import load_samples
from chainviz.chains.uploads import arrivals
from tests.browser.test_page import PHONE, WIDE, axe_violations, axe_violations_in_both_themes, faults_at_both_widths
from tests.chains.files import chat, lines
from tests.chains.making import ai, human, make_chain

DROP = """text => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], "dropped.json"));
  const event = {dataTransfer: transfer, bubbles: true, cancelable: true};
  for (const name of ["dragenter", "drop"]) document.body.dispatchEvent(new DragEvent(name, event));
}"""
PASTE = """text => {
  const transfer = new DataTransfer();
  transfer.setData("text/plain", text);
  document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: transfer, bubbles: true}));
}"""
REFUSED = "422 (Unprocessable Entity)"


@pytest.fixture
def library(page: Any, live_server: Any) -> Any:
    page.goto(live_server.url)
    return page


def choose(page: Any, *files: tuple[str, bytes]) -> None:
    upload = [{"name": name, "mimeType": "application/json", "buffer": body} for name, body in files]
    page.locator("input[name=file]").set_input_files(upload)


def forgive_refusals(faults: list[str]) -> None:
    """The browser reports each 422 on its console."""
    assert all(REFUSED in fault for fault in faults)
    faults.clear()


def test_a_chosen_file_opens(library: Any) -> None:
    choose(library, ("retry.json", chat()))

    library.wait_for_url("**/c/*/**")
    assert Chain.objects.get().file_name == "retry.json"


def test_a_dropped_file_opens(library: Any) -> None:
    library.evaluate(DROP, chat().decode())

    library.wait_for_url("**/c/*/**")
    assert Chain.objects.get().file_name == "dropped.json"


def test_pasted_text_opens(library: Any) -> None:
    library.evaluate(PASTE, chat().decode())

    library.wait_for_url("**/c/*/**")
    assert Chain.objects.get().file_name.startswith("Pasted at")


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_beside_chains_a_button_uploads_and_dropping_and_pasting_still_work(
    page: Any, live_server: Any, size: Any, faults: list[str]
) -> None:
    page.set_viewport_size(size)
    page.goto(f"{live_server.url}/?page=1")
    expect(page.locator(".drop-zone")).to_be_visible()
    load_samples()
    page.goto(live_server.url)
    expect(page.locator(".drop-zone")).to_have_count(0)
    expect(page.locator(".lib-head .file-button")).to_be_in_viewport()
    page.get_by_text("paste text").locator("xpath=..").focus()
    page.keyboard.press("Enter")
    assert axe_violations_in_both_themes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_label("Text of a transcript").fill(chat(say="typed").decode()[:-1])
    page.get_by_role("button", name="Add the text").click()
    expect(page.get_by_role("status").filter(has_text="Line 1")).to_be_visible()
    expect(page.get_by_label("Text of a transcript")).to_have_value(chat(say="typed").decode()[:-1])
    assert "422" in faults.pop()
    page.get_by_label("Text of a transcript").fill(chat(say="typed").decode())
    page.get_by_role("button", name="Add the text").click()
    page.wait_for_url("**/c/*/**")
    for act, say in ((DROP, "dropped"), (PASTE, "pasted")):
        page.goto(live_server.url)
        page.evaluate(act, chat(say=say).decode())
        page.wait_for_url("**/c/*/**")
    assert Chain.objects.count() == 7


def test_the_side_follows_a_search_and_leads_to_drafts_by_keys(page: Any, live_server: Any, tmp_path: Path) -> None:
    """Wide, it stands beside the table; narrow, it is a row in which what has the focus is in view."""
    load_samples()
    watch(local_member(), str(tmp_path))
    page.goto(f"{live_server.url}/?errors=1")
    page.get_by_label("Name of the filter").fill("Errors")
    page.get_by_role("button", name="Save filter").click()
    kept = page.locator("#library-side").get_by_role("link", name=re.compile("^Errors"))
    expect(kept).to_have_attribute("aria-current", "page")
    expect(kept).to_have_text(re.compile(r"Errors\s*\d"))  # how many chains fit
    page.goto(live_server.url)
    marked = page.locator("#library-side [aria-current]")
    expect(marked).to_have_text(re.compile("All chains"))
    page.get_by_placeholder("Search titles and text").fill("jacket")
    expect(marked).to_have_count(0)
    for size in (WIDE, PHONE):
        page.set_viewport_size(size)
        page.goto(live_server.url)
        side, table = page.locator("#library-side").bounding_box(), page.locator("#chains").bounding_box()
        assert (side["x"] + side["width"] <= table["x"]) == (size == WIDE)
        assert axe_violations_in_both_themes(page) == []
        page.get_by_role("link", name="Recipes").focus()
        expect(page.get_by_role("link", name="Recipes")).to_be_in_viewport(ratio=1)
    page.get_by_role("link", name="Open drafts").press("Enter")
    page.get_by_text("No chain matches this filter").wait_for()
    expect(marked).to_have_text(re.compile("Open drafts"))


def test_the_tray_counts_merges_retries_and_is_dismissed(library: Any, faults: list[str], monkeypatch: Any) -> None:
    """Dropped together: one is added, one is broken, one waits for a choice; then one is sent twice more."""
    real = arrivals.offers_of
    monkeypatch.setattr(arrivals, "offers_of", Mock(side_effect=ZeroDivisionError))
    choose(library, ("fault.json", chat(say="Fault")))
    line = library.locator("li.tray-line")
    expect(line.filter(has_text="fault.json")).to_contain_text("a bug in chainviz")
    expect(library.locator("[data-status]")).to_contain_text("fault.json: ")
    monkeypatch.setattr(arrivals, "offers_of", real)

    library.goto(f"{library.url.removesuffix('/welcome/')}/?page=1&rows=roomy")  # the library itself, with names of files
    expect(line.filter(has_text="fault.json")).to_contain_text("a bug in chainviz")
    choose(library, ("good.json", chat()), ("bad.json", chat()[:-30]), ("runs.jsonl", lines(3)))
    expect(library.locator("[data-tray-summary]")).to_have_text("1 to choose, 2 failed, 1 added")
    expect(library.locator("[data-status]")).to_have_text("3 files: 1 to choose, 1 failed, 1 added.")
    library.locator("#chains .file-line", has_text="good.json").wait_for()
    expect(line.filter(has_text="bad.json")).to_contain_text("Nothing was stored.")
    assert axe_violations(library) == []
    box = library.locator("[data-tray]").bounding_box()
    assert box["y"] + box["height"] <= library.viewport_size["height"] and box["height"] < 500

    library.get_by_role("button", name="Retry fault.json").click()
    expect(library.locator("[data-tray-summary]")).to_have_text("1 to choose, 1 failed, 2 added")
    choose(library, ("bad.json", chat()[:-30]), ("good.json", chat()))
    expect(library.locator("[data-tray-summary]")).to_have_text("1 to choose, 2 failed, 2 added, 1 already uploaded")
    line.filter(has_text="bad.json").filter(has_text="2 times").wait_for()
    expect(library.locator("[data-tray-title]")).to_have_text("6 files")
    forgive_refusals(faults)

    library.reload()
    expect(line).to_have_count(5)
    library.get_by_role("button", name="Dismiss bad.json").focus()
    library.keyboard.press("Enter")
    expect(line).to_have_count(4)
    expect(library.locator(":focus")).to_have_attribute("title", "Dismiss")
    library.get_by_role("button", name="Dismiss all").click()
    expect(library.locator("[data-tray]")).to_be_hidden()
    assert not Arrival.objects.exists()


def test_a_file_that_is_too_big_is_not_even_sent(library: Any) -> None:
    library.evaluate("document.querySelector('[data-upload]').dataset.maxBytes = '10'")
    choose(library, ("huge.json", chat()))

    row = library.locator(".tray-line", has_text="larger than this server takes")
    row.wait_for()
    row.get_by_role("button", name="Dismiss").click()
    expect(library.locator(".tray-line")).to_have_count(0)


def test_which_chains_are_picked_by_keys(page: Any, live_server: Any) -> None:
    """A log of requests: its earlier states become versions, and adding can be taken back."""
    turns = [{"role": role, "content": f"turn {n}"} for n, role in enumerate(["user", "assistant"] * 2)]
    requests = b"".join(json.dumps({"messages": turns[:end]}).encode() + b"\n" for end in (1, 3, 4))
    page.goto(live_server.url)
    choose(page, ("runs.jsonl", lines(3) + requests))
    page.wait_for_url("**/pick/**")
    page.get_by_text("Final state, after 2 earlier ones").click()
    expect(page.get_by_text("v2")).to_be_visible()
    assert axe_violations(page) == []
    page.set_viewport_size(PHONE)
    acts = [page.locator(".pick-actions").get_by_text(name).bounding_box()["y"] for name in ("Add the", "Decide later")]
    assert acts[0] == acts[1]
    page.set_viewport_size(WIDE)

    count = page.locator("[data-picked-count]")
    page.get_by_label("Each as its own chain").check()
    expect(count).to_have_text("6 of 6 ticked")
    page.get_by_label("As versions").check()
    expect(count).to_have_text("4 of 4 ticked")
    page.get_by_label("Filter these chains").fill("question")
    expect(page.locator("tbody input")).to_have_count(3)
    page.get_by_role("button", name="Untick these 3").click()
    expect(count).to_have_text("1 of 4 ticked")
    page.locator("tbody input").first.focus()
    page.keyboard.press("Space")
    expect(count).to_have_text("2 of 4 ticked")
    page.keyboard.press("Enter")

    added = page.get_by_role("group", name="Chains added")
    expect(added).to_contain_text("2 chains added")
    expect(added.get_by_role("link")).to_have_count(2)
    assert sorted((chain.part, chain.version) for chain in Chain.objects.all()) == [("line 1", 1), ("line 6", 3)]
    assert axe_violations(page) == []
    added.get_by_role("button", name="Undo").click()
    page.get_by_text("2 chains are in the bin.").wait_for()


def test_the_table_filters_while_typing_and_back_gives_a_whole_page(page: Any, live_server: Any) -> None:
    load_samples()
    page.goto(live_server.url)
    page.keyboard.press("/")
    page.keyboard.type("jacket")
    page.locator(".chain-link", has_text="slow").wait_for(state="detached")
    expect(page.locator(".chain-link")).to_have_count(1)
    expect(page).to_have_url(re.compile("q=jacket"))

    page.keyboard.type("zzz")
    page.get_by_text("No chain matches this filter").wait_for()
    assert axe_violations(page) == []
    page.get_by_role("link", name="Clear the filter").click()
    page.locator(".chain-link", has_text="slow").wait_for()
    page.go_back()
    expect(page.locator("h1")).to_have_count(1)


def test_chains_go_to_the_bin_and_come_back(page: Any, live_server: Any) -> None:
    load_samples()
    page.goto(live_server.url)
    expect(page.get_by_role("button", name="Move to the bin")).to_be_hidden()
    page.locator("[data-pick-all]").check()
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("button", name="Move to the bin").click()
    page.get_by_text("4 chains are in the bin.").wait_for()
    expect(page.get_by_text("No chains here")).to_be_visible()

    page.get_by_role("button", name="Undo").click()
    page.locator(".chain-link", has_text="slow").wait_for()
    expect(page.locator(".chain-link")).to_have_count(4)


def test_two_versions_are_compared(page: Any, live_server: Any) -> None:
    load_samples()
    chain = Chain.objects.get(file_name="support_chat.json")
    page.goto(f"{live_server.url}/c/{chain.pk}/versions/")
    page.get_by_role("button", name="More for version 1").click()
    page.get_by_role("button", name="Branch into a new chain").click()
    page.get_by_text("(branch)").first.wait_for()

    page.goto(f"{live_server.url}/c/{chain.pk}/versions/")
    token = "document.querySelector('[name=csrfmiddlewaretoken]').value"
    for _ in range(2):
        page.evaluate(
            f"address => fetch(address, {{method: 'POST', headers: {{'X-CSRFToken': {token}}}}})", f"/c/{chain.pk}/versions/1/restore/"
        )
    page.reload()
    page.get_by_label("Tick version 1 to compare").check()
    page.get_by_label("Tick version 2 to compare").check()
    page.get_by_role("button", name="Compare 1 with 2").click()
    page.wait_for_url(f"**/c/{chain.pk}/diff/1..2/")


def test_pages_are_accessible_and_fit(page: Any, live_server: Any) -> None:
    load_samples()
    first = Chain.objects.order_by("pk")[0]
    Chain.objects.filter(pk=first.pk).update(trashed_at=first.created_at)
    for where in ("/", "/bin/", f"/c/{Chain.objects.in_library()[0].pk}/versions/", "/?q=nothing"):
        page.goto(live_server.url + where)
        assert faults_at_both_widths(page) == [], where


def test_everything_works_without_javascript(plain_page: Any, live_server: Any) -> None:
    page = plain_page
    page.goto(live_server.url)
    page.wait_for_url("**/welcome/")
    page.get_by_role("button", name="Open the samples").click()
    expect(page.locator(".chain-link")).to_have_count(4)

    body = json.dumps([{"role": "user", "content": "Hello"}]).encode()
    page.locator("input[name=file]").set_input_files(
        [
            {"name": "a.json", "mimeType": "application/json", "buffer": body},
            {"name": "b.json", "mimeType": "application/json", "buffer": b"[{]"},
        ]
    )
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.locator(".chain-link")).to_have_count(5)
    expect(page.locator("[data-tray-summary]")).to_have_text("1 failed, 1 added")
    page.locator(".tray-why summary").click()
    page.get_by_role("button", name="Keep it as raw text").click()
    page.wait_for_url("**/c/*/**")
    assert Chain.objects.filter(format="raw").count() == 1

    page.goto(f"{live_server.url}/?order=title")
    page.get_by_placeholder("Search titles and text").fill("jacket")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator(".chain-link")).to_have_count(1)
    page.locator("tbody input").check()
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("button", name="Move to the bin").click()
    expect(page.get_by_text("is in the bin.")).to_be_visible()


def test_columns_stand_where_they_are_while_longer_rows_stream_in(page: Any, live_server: Any) -> None:
    page.set_viewport_size(WIDE)

    def columns() -> list[int]:
        page.goto(live_server.url)
        return page.evaluate("[...document.querySelectorAll('.chains thead th')].map(each => Math.round(each.getBoundingClientRect().x))")

    make_chain([human("Short"), ai("Yes.")])
    few = columns()
    load_samples()
    assert page.locator(".chains tbody tr").count() == 1
    assert columns() == few


def test_rows_are_walked_and_ticked_by_keys_and_summed(page: Any, live_server: Any) -> None:
    make_chain([human("One"), ai("Yes")], "one.json")
    for name, tokens, cost in (("two", 1_200_000, 4_000_000), ("three", 300_000, 1_500_000)):
        chain = make_chain([human(name), ai("Yes")], f"{name}.json")
        usage = {"claude-sonnet-4-5": [1, tokens]}
        Chain.objects.filter(pk=chain.pk).update(usage=usage, cost=cost)
    page.goto(live_server.url)
    for key in "jxjx":
        page.keyboard.press(key)
    expect(page.locator("[data-picked-sum]")).to_have_text(" · 1.5M tokens · $5.50")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_url("**/c/*/**")
