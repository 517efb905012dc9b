"""A process renders few pages at once; requests with a body, and pages that have waited long, do not wait."""

from __future__ import annotations

import threading
from queue import Queue

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from chainviz.web import middleware
from chainviz.web.middleware import PAGES_AT_ONCE, PagesAtOnceMiddleware


class Site:
    """Pages that are rendered until `finish` is set."""

    def __init__(self) -> None:
        self.begun = Queue[str]()
        self.finish = threading.Event()
        self.ask = PagesAtOnceMiddleware(self.render)

    def render(self, request: HttpRequest) -> HttpResponse:
        if request.path == "/fails":
            raise ValueError(request.path)
        self.begun.put(f"{request.method} {request.path}")
        assert self.finish.wait(60)
        return HttpResponse()

    def start(self, request: HttpRequest) -> threading.Thread:
        thread = threading.Thread(target=self.ask, args=(request,), daemon=True)
        thread.start()
        return thread

    def begins(self) -> str:
        return self.begun.get(timeout=60)


def test_a_page_waits_until_another_is_rendered_but_a_form_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "PATIENCE", 600)
    site, make = Site(), RequestFactory()
    threads = [site.start(make.get("/page")) for _ in range(PAGES_AT_ONCE)]
    assert [site.begins() for _ in range(PAGES_AT_ONCE)] == ["GET /page"] * PAGES_AT_ONCE

    threads.append(site.start(make.get("/late")))
    threads.append(site.start(make.post("/form")))

    assert site.begins() == "POST /form"
    assert site.begun.empty()
    site.finish.set()
    assert site.begins() == "GET /late"
    for thread in threads:
        thread.join(60)


def test_a_page_that_has_waited_long_is_rendered_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "PATIENCE", 0.01)
    site, make = Site(), RequestFactory()
    threads = [site.start(make.get("/page")) for _ in range(PAGES_AT_ONCE + 1)]

    assert [site.begins() for _ in threads] == ["GET /page"] * (PAGES_AT_ONCE + 1)
    site.finish.set()
    for thread in threads:
        thread.join(60)


def test_a_page_that_fails_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "PATIENCE", 600)
    site, make = Site(), RequestFactory()
    for _ in range(PAGES_AT_ONCE):
        with pytest.raises(ValueError, match="/fails"):
            site.ask(make.get("/fails"))

    thread = site.start(make.get("/page"))

    assert site.begins() == "GET /page"
    site.finish.set()
    thread.join(60)
