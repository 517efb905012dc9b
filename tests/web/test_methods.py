"""Pages take GET, HEAD and POST; every other method is answered with 405 and changes nothing."""

from __future__ import annotations

import pytest
from django.test import Client

from chainviz.review.models import Comment
from tests.chains.making import STORY, make_chain

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "PROPFIND"])
def test_page_refuses_other_methods(client: Client, method: str) -> None:
    chain = make_chain(STORY)
    for address in ("/", f"/c/{chain.pk}/v/1/", f"/c/{chain.pk}/threads/", f"/c/{chain.pk}/v/1/comment/", f"/c/{chain.pk}/export"):
        answer = client.generic(method, address)
        assert answer.status_code in (405, 404), address
        if answer.status_code == 405:
            assert answer["Allow"] == "GET, HEAD, POST"
            assert "<h1" in answer.content.decode()
    assert client.generic(method, "/").status_code == 405
    assert not Comment.objects.exists()


def test_api_still_states_its_own_methods(client: Client) -> None:
    answer = client.generic("DELETE", "/api/v1/chains")
    assert answer.status_code == 405
    assert answer["Content-Type"].startswith("application/json")
