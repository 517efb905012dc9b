"""Markdown of strangers: formatted, but never a script, a picture, a style or a page-filling bomb."""

from __future__ import annotations

from itertools import count

import pytest

from chainviz.chains.exports.documents import STYLE
from chainviz.chains.render.json_text import MOST_ELEMENTS, MOST_MARKDOWN, plain, prose
from tests.cpu import within_cpu_seconds


def test_what_markdown_is_for_works() -> None:
    html = prose("# Title\n\nA **bold** word, `code`, ~~gone~~.\n\n- one\n- two\n\n| a |\n|---|\n| 1 |\n\n```\nx\n```")
    pieces = ['<p class="heading-1">Title</p>', "<strong>bold</strong>", "<code>code</code>", "<s>gone</s>", "<li>one</li>", "<td>1</td>"]
    assert [piece for piece in pieces if piece not in html] == []


def test_a_long_word_is_marked_so_that_it_is_not_kerned() -> None:
    for render in (prose, plain):
        assert " data-unbroken>" in render("base64: " + "A" * 600)
        assert "data-unbroken" not in render("A word. " * 600)
    assert "[data-unbroken] { font-kerning: none; }" in STYLE


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "![x](http://evil.example/a.png)",
        "[x](javascript:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "[x](vbscript:x)",
        "<a href='x' hx-get='/y' onclick='z'>x</a>",
        "<style>*{display:none}</style>",
        '[x](http://a "onmouseover=alert(1)")',
        "<svg/onload=alert(1)>",
        "<iframe src=//evil.example>",
        "```html\n<script>alert(1)</script>\n```",
    ],
)
def test_nothing_dangerous_gets_through(text: str) -> None:
    html = prose(text).removeprefix('<div class="prose" hx-disable>')
    for tag in ("<script", "<img", "<style", "<svg", "<iframe", 'javascript:alert(1)"', "title=", 'onclick="', "<a hx-"):
        assert tag not in html


def test_a_link_says_where_it_leads() -> None:
    html = prose("[your bank](https://evil.example/login)")
    assert "(evil.example)" in html
    assert 'rel="noopener noreferrer nofollow"' in html


def test_an_image_is_a_link_that_says_where_it_leads() -> None:
    assert ">chart</a><small> (evil.example)</small>" in prose("![chart](http://evil.example/a.png?stolen=1)")
    assert 'href="http://evil.example/?a=1&amp;b=2"' in prose("![](http://evil.example/?a=1&b=2)")
    assert "badge (http://evil.example/b.svg)" in prose("[![badge](http://evil.example/b.svg)](https://good.example/)")
    assert "dot (data:image/png;base64,AAAA" in prose(f"![dot](data:image/png;base64,{'A' * 400})")
    assert len(prose(f"![dot](data:image/png;base64,{'A' * 400})")) < 300


@pytest.mark.parametrize("text", ["http://[bad/", "[u](http://[bad/)", "[u](http://)", "<http://[::1>"])
def test_broken_addresses_break_nothing(text: str) -> None:
    assert prose(text)


@pytest.mark.parametrize("text", ["x" * (MOST_MARKDOWN + 1), "- a\n" * (MOST_ELEMENTS + 10), "|a" * 300 + "|\n" + "|-" * 300 + "|\n"])
def test_what_would_fill_the_page_is_shown_as_written(text: str) -> None:
    assert prose(text).startswith('<pre class="plain"')


@pytest.mark.parametrize("text", ["[" * 16_000, ">" * 5_000, "_a**b_c**" * 4_000, "`" * 30_000, "http://a." * 7_000])
def test_bombs_end_soon(text: str) -> None:
    endings = count()  # what was rendered once is remembered
    within_cpu_seconds(3, lambda: prose(f"{text}\n\n{next(endings)}"))
