"""A comment on a node that the chain does not have is refused."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.chains.making import STORY, make_chain

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.mark.parametrize("path", ["²", "nonsense", "s99.p99", f"s{10**30}", "s1.p1.m99", "x," * 3000, "\0<b>'\""])
def test_a_comment_on_an_unknown_node_is_not_found(client: Client, path: str) -> None:
    address = f"/c/{make_chain(STORY).pk}/v/1/comment/"
    assert client.get(address, {"path": path}).status_code == 404
    assert client.post(address, {"path": path, "body": "Hm"}).status_code == 404
