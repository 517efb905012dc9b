"""Pages to post: numbers and places of a comparison or a repair, and no words of messages."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.chains.making import ai, human, make_chain
from tests.review.test_places import apply

pytestmark = pytest.mark.django_db
KEY = "AKIAIOSFODNN7EXAMPLQ"


def test_a_page_to_post_contains_numbers_and_masks_secrets(client: Client) -> None:
    one = make_chain([human(f"Use {KEY}"), ai("The word is heliotrope.")], "one.json")
    other = make_chain([human(f"Use {KEY}"), ai("The word is amaranth.")], "other.json")
    apply(one, "edit", path="s1.p1.m0.c0", action="text", text="The word is vermilion.")
    for address in (f"/compare/{one.pk}/{other.pk}/?as=html", f"/c/{one.pk}/diff/1..2/?as=html"):
        answer = client.get(address)
        page = answer.content.decode()
        assert answer["Content-Disposition"].startswith("attachment")
        assert "<script" not in page and "src=" not in page and "default-src" in page
        assert not any(word in page for word in (KEY, "heliotrope", "amaranth", "vermilion"))
        assert "possible secret" in page and "Not in this page" in page and "<td>1.1</td>" in page
    assert "<h2>Strategies</h2>" in client.get(f"/c/{one.pk}/do/compact/simulate/?as=html").content.decode()
