from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django_htmx.middleware import HtmxMiddleware

from chainviz.web.http import wants_fragment


@pytest.mark.parametrize(
    ("headers", "fragment"),
    [
        ({}, False),
        ({"HX-Request": "true"}, True),
        ({"HX-Request": "true", "HX-Boosted": "true"}, False),
        ({"HX-Request": "true", "HX-History-Restore-Request": "true"}, False),
    ],
    ids=["browser", "htmx", "boosted", "back"],
)
def test_back_and_boosted_links_get_the_whole_page(headers: dict[str, str], fragment: bool) -> None:
    request = RequestFactory().get("/", headers=headers)
    HtmxMiddleware(lambda _: HttpResponse())(request)
    assert wants_fragment(request) is fragment
