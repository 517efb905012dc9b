"""Each request is logged as one line of JSON. Neither it nor Django's own records contain an address, which may be a secret."""

from __future__ import annotations

import io
import json
import logging
import logging.config
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from chainviz.web.logs import JsonFormatter, TextFormatter
from chainviz.web.middleware import PathFilter


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """Return the records that CHAINVIZ_LOG=json writes."""
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


FORGED = "2026-01-01 00:00:00,000 INFO django.request signed in as owner"


def text_lines(message: str, *given: Any, fault: BaseException | None = None) -> list[str]:
    """Return the lines that CHAINVIZ_LOG=text writes."""
    formatter = TextFormatter(**{"fmt": settings.LOGGING["formatters"]["text"]["fmt"]})
    exc_info = (type(fault), fault, fault.__traceback__) if fault else None
    record = logging.LogRecord("chainviz.test", logging.WARNING, "", 1, message, given, exc_info)
    return formatter.format(record).split("\n")


def test_text_of_a_person_forges_no_line_and_reaches_no_terminal() -> None:
    (line,) = text_lines("%s could not be imported", f"run.json\n{FORGED}\r\x1b]0;owned\x07\x9b2J\u2028\u202e\ud800")
    assert line.isprintable() and "\\u000a2026-01-01" in line and "\\u001b]0;owned\\u0007\\u009b2J\\u2028\\u202e\\ud800" in line
    assert text_lines("Zoë 山田 — 3 chains")[0].endswith("WARNING chainviz.test Zoë 山田 — 3 chains")


def test_the_text_of_a_fault_stays_below_its_record() -> None:
    try:
        raise ValueError(f"bad\n{FORGED}\x1b[2J")
    except ValueError as fault:
        first, *rest = text_lines("it failed", fault=fault)
    assert first.endswith("it failed") and len(rest) > 3
    assert all(line.startswith("  ") and line.isprintable() for line in rest)
    assert any(FORGED in line for line in rest)


def test_the_text_log_is_what_the_settings_name() -> None:
    logged = logging.config.DictConfigurator(settings.LOGGING).configure_formatter(dict(settings.LOGGING["formatters"]["text"]))
    assert isinstance(logged, TextFormatter)
