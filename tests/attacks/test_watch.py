"""The watch hears each thing that a string could do: these pages hold strings as they are."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.attacks import urls
from tests.attacks.corpus import IN_A_ROUND, everything, strings
from tests.attacks.watch import Watch, report_only, sink
from tests.waiting import PATIENCE, wait_for

pytestmark = pytest.mark.django_db(transaction=True)
HARM = {
    "string 7": "<script>pwned(7)</script>",
    "runs a script of its own": "<img src=x onerror=void(0)>",
    "dialog: 7": "<script>alert(7)</script>",
    "asks another origin": "<img src=http://SINK/picture.png>",
    "policy: style-src": "<style>p { color: red }</style>",
    "has a frame": "<iframe srcdoc=x></iframe>",
    "an element": "<object></object>",
    "an attribute": "<p onclick=pwned(7)>x</p>",
    "an address that runs": "<a href=javascript:pwned(7)>x</a>",
    "another origin": "<form action=http://SINK/form></form>",
    "not escaped": "<input name=note>",
}


def test_the_watch_hears_what_a_string_does(page: Any, live_server: Any, settings: Any, monkeypatch: Any) -> None:
    settings.ROOT_URLCONF = urls.__name__
    page.context.set_default_timeout(1000 * PATIENCE)
    report_only(monkeypatch)
    with sink() as other:
        watch = Watch(page, live_server.url, HARM.values())
        for number, (what, string) in enumerate(HARM.items()):
            urls.ANSWERS[:] = [b"<!doctype html><title>x</title>" + string.replace("SINK", other.host).encode()]
            watch.open("/shown/0", f"page {number}")
            heard = re.compile(f"{re.escape(what)}.* on page {number}")
            wait_for(lambda: any(map(heard.match, watch.hits)), tell=lambda: (what, watch.hits))  # noqa: B023
        wait_for(lambda: "GET /picture.png" in other.visits)
        before = len(watch.hits)
        for string in HARM.values():
            watch.read("a page that is only read", string)
        assert len(watch.hits) - before >= len(HARM)


def test_the_corpus_has_strings_for_every_context() -> None:
    assert len(everything()) == len(set(everything())) >= 600
    assert len(strings()) >= 24
    first = set(everything()[:IN_A_ROUND])
    assert [name for name, held in strings().items() if not first & set(held)] == [], "the ordinary suite has some of each"
