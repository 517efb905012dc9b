"""JSON and Markdown of a transcript as HTML. Every token of JSON keeps its own spelling; Markdown gives no raw HTML and no images."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape, unescape

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from chainviz.chains.render.visible_text import marks, safe
from chainviz.core.documents.json.long_values import length_of

MOST_MARKDOWN = 64_000
MOST_ELEMENTS = 240
"""The most elements of a text, since a page has at most 1,400; a text with more is shown raw."""

LONGEST_WORD = 500
LONGEST_ADDRESS = 80
"""The most characters that are shown of an image's address, which may contain the whole image."""

TAGS = {
    "p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "h1", "h2", "h3", "h4", "h5", "h6", "a", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip

_HEADING = re.compile(r"<(/?)h([1-6])>")
_HOST = re.compile(r"https?:/*(?:[^/?#@]*@)?([^/?#]*)")
_LINK = re.compile(r'(<a href="(https?:[^"]*)"[^>]*>)(.*?)</a>', re.DOTALL)

_parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": 40}).enable(["table", "strikethrough"])


def _image(_renderer: object, tokens: Sequence[Token], index: int, _options: object, _env: object) -> str:
    """Return a link, so that an image is neither fetched nor hidden: a person may search for its address."""
    words, address = escape(tokens[index].content or "image"), str(tokens[index].attrs["src"])
    is_in_link = sum(each.nesting for each in tokens[:index] if each.type.startswith("link_")) > 0
    if is_in_link or not address.startswith(("http://", "https://")):
        return f"{words} ({escape(address[:LONGEST_ADDRESS])})"
    return f'<a href="{escape(address)}">{words}</a>'


_parser.add_render_rule("image", _image)


def prose(text: str) -> str:
    """Render Markdown as HTML, or the plain text if that would be too large."""
    html = _render(text) if len(text) <= MOST_MARKDOWN else None
    if html is None or html.count("</") > MOST_ELEMENTS:
        return plain(text)
    return f'<div class="prose" hx-disable{_unbroken(text)}>{html}</div>'


def plain(text: str) -> str:
    return f'<pre class="plain" hx-disable{_unbroken(text)}>{safe(text)}</pre>'


def _unbroken(text: str) -> str:
    """Mark a text with a long word, such as base64. A browser that kerns one shapes the rest of it again for every line."""
    return " data-unbroken" if max(map(len, text.split()), default=0) > LONGEST_WORD else ""


@lru_cache(maxsize=256)
def _render(text: str) -> str:
    html = nh3.clean(
        _parser.render(marks(text)),
        tags=TAGS,
        attributes={"*": set(), "a": {"href"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        strip_comments=True,
    )
    return _LINK.sub(_show_target, _HEADING.sub(_as_paragraph, html))


def _as_paragraph(tag: re.Match[str]) -> str:
    """Return a heading of a message as a paragraph, since as a heading of our page it would be out of order."""
    return "</p>" if tag[1] else f'<p class="heading-{tag[2]}">'


def _show_target(link: re.Match[str]) -> str:
    host = _HOST.match(unescape(link[2]))[1]  # type: ignore[index]  # every such link has one, if an empty one
    return link[0] if host in link[3] else f"{link[0]}<small> ({escape(host)})</small>"


MOST_JSON = 256_000
MOST_TOKENS = 160
"""The most coloured tokens of a text; more would fill the page with elements."""
DEEPEST = 12
"""The most indented levels; deeper ones would leave their column."""

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN = re.compile(rf"{_STRING}|[{{}}\[\],:]|[^\s{{}}\[\],:\"]+", re.DOTALL)
_PAINT = re.compile(rf"(?P<string>{_STRING})(?P<colon>\s*:)?|(?P<number>-?\b\d[\d.eE+-]*)|(?P<literal>\b(?:true|false|null)\b)", re.DOTALL)
_LINE_BREAK = re.compile(r"(?<!\\)((?:\\\\)*)\\n")


def lay_out(text: str) -> str | None:
    """Return the JSON object or list in `text`, indented, or None for anything else. A line break in a string is shown
    as ↵ and a new line."""
    head = text.lstrip()[:1]
    if head not in ("{", "[") or length_of(text) > MOST_JSON or not _is_json(text):
        return None
    return "".join(lead + shown for _, lead, shown in _layout_tokens(text))


def place_in_layout(text: str, place: int) -> int:
    """Return where the characters before `place` of a JSON text end in what `lay_out` makes of it."""
    end = 0
    for start, lead, shown in _layout_tokens(text):
        if start >= place:
            break
        end += len(lead) + min(place - start, len(shown))
    return end


def _layout_tokens(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the place of each token in the text, the white space before it, and its display form."""
    depth = 0
    previous = ""
    for found in _TOKEN.finditer(text):
        token, lead = found[0], ""
        if token in "}]":
            depth -= 1
            if previous not in ("{", "["):
                lead = _line(depth)
        elif previous in ("{", "[", ","):
            lead = _line(depth)
        elif previous == ":":
            lead = " "
        yield found.start(), lead, _break_lines(token)
        if token in ("{", "["):
            depth += 1
        previous = token


def _line(depth: int) -> str:
    return "\n" + "  " * min(depth, DEEPEST)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _break_lines(token: str) -> str:
    return _LINE_BREAK.sub(r"\1↵\n", token) if token.startswith('"') and "\\n" in token else token


def paint(text: str) -> str:
    """Render formatted JSON as escaped HTML, with colours for keys and values unless there are too many."""
    found = list(_PAINT.finditer(text))
    if len(found) > MOST_TOKENS:
        return safe(text)
    out: list[str] = []
    place = 0
    for token in found:
        out.append(safe(text[place : token.start()]))
        kind = "key" if token["colon"] else token.lastgroup
        word = token["string"] or token[0]
        out.append(f'<span class="json-{kind}">{safe(word)}</span>{token["colon"] or ""}')
        place = token.end()
    out.append(safe(text[place:]))
    return "".join(out)
