"""The texts inside a part, and the part with another text in one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chainviz.core.chain.messages import Binary, Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.secrets.data_urls import carried_texts, text_in, with_carried

TEXT, REASONING, ARGUMENTS, CONTENT, ADDRESS, FILE, OPAQUE, MEDIA, CARRIED = (
    "text", "reasoning", "arguments", "content", "address", "file", "opaque", "media", "carried",
)  # fmt: skip
JSON_PLACES = frozenset((ARGUMENTS, OPAQUE))
"""Texts that are JSON and have to stay JSON."""


def texts_of(part: Part) -> Iterator[tuple[str, str]]:
    """(place, text). Encrypted reasoning and pictures hold no text; a data: URL may carry one."""
    for place, text in _own_texts(part):
        yield place, text
        if not place.startswith(MEDIA):
            yield from ((f"{place} {CARRIED} {number}", carried) for number, carried in carried_texts(text))
    if isinstance(part, Text | ToolCall) and part.reasoning is not None:
        yield REASONING, part.reasoning.content


def _own_texts(part: Part) -> Iterator[tuple[str, str]]:
    match part:
        case Text():
            yield TEXT, part.text
        case ToolCall():
            yield ARGUMENTS, part.arguments
        case ToolResult():
            yield CONTENT, part.content
            for number, item in enumerate(part.media):
                for place, text in texts_of(item):
                    yield f"{MEDIA} {number} {place}", text
        case Thinking() if not part.redacted:
            yield REASONING, part.content
        case Image() if not part.url.startswith("data:image/"):
            yield ADDRESS, part.url
        case Binary():
            yield from _file_text(part.content)
        case Opaque():
            yield OPAQUE, part.text


def _file_text(content: bytes) -> Iterator[tuple[str, str]]:
    text = text_in(content)
    if text is not None:
        yield FILE, text


def with_text(part: Part, place: str, text: str) -> Part | None:
    """None where the part has to go: signed reasoning that differs would be refused."""
    outer, is_carried, number = place.rpartition(f" {CARRIED} ")
    if is_carried:
        return with_text(part, outer, with_carried(dict(texts_of(part))[outer], int(number), text))
    match part:
        case Text() | ToolCall() if place == REASONING and part.reasoning is not None:
            signed = bool(part.reasoning.signature)
            return replace(part, reasoning=None if signed else replace(part.reasoning, content=text))
        case Text() | Opaque():
            return replace(part, text=text)
        case ToolCall():
            return replace(part, arguments=text)
        case ToolResult() if place.startswith(MEDIA):
            _, number, inner = place.split(" ", 2)
            item = with_text(part.media[int(number)], inner, text)
            assert isinstance(item, Image | Binary)
            at = int(number)
            return replace(part, media=(*part.media[:at], item, *part.media[at + 1 :]))
        case ToolResult():
            return replace(part, content=text)
        case Thinking():
            return None if part.signature else replace(part, content=text)
        case Image():
            return replace(part, url=text)
        case Binary():
            return replace(part, content=text.encode("utf-8", "surrogatepass"))
