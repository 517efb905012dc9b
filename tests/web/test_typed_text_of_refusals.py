"""A form that is refused because its chain, comment or session is gone comes back with what was typed (issue 8)."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from chainviz.chains.models import Chain
from chainviz.review.models import Comment
from tests.chains.making import STORY, make_chain

pytestmark = pytest.mark.django_db
TYPED = "Something long that nobody wants to type again"


@pytest.mark.parametrize(
    ("address", "field"), [("v/1/comment/", "body"), ("edit/s1.p1?v=1", "s1.p1.m0.c0.text"), ("rename/", "title"), ("purge/", "values")]
)
def test_the_chain_was_moved_to_the_bin(client: Client, address: str, field: str) -> None:
    client.get("/")
    chain = make_chain(STORY)
    Chain.objects.update(trashed_at=timezone.now())
    answer = client.post(f"/c/{chain.pk}/{address}", {field: TYPED})
    assert (answer.status_code, TYPED in answer.content.decode()) == (404, True)


def test_the_comment_was_deleted_in_another_window(client: Client) -> None:
    client.get("/")
    chain = make_chain(STORY)
    client.post(f"/c/{chain.pk}/v/1/comment/", {"body": "note", "kind": "node", "path": "s1.p1"})
    at = f"/c/{chain.pk}/comments/{Comment.objects.get().pk}/"
    client.post(f"{at}delete/")
    answer = client.post(f"{at}edit/", {"body": TYPED})
    assert (answer.status_code, TYPED in answer.content.decode()) == (404, True)


def test_the_form_was_too_old() -> None:
    client = Client(enforce_csrf_checks=True)
    client.get("/")
    chain = make_chain(STORY)
    answer = client.post(f"/c/{chain.pk}/rename/", {"title": TYPED, "new_password": "not to be shown"})
    page = answer.content.decode()
    assert (answer.status_code, TYPED in page, "not to be shown" in page) == (403, True, False)


@pytest.mark.parametrize("body", ["x", "--b\r\nContent-Disposition: form-data; name=1\r\n"])
def test_a_form_that_cannot_be_read_is_refused_all_the_same(client: Client, body: str) -> None:
    client.get("/")
    kinds = ("multipart/form-data", "multipart/form-data; boundary=b")
    assert [client.post("/c/77/rename/", body, content_type=kind).status_code for kind in kinds] == [404, 404]
