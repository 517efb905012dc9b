"""A comment as HTML: Markdown, mentions of members, and suggestion blocks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.render.markdown import prose
from chainviz.review.threads.mentions import MENTION

_SUGGESTION = re.compile(r"^```suggestion[ \t]*\n(.*?)^```[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_TAG = re.compile(r"(<[^>]*>)")
_CODE = re.compile(r"<(/?)(?:code|pre|a)\b")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A text that is to stand in the place of what the thread is about."""

    text: str


def suggestions_in(body: str) -> list[Suggestion]:
    return [Suggestion(found[1].removesuffix("\n")) for found in _SUGGESTION.finditer(body)]


def comment_html(body: str, handles: Collection[str]) -> Iterator[SafeString | Suggestion]:
    """Yields the comment in pieces. `handles`: the members who can be mentioned."""
    place = 0
    for found in _SUGGESTION.finditer(body):
        yield from _prose(body[place : found.start()], handles)
        yield Suggestion(found[1].removesuffix("\n"))
        place = found.end()
    yield from _prose(body[place:], handles)


def _prose(text: str, handles: Collection[str]) -> Iterator[SafeString]:
    if text.strip():
        yield mark_safe("".join(_with_mentions(prose(text), handles)))  # sanitised by prose


def _with_mentions(html: str, handles: Collection[str]) -> Iterator[str]:
    depth = 0
    for piece in _TAG.split(html):
        if piece.startswith("<"):
            opens_or_ends = _CODE.match(piece)
            depth += (-1 if opens_or_ends[1] else 1) if opens_or_ends else 0
            yield piece
        elif depth:
            yield piece
        else:
            yield MENTION.sub(
                lambda found: f'<span class="mention">{found[0]}</span>' if found[1].lower() in handles else found[0],
                piece,
            )
