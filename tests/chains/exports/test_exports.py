"""Files for people: whole, offline, and harmless whatever a transcript says."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client
from markdown_it import MarkdownIt

from chainviz.chains.models import Chain
from tests.chains.making import ai, human, make_chain, result

pytestmark = pytest.mark.django_db
EVIL = "<script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>"
MESSAGES = [
    {"role": "system", "content": "Be **brief**."},
    human(f"Look {EVIL}\n```\n</details>\n````\n# no heading"),
    human("![pixel](http://evil.example/pixel.png) [go](javascript:alert(1))"),
    ai(f"</pre></details>{EVIL}", ("c1", "read<b>", {"path": EVIL})),
    result("c1", f"```\n{EVIL}\n~~~~~~\n\x00\x1b[31m\u202e" + "long\n" * 2000),
    ai("Plain *words*."),
]


@pytest.fixture
def chain(client: Client) -> Chain:
    client.get("/")
    return make_chain(MESSAGES, f"run {EVIL[:8]}.json")


def taken(client: Client, chain: Chain, scope: str) -> Any:
    answer = client.get(f"/c/{chain.pk}/v/1/export?scope={scope}")
    assert answer.status_code == 200
    answer.text_whole = b"".join(answer.streaming_content).decode()
    return answer


class Seen(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_holds_everything_and_runs_nothing(client: Client, chain: Chain) -> None:
    page = taken(client, chain, "html")
    seen = Seen(page.text_whole)
    assert not seen.tags & {"script", "img", "link", "iframe", "form", "object", "base"}
    assert not {name for name in seen.attributes if name.startswith("on")}
    assert "default-src &#x27;none&#x27;" in page.text_whole
    words = "".join(seen.words)
    assert words.count("<script>alert(1)</script>") == 4
    assert "long\n" * 2000 in words
    assert "\x00" not in page.text_whole
    assert page.text_whole.count("<details") == page.text_whole.count("</details>")


def test_its_headers_keep_it_a_download(client: Client, chain: Chain) -> None:
    for scope in ("html", "markdown", "chain"):
        answer = taken(client, chain, scope)
        assert answer["Content-Type"] == "application/octet-stream"
        assert answer["Content-Disposition"].startswith("attachment")
        assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert answer["X-Content-Type-Options"] == "nosniff"


def test_markdown_stays_text_where_html_is_allowed(client: Client, chain: Chain) -> None:
    text = taken(client, chain, "markdown").text_whole
    html = MarkdownIt("commonmark", {"html": True}).render(text)
    seen = Seen(html)
    assert not seen.tags & {"script", "img", "a"}
    assert "> Plain *words*." in text
    assert len(re.findall("<h[123]>", html)) == 1 + 1 + 6
    assert "\x1b" not in text


def test_the_page_for_exports_says_what_a_scan_found(client: Client, chain: Chain) -> None:
    assert "No secrets were found" in client.get(f"/c/{chain.pk}/v/1/export").content.decode()
    other = make_chain([human("Mail it"), ai("To ada.lovelace@analytical-engine.org?")], "other.json")
    page = client.get(f"/c/{other.pk}/v/1/export").content.decode()
    assert "1 possible secret" in page
    assert f"/c/{other.pk}/do/mask/?v=1" in page
    assert "ada.lovelace" not in page
