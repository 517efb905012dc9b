"""The whole way of a person: from a dropped transcript to a repaired, edited, versioned chain, with scripts and without,
and by keys alone. The transcript is like those of tau-bench: one chain inside a bigger object, a call never answered."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from chainviz.chains.models import Arrival, Chain
from tests.browser.test_library import DROP
from tests.shared_folder import shared

pytestmark = pytest.mark.django_db(transaction=True)

TRANSCRIPT = Path(__file__).parent / "fixtures" / "returns_desk.json"
TITLE = "Hi, I would like to exchange the drill from my last order. It's the wrong colour – I wanted grey."
QUESTION = "Of course! Could you give me your e-mail address or the number of the order?"
BETTER = "Gladly! “Which order” is it?"
ITEM, OTHER_ITEM = rb"\"item_ids\":[\"5512\"]", rb"\"item_ids\":[\"7730\"]"


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def scripts(request: Any) -> bool:
    return bool(request.param)


@pytest.fixture
def browser_context_args(browser_context_args: Any, scripts: bool) -> Any:
    return {**browser_context_args, "java_script_enabled": scripts, "reduced_motion": "reduce"}


class Person:
    """Somebody at a page who uses what the page offers: buttons and fields by their names."""

    def __init__(self, page: Any, site: str, scripts: bool) -> None:
        self.page, self.site, self.scripts = page, site, scripts
        page.goto(site)

    @property
    def home(self) -> str:
        return f"{self.site}/c/{Chain.objects.get().pk}/"

    def choose(self, name: str, content: bytes) -> None:
        file = {"name": name, "mimeType": "application/json", "buffer": content}
        self.page.locator("input[name=file]").set_input_files(file)
        if not self.scripts:
            self.press("Upload")
        self.page.wait_for_url(re.compile(r"/c/\d+/"))

    def press(self, button: str) -> None:
        self.page.get_by_role("button", name=button, exact=True).click()

    def follow(self, link: str, within: str = "main") -> None:
        self.page.locator(within).get_by_role("link", name=link).first.click()

    def find(self, text: str) -> None:
        field = self.page.get_by_label("Find in this chain")
        field.fill(text)
        if self.scripts:
            self.page.locator("[data-hit]").first.wait_for()
        field.press("Enter")
        if not self.scripts:
            self.page.locator("[data-hit]").first.click()

    def begin_to_edit(self, path: str) -> None:
        """From the row of a node to the form."""
        row = self.page.locator(f"#{path.replace('.', '-')}")
        row.locator(".node-line").click()
        if self.scripts:
            row.get_by_role("link", name="Edit", exact=True).click()
        else:
            self.follow("Edit")
        expect(self.page.locator("textarea").first).to_be_visible()

    def apply(self) -> None:
        """From the form to the preview of the draft."""
        self.press("Apply to the draft")
        if self.scripts:
            expect(self.page.get_by_role("status")).to_contain_text("changed.")
            self.follow("Preview")
        expect(self.page.get_by_role("heading", name="Preview of changes")).to_be_visible()

    def save(self, note: str, number: int) -> None:
        self.page.get_by_label("Note for the history").fill(note)
        self.press(f"Save as version {number}")
        self.page.wait_for_url(re.compile(rf"/v/{number}/"))

    def exported(self, number: int) -> bytes:
        """The whole file with a version of the chain in its place."""
        return bytes(self.page.request.get(f"{self.home}v/{number}/export?scope=file").body())


@pytest.fixture
def person(page: Any, live_server: Any, scripts: bool) -> Person:
    return Person(page, live_server.url, scripts)


def test_from_a_transcript_to_a_mended_chain(person: Person) -> None:
    page = person.page
    person.choose("returns_desk.json", TRANSCRIPT.read_bytes())

    expect(page.locator("[data-rows] .section-row")).to_have_count(6)
    expect(page.locator("#s2-p1")).to_contain_text("get_order_details")
    expect(page.locator("#s2-p1")).to_contain_text("412 B")
    expect(page.locator(".chain-total")).to_contain_text("17 messages")

    person.find("98.45")
    expect(page.locator("#s3-p1 .tool-call").first).to_be_visible()
    page.goto(person.home)

    if person.scripts:
        page.get_by_role("button", name="OpenAI: 5 errors").click()
        page.get_by_role("link", name="Next problem").click()
    else:
        person.follow("Structure: 1 problem")
        person.follow("4.1")
    expect(page.locator("#s4-p1")).to_contain_text("This call has no result")

    page.get_by_role("link", name="Fix 5 problems").click()
    page.get_by_text("Choose each fix yourself").click()
    expect(page.get_by_role("checkbox", name="Answer the call")).to_be_checked()
    person.press("Preview these fixes")
    expect(page.locator(".diff")).to_contain_text("exchange_items")
    expect(page.locator("#problems")).to_contain_text("1 → 0")
    person.save("answered the open call", 2)
    expect(page.locator("#health li").first).to_have_text(re.compile(r"Structure\s*valid"))

    person.begin_to_edit("s1.p1")
    page.get_by_role("textbox", name="Text", exact=True).first.fill(BETTER)
    person.apply()
    expect(page.locator(".diff")).to_contain_text(BETTER)
    person.follow("Explore the draft")
    person.begin_to_edit("s4.p1")
    arguments = page.get_by_role("textbox", name="Arguments", exact=True).first
    arguments.fill(arguments.input_value().replace("5512", "7730"))
    person.apply()
    expect(page.locator(".step")).to_have_count(2)

    person.press("Undo")
    expect(page.locator(".step[data-undone]")).to_have_count(1)
    expect(page.locator(".diff")).not_to_contain_text("7730")
    person.press("Redo")
    expect(page.locator(".step[data-undone]")).to_have_count(0)
    expect(page.locator(".diff")).to_contain_text("7730")
    person.save("asked better", 3)

    page.goto(f"{person.home}versions/")
    expect(page.locator(".version")).to_have_count(3)
    expect(page.locator(".version").first).to_contain_text("asked better")
    person.follow("Changes since upload")
    expect(page.locator(".diff")).to_contain_text("Gladly!")
    expect(page.locator(".diff")).to_contain_text("exchange_items")

    uploaded, repaired, edited = (person.exported(number) for number in (1, 2, 3))
    assert uploaded == TRANSCRIPT.read_bytes()
    assert_only_inserted(uploaded, repaired)
    assert edited == repaired.replace(json.dumps(QUESTION).encode(), json.dumps(BETTER).encode()).replace(ITEM, OTHER_ITEM)

    page.goto(f"{person.home}versions/")
    person.press("More for version 1")
    page.get_by_role("button", name="Restore as version 4").last.click()
    page.goto(person.home)
    expect(page.locator(".chain-head")).to_contain_text("Version 4")
    assert person.exported(4) == uploaded


def assert_only_inserted(before: bytes, after: bytes) -> None:
    """One message more, nothing else touched."""
    grown = len(after) - len(before)
    at = next(each for each, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
    assert after[at + grown :] == before[at:]
    assert after[:at] == before[:at]
    assert len(json.loads(after)["traj"]) == len(json.loads(before)["traj"]) + 1


def test_two_tabs_change_different_pairs(person: Person, faults: list[str]) -> None:
    person.choose("returns_desk.json", TRANSCRIPT.read_bytes())
    first = person.page
    second = first.context.new_page()
    for page, pair, text in ((first, "s1.p1", "First."), (second, "s2.p2", "Second.")):
        page.goto(f"{person.home}edit/{pair}?v=1")
        page.get_by_role("textbox", name="Text", exact=True).first.fill(text)
    first.get_by_role("button", name="Apply to the draft", exact=True).click()
    first.get_by_role("button", name="Save as version 2", exact=True).click()
    first.wait_for_url("**/v/2/")

    second.get_by_role("button", name="Apply to the draft", exact=True).click()
    second.get_by_label("Note for the history").fill("from the second tab")
    second.get_by_role("button", name=re.compile("Save as version")).click()
    expect(second.get_by_role("heading", name="Version 2 is newer than version 1")).to_be_visible()
    faults.clear()  # the browser reports the 409
    expect(second.locator("main")).to_contain_text("Second.")
    second.get_by_role("button", name="Apply my changes to version 2").click()
    expect(second.get_by_label("Note for the history")).to_have_value("from the second tab")
    second.get_by_role("button", name="Save as version 3", exact=True).click()
    second.wait_for_url("**/v/3/")

    texts = [message["content"] for message in json.loads(person.exported(3))["traj"]]
    assert "First." in texts
    assert "Second." in texts


def test_a_public_transcript_goes_in_and_out_unchanged(person: Person) -> None:
    files = sorted(shared("transcripts", "tau-bench").glob("*.json"))
    for path in [file for file in files if b'"traj"' in file.read_bytes()][:2]:
        Chain.objects.all().delete()
        person.page.goto(person.site)
        content = path.read_bytes()
        person.choose(path.name, content)
        expect(person.page.locator("[data-rows] .section-row").first).to_be_visible()
        assert person.exported(1) == content


@pytest.mark.parametrize("scripts", [True], ids=["with scripts"])
def test_a_dropped_transcript_opens(person: Person) -> None:
    person.page.evaluate(DROP, TRANSCRIPT.read_text())
    person.page.wait_for_url(re.compile(r"/c/\d+/"))
    expect(person.page.locator("#s4-p1")).to_be_visible()
    assert not Arrival.objects.exists()


@pytest.mark.parametrize("scripts", [True], ids=["with scripts"])
def test_the_same_way_by_keys_alone(person: Person) -> None:
    page, key = person.page, person.page.keyboard
    with page.expect_file_chooser() as chooser:
        page.evaluate("0")  # Chromium lets keys overtake the request to hand over file dialogs, but not this one
        key.press("u")
    chooser.value.set_files(TRANSCRIPT)
    page.wait_for_url(re.compile(r"/c/\d+/"))
    page.locator("[data-frame]:not([height='0'])").wait_for(state="attached")

    for _ in range(3):
        key.press("j")
    key.press("k")
    expect(current(page)).to_have_attribute("data-path", "s1.h.m0")
    key.press("l")
    expect(page.locator("#s1-h-m0 .node-body")).to_be_visible()
    key.press("h")
    expect(page.locator("#s1-h-m0 .node-body")).to_have_count(0)
    key.press("/")
    key.type("98.45")
    page.locator("[data-hit]").first.wait_for()
    key.press("Enter")
    expect(current(page)).to_have_attribute("data-path", "s3.p1")
    key.press("Escape")  # empties the field
    key.press("Escape")  # leaves it
    key.press("]")
    expect(current(page)).to_have_attribute("data-path", "s4.p1")
    expect(page.locator("#s4-p1")).to_contain_text("This call has no result")

    key.press("e")
    page.locator("#s4-p1 form").wait_for()
    walk_to(page, "This call has no result")
    key.type("The exchange is ordered.")
    walk_to(page, "Add a result")
    key.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("4.1 changed.")
    walk_to(page, "Preview")
    key.press("Enter")
    page.wait_for_url(re.compile(r"/d/\d+/$"))
    expect(page.locator("#problems")).to_contain_text("1 → 0")
    key.press("z")
    expect(page.locator(".step[data-undone]")).to_have_count(1)
    key.press("Shift+Z")
    expect(page.locator(".step[data-undone]")).to_have_count(0)
    go_to_first_change(page)
    key.press("s")
    key.press("Enter")
    page.wait_for_url("**/v/2/")

    key.press("g")
    key.press("v")
    page.wait_for_url("**/versions/")
    walk_to(page, "Changes since upload")
    key.press("Enter")
    page.wait_for_url("**/diff/1..2/")
    key.press("u")
    expect(page.locator(".diff")).to_have_attribute("data-layout", "unified")
    key.press("g")
    key.press("e")
    page.wait_for_url(re.compile(r"/c/\d+/"))
    key.press("g")
    key.press("l")
    page.wait_for_url(person.site + "/")
    walk_to(page, TITLE)
    key.press("Enter")
    page.wait_for_url(re.compile(r"/c/\d+/"))


def go_to_first_change(page: Any) -> None:
    """Press the key for the next change, and again if it was pressed while the list of changes was being replaced."""
    for _ in range(10):
        page.keyboard.press("]")
        with suppress(AssertionError):
            expect(page.locator("#change-1")).to_be_focused(timeout=5_000)
            return
    expect(page.locator("#change-1")).to_be_focused()


def current(page: Any) -> Any:
    return page.locator("[data-rows] > [aria-current=true]")


def walk_to(page: Any, name: str) -> None:
    """Tab after Tab to what has this name, as somebody without a mouse gets there."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("name => (document.activeElement.labels?.[0] ?? document.activeElement).innerText?.trim() === name", name):
            return
    raise AssertionError(f"no Tab leads to “{name}”")
