"""The pages of team mode: accessible, one heading, fit a screen and a phone, in both themes."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from chainviz.accounts.members import invite
from chainviz.accounts.models import Membership, local_member
from chainviz.accounts.permissions import Role
from chainviz.chains.models import Chain
from chainviz.review.labels import LabelChoice, set_label
from chainviz.review.models import Presence, Thread
from chainviz.review.requests.services import ask, give_verdict
from chainviz.review.sign_off import sign_off_version
from chainviz.review.threads.writing import NewThread, begin
from chainviz.webhooks.models import Delivery, Webhook
from tests.accounts.people import PASSWORD, make_member
from tests.browser.test_page import PHONE, WIDE, axe_violations
from tests.chains.making import STORY, make_chain

pytestmark = pytest.mark.django_db(transaction=True)


def _reviewed(owner: Membership) -> Chain:
    """A chain with a request, verdicts, labels, a thread, a sign-off, and somebody who has it open."""
    chain, mei = make_chain(STORY), make_member(owner.team, "Mei", Role.COMMENTER)
    ask(chain, [owner.user_id, mei.user_id], "Before it goes to the vendor", by=mei.user)
    give_verdict(chain, 1, "approve", "Fine", by=mei.user)
    sign_off_version(chain, 1, by=owner)
    give_verdict(chain, 1, "changes", "One name is left", by=mei.user)
    set_label(chain, LabelChoice(1, "s1.p1", "rating", "4"), by=mei.user)
    begin(chain, mei.user, NewThread(1, Thread.Kind.CHAIN), "@lin is this a name?")
    Presence.objects.create(chain=chain, person=mei.user, version=1, seen_at=timezone.now() + timedelta(hours=1))
    return chain


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (PHONE, "dark")], ids=["wide", "phone"])
def test_a_person_signs_in_and_every_page_is_accessible(
    page: Any, live_server: Any, settings: Any, tmp_path: Path, size: Any, scheme: Any, faults: list[str]
) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team", "data": tmp_path})
    owner = make_member(local_member().team, "Lin", Role.OWNER)
    link = f"/join/{invite(owner, 'ivo@example.org', Role.EDITOR)}"
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    wrong: list[str] = []

    def look(where: str) -> None:
        page.goto(live_server.url + where)
        wrong.extend(f"{where}: {each}" for each in axe_violations(page))
        if page.locator("h1").count() != 1 or not page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            wrong.append(f"{where}: headings or width")

    reviewed = f"/c/{_reviewed(owner).pk}/"
    for where in (link, "/join/unknown", "/team/"):
        look(where)
    page.get_by_label("E-mail").fill("lin@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Members").wait_for()
    hook = Webhook.objects.create(team=owner.team, url="https://hooks.example.org/in", events="version.saved")
    Delivery.objects.create(webhook=hook, message_id="m1", event="version.saved", body="{}", created_at=timezone.now(), outcome="404")
    for where in ("/team/", "/team/audit/?check=1", "/account/", "/", "/team/rules/", "/inbox/", "/sign-offs/1/"):
        look(where)
    for where in ("/team/webhooks/", f"/team/webhooks/{hook.pk}/", "/team/shares/"):
        look(where)
    for where in ("review/", "labels/?v=1&path=s1.p1", "activity/", "share/", ""):
        look(reviewed + where)
    page.locator(".presence .avatar").wait_for()
    page.get_by_role("button", name="Account: Lin").click()
    wrong.extend(f"menu: {each}" for each in axe_violations(page))
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in").wait_for()
    assert wrong == []
    assert all("404" in fault for fault in faults)
    faults.clear()


def test_a_review_beside_the_chain(page: Any, live_server: Any, settings: Any, tmp_path: Path) -> None:
    """With keys: a section is marked, the next thread is opened, a draft says why nobody comments on it."""
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team", "data": tmp_path})
    owner = make_member(local_member().team, "Lin", Role.OWNER)
    chain = _reviewed(owner)
    begin(chain, owner.user, NewThread(1, Thread.Kind.NODE, "s2.p1"), "Why?")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{live_server.url}/c/{chain.pk}/v/1/at/s1.p1")
    page.get_by_label("E-mail").fill("lin@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.locator("#s1-p1[aria-current]").wait_for()
    assert page.locator(".chain-bar").bounding_box()["height"] < 60, "one line"
    cut = """(() => {
        const box = document.querySelector(".chain-total").getBoundingClientRect();
        const facts = [...document.querySelectorAll(".chain-total > *")].map((each) => each.getBoundingClientRect());
        return facts.filter((each) => each.width && each.top < box.bottom - 1 && each.right > box.right + 1).length;
    })()"""
    assert page.evaluate(cut) == 0, "a fact without room is out of sight, not cut"
    page.get_by_role("button", name="Review", exact=True).first.click()
    page.locator("[data-review-link]").click()
    expect(page.locator("[data-panel]")).to_contain_text("0 of 3 sections viewed")
    assert axe_violations(page) == []
    page.wait_for_load_state()
    page.keyboard.press("v")
    expect(page.locator("#s1")).to_have_attribute("data-viewed", "")
    expect(page.locator("[data-panel]")).to_contain_text("1 of 3 sections viewed")
    page.keyboard.press("n")
    expect(page.locator("details#thread-2").get_by_role("article")).to_contain_text("Why?")
    expect(page.locator("[data-panel-node]")).to_contain_text("Mark §2 viewed")
    page.keyboard.press("f")
    page.get_by_label("Summary").fill("Fine so far")
    page.locator("#s1-p2 .node-line").click()
    expect(page.locator("[data-panel-node]")).to_contain_text("1.2")
    expect(page.get_by_label("Summary")).to_have_value("Fine so far")
    page.keyboard.press("c")
    page.locator("#new-body").press_sequentially("See @m")
    expect(page.get_by_role("option", name="Mei")).to_have_attribute("aria-selected", "true")
    assert axe_violations(page) == []
    page.keyboard.press("Enter")
    expect(page.locator("#new-body")).to_have_value("See @mei ")
    page.keyboard.press("Escape")
    page.locator("[data-action=edit]").click()
    page.locator(".row-form textarea").first.fill("Another drill.")
    page.keyboard.press("Control+Enter")
    page.locator("[data-draft-strip]").wait_for()
    expect(page.locator("[data-inspector-tabs]")).to_have_count(0)
    expect(page.locator(".row-form")).to_have_count(0)
    page.keyboard.press("c")
    expect(page.locator("[data-status]")).to_contain_text("Save it as a version to comment on it")
    Chain.objects.filter(pk=chain.pk).update(version=9)
    page.evaluate("document.body.dispatchEvent(new Event('tick'))")
    expect(page.locator(".presence")).to_contain_text("version 9 was saved")
