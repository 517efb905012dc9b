"""Commented words are marked where a page shows them, however it shows them."""

from __future__ import annotations

import re
from html import unescape

import pytest

from chainviz.chains.render.parts import Reading, part_html
from chainviz.chains.render.text_marks import TextMark
from chainviz.core.chain.messages import Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.paths import parse_path
from chainviz.core.review import part_text

PATH = parse_path("s1.p1.m0.c0")


def shown(part: Part, *ranges: tuple[int, int], as_written: bool = False) -> str:
    text = part_text(part)
    marks = [TextMark(start, end, text[start:end], f"#thread-{n}", f"Thread {n}", "open") for n, (start, end) in enumerate(ranges, 1)]
    return part_html(Reading("/c/1/", as_written=as_written, marks={PATH: marks}), PATH, part)


def place(text: str, words: str, nth: int = 0) -> tuple[int, int]:
    start = [each.start() for each in re.finditer(re.escape(words), text)][nth]
    return start, start + len(words)


def marked(html: str) -> list[str]:
    return [unescape(re.sub("<[^>]*>", "", each)) for each in re.findall(r"<mark[^>]*>(.*?)</mark>", html)]


MARKDOWN = "The **big** dog saw [a dog](http://dog.example/dog) & a <dog>.\n\n- one dog\n- two dogs"


@pytest.mark.parametrize(("nth", "before"), [(0, "</strong> "), (1, ">a "), (4, " &lt;"), (5, "<li>one ")])
def test_words_of_markdown_are_marked_at_their_own_place(nth: int, before: str) -> None:
    html = shown(Text(MARKDOWN), place(MARKDOWN, "dog", nth))
    assert f'{before}<mark class="anchor" data-state="open">dog</mark>' in html and len(marked(html)) == 1


def test_a_range_may_cross_what_markdown_makes_of_it() -> None:
    html = shown(Text(MARKDOWN), place(MARKDOWN, "big** dog saw [a dog"))
    assert marked(html) == ["big", " dog saw ", "a dog"]
    assert html.count('href="#thread-1"') == 1
    assert html.index("</a>") < html.index('href="#thread-1"'), "no link within a link"


TEXT = 'a & b <c>\r\n"x"\x00 a & b'


def test_text_as_it_is_written_is_marked_exactly() -> None:
    html = shown(Text(TEXT), place(TEXT, "a & b", 1), place(TEXT, "<c>"), as_written=True)
    assert marked(html) == ["<c>", "a & b"]
    assert unescape(re.sub("<[^>]*>", "", html)) == 'a & b <c>\n"x"␀ a & b'


JSON = '{"a":{"city":"Bonn","note":"one\\ntwo"},"b":["Bonn",{"city":"Rome"}]}'


@pytest.mark.parametrize("as_written", [False, True])
@pytest.mark.parametrize("words", ['"Rome"', "two", '["Bonn",{"city":"Rome"}]', "one\\ntwo"])
def test_json_is_marked_as_it_is_laid_out(words: str, as_written: bool) -> None:
    for part in (ToolCall("c", "find", JSON), ToolResult("c", "find", JSON)):
        found = "".join(marked(shown(part, place(JSON, words), as_written=as_written).replace("\n", " ")))
        assert re.sub(r"\s", "", found) == words.replace("\\n", "\\n" if as_written else "↵")


def test_ranges_that_overlap_keep_both_links() -> None:
    html = shown(Text("one two three"), (0, 7), (4, 13))
    assert marked(html) == ["one ", "two", " three"]
    assert html.index("#thread-1") < html.index(" three") < html.index("#thread-2")


def test_a_text_that_no_longer_says_it_is_not_marked() -> None:
    mark = TextMark(0, 3, "one", "#thread-1", "Thread 1", "open")
    assert "<mark" not in part_html(Reading("/", marks={PATH: [mark]}), PATH, Text("xxx two"))


def test_only_what_is_shown_of_a_long_text_is_marked() -> None:
    text = "line\n" * 1_000
    html = shown(ToolResult("c", "find", text), (0, 4), (1_998, 2_003), (4_000, 4_004))
    assert marked(html.replace("\n", " ")) == ["line", "e "]
    assert "#thread-2" in html and "#thread-3" not in html


def test_reasoning_is_marked() -> None:
    assert marked(shown(Thinking("I think so."), (2, 7))) == ["think"]
