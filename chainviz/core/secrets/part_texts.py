"""The texts inside a part (also in data: URLs and in members of its source that no part shows), and the part with one replaced."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from chainviz.core.chain.messages import Binary, Fragment, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import encode_base64
from chainviz.core.documents.json.edit import CUT, cut_strings
from chainviz.core.documents.units import Pointer

TEXT, REASONING, ARGUMENTS, CONTENT, ADDRESS, FILE, OPAQUE, MEDIA, CARRIED = (
    "text", "reasoning", "arguments", "content", "address", "file", "opaque", "media", "carried",
)  # fmt: skip
JSON_PLACES = frozenset((ARGUMENTS, OPAQUE))
"""Texts that are JSON and must stay valid JSON."""


def texts_of(part: Part) -> Iterator[tuple[str, str]]:
    """Yield the texts of a part as (place, text), including those in data: URLs. Encrypted reasoning and images contain
    no text."""
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
    """Return the part with another text at `place`, or None if the part has to go, since changed signed reasoning would
    be refused."""
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


_CARRIED = re.compile(
    r"data:(?!image\\?/)[\w.+-]{1,80}\\?/[\w.+-]{1,80}(?:;[\w.+=-]{1,80}){0,8}?;base64,"
    r"((?:[A-Za-z0-9+/_-]|\\/)[A-Za-z0-9+/_-]*(?:\\/[A-Za-z0-9+/_-]*)*={0,2})"
)
"""JSON may spell / as \\/."""


def text_in(content: bytes) -> str | None:
    """Return the bytes of a file as text, or None if they are not text."""
    if b"\0" in content[:4096]:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def carried_texts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number of each URL that carries a text, and that text."""
    for number, match in enumerate(_CARRIED.finditer(text) if ";base64," in text else ()):
        found = _decoded(match[1])
        if found is not None:
            yield number, found


def with_carried(text: str, number: int, new: str) -> str:
    """Return the text with other content in the data URL of this number."""
    match = list(_CARRIED.finditer(text))[number]
    return text[: match.start(1)] + encode_base64(new.encode("utf-8", "surrogatepass")) + text[match.end(1) :]


def _decoded(encoded: str) -> str | None:
    plain = encoded.replace("\\/", "/").rstrip("=")
    try:
        return text_in(base64.b64decode(plain + "=" * (-len(plain) % 4), altchars=b"-_" if set("-_") & set(plain) else None))
    except (ValueError, binascii.Error):
        return None


# Members of a message's source may belong to no part, such as `toolUseResult` of a Claude Code line.


SHORT = 200
"""The longest member, in characters, that is a field of its own if a part's text also contains it, such as a password."""


class _Members(list[tuple[str, Any]]):
    """The members of an object, including those whose name is repeated later, since they are in the file too."""


_DECODER = json.JSONDecoder(object_pairs_hook=_Members)
CUT_TEXT = json.loads(CUT)


def _members(text: str) -> Any:
    """Return the decoded JSON, or None if it is not JSON."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class SourceField:
    place: Pointer
    text: str
    """The text with its key, which rules check too."""

    @property
    def pointer(self) -> str:
        """A JSON pointer in the unit."""
        return "".join(f"/{_escaped(str(step))}" for step in self.place)


def fields(message: Message, blocks_at: Pointer) -> Iterator[SourceField]:
    """Yield the fields of a message from which no part was read, in the order of the source; nothing if it is not JSON.
    `blocks_at`: the place of the blocks in a unit, which tell apart the messages it gives. Members beside them belong
    to its first message.
    """
    texts = [text for part in message.parts for _, text in texts_of(part)]
    texts += [getattr(part, name, "") for part in message.parts for name in ("signature",)]
    known = {CUT_TEXT, *texts}
    for fragment in message.source:
        unit = _members(cut_strings(fragment.text, texts)[0]) or _members(fragment.text)
        is_later = (fragment.blocks or (0,))[0] != 0
        for pointer, key, leaf in _leaves(unit, fragment, blocks_at):
            text = leaf if isinstance(leaf, str) else str(leaf)
            is_known = text in known or (len(text) > SHORT and text in "\n".join(texts))
            if not is_known and not (is_later and pointer[: len(blocks_at)] != blocks_at):
                yield SourceField(pointer, f'"{key}":"{text}"')


def _leaves(unit: Any, fragment: Fragment, blocks_at: Pointer) -> Iterator[tuple[Pointer, str, str | int | float]]:
    """Yield the texts and numbers of the message, each with its pointer and its key."""
    waiting: list[tuple[Pointer, str, Any]] = [((), "", unit)]
    while waiting:
        pointer, key, value = waiting.pop()
        if isinstance(value, _Members):
            waiting += [((*pointer, name), name, each) for name, each in reversed(value)]
        elif isinstance(value, list):
            own = list(range(len(value)))
            if fragment.blocks is not None and pointer == blocks_at:
                own = [place for place in own if place in fragment.blocks]
            waiting += [((*pointer, i), key, value[i]) for i in reversed(own)]
        elif value is not None and not isinstance(value, bool):
            yield pointer, key, value


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
