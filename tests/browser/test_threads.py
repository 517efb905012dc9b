"""Threads with a keyboard: words are selected and commented on, answered and resolved in place."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from chainviz.review.models import Comment, Thread
from tests.browser.test_page import PHONE, axe_violations
from tests.chains.making import STORY, make_chain

pytestmark = pytest.mark.django_db(transaction=True)


def test_selected_words_are_commented_on_answered_and_resolved(page: Any, live_server: Any) -> None:
    chain = make_chain(STORY)
    page.goto(f"{live_server.url}/c/{chain.pk}/v/1/at/s1.p2")
    row = page.locator("#s1-p2")
    row.get_by_text("hammer", exact=True).dblclick()
    page.get_by_role("button", name="Comment on this").click()
    form = page.locator("[data-composer-place] form")
    expect(form.get_by_label("Words in it")).to_have_value("hammer")
    form.get_by_label("Comment Markdown").fill("Why not another one?")
    assert axe_violations(page) == []
    page.reload()
    row.get_by_text("hammer", exact=True).dblclick()
    page.keyboard.press("c")
    expect(form.get_by_label("Comment Markdown")).to_have_value("Why not another one?")
    page.keyboard.press("Control+Enter")
    box = page.locator("details#thread-1")
    expect(box.get_by_role("article")).to_contain_text("Why not another one?")
    expect(form).to_have_count(0)
    expect(row.locator("mark.anchor")).to_have_text("hammer")
    box.locator("summary").first.click()
    row.get_by_role("link", name="Thread 1, open").click()
    expect(box).to_have_attribute("open", "")
    box.get_by_label("Reply to thread 1").fill("It is brick.")
    page.keyboard.press("Control+Enter")
    expect(box.get_by_role("article")).to_have_count(2)
    assert Comment.objects.count() == 2
    assert axe_violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.press("r")
    expect(box.get_by_role("button", name="Reopen")).to_be_visible()
    assert Thread.objects.get().is_resolved
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    page.goto(f"{live_server.url}/c/{chain.pk}/threads/?show=all")
    expect(page.get_by_role("heading", name="Threads")).to_be_visible()
    assert axe_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
