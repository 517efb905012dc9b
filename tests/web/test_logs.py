"""One line of JSON for each request; neither it nor Django's own records hold an address, which may be a secret."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from chainviz.web.json_log import JsonFormatter
from chainviz.web.middleware.request_log import PathFilter


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What CHAINVIZ_LOG=json writes."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    handler.addFilter(PathFilter())
    loggers = [logging.getLogger(name) for name in ("chainviz.requests", "django.request")]
    for logger in loggers:
        logger.addHandler(handler)
    loggers[0].setLevel(logging.INFO)
    yield stream
    for logger in loggers:
        logger.removeHandler(handler)
    loggers[0].setLevel(logging.NOTSET)


def lines(written: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


def test_a_request_is_one_line_with_its_id(written: io.StringIO) -> None:
    response = Client().get("/healthz", {"q": "a secret"})
    (line,) = lines(written)
    assert line["request_id"] == response["X-Request-ID"]
    assert (line["method"], line["route"], line["status"]) == ("GET", "healthz", 200)
    assert "secret" not in written.getvalue()


@pytest.mark.django_db
def test_an_address_is_never_written(written: io.StringIO) -> None:
    Client().get("/nowhere/tok3n/")
    Client().get("/c/987654321/")
    assert "tok3n" not in written.getvalue()
    ours, django = lines(written)[-2:]
    assert django["message"] == "Not Found: /c/<int:chain_id>/"
    assert (ours["route"], ours["chain_id"], ours["status"]) == ("c/<int:chain_id>/", 987654321, 404)
    assert django["request_id"] == ours["request_id"]


@pytest.mark.parametrize(("proxies", "kept"), [("127.0.0.0/8", True), ("", False)])
def test_the_id_of_a_trusted_proxy_is_kept(settings: Any, proxies: str, kept: bool) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"trusted_proxies": proxies})
    response = Client().get("/healthz", headers={"X-Request-ID": "from-the-proxy"})
    assert (response["X-Request-ID"] == "from-the-proxy") is kept


def test_an_id_that_could_forge_a_line_is_replaced(settings: Any) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"trusted_proxies": "127.0.0.0/8"})
    assert " " not in Client().get("/healthz", headers={"X-Request-ID": "a b"})["X-Request-ID"]
