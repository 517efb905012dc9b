"""Long texts that Inspect keeps once, among the attachments of a sample: `attachment://<hash>` stands where they belong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from chainviz.core.chain.messages import Image, Message, Part, Text, Thinking, ToolCall, ToolResult

_REFERENCE = re.compile(r"attachment://([0-9a-f]{32})")
_VALUE = re.compile(r'"\s*:\s*("(?:[^"\\]++|\\.)*+")', re.DOTALL)


def references(text: str) -> list[str]:
    """The hashes that the text refers to, each once."""
    return list(dict.fromkeys(_REFERENCE.findall(text))) if "attachment://" in text else []


def is_reference(text: str) -> bool:
    """Whether the text is nothing else."""
    return _REFERENCE.fullmatch(text.strip()) is not None


def attached(texts: Iterable[str], hash: str) -> str | None:
    """The text of that hash in what surrounds the messages; None where it has none."""
    for text in texts:
        at = text.find(f'"{hash}"')
        found = _VALUE.match(text, at + len(hash) + 1) if at >= 0 else None
        if found:
            try:
                return str(json.loads(found[1], strict=False))
            except ValueError:
                return None
    return None


def filled_in(messages: Iterable[Message], texts: Callable[[], Sequence[str]]) -> Iterator[Message]:
    """The messages with the attached texts in their places, for a document that has no attachments. `texts` is what
    surrounds the messages, asked for where one refers to it."""

    @lru_cache(maxsize=1)
    def around() -> Sequence[str]:
        return texts()

    def in_place(found: re.Match[str]) -> str:
        text = attached(around(), found[1])
        return found[0] if text is None else text

    for message in messages:
        parts = tuple(_filled(part, in_place) for part in message.parts)
        yield message if parts == message.parts else replace(message, parts=parts)


def _filled(part: Part, in_place: Callable[[re.Match[str]], str]) -> Part:
    match part:
        case Text():
            return replace(part, text=_REFERENCE.sub(in_place, part.text))
        case Thinking():
            return replace(part, content=_REFERENCE.sub(in_place, part.content))
        case Image():
            return replace(part, url=_REFERENCE.sub(in_place, part.url))
        case ToolCall():
            # arguments are JSON, so that a text goes into them with its escapes
            return replace(part, arguments=_REFERENCE.sub(lambda found: json.dumps(in_place(found))[1:-1], part.arguments))
        case ToolResult():
            media = tuple(replace(each, url=_REFERENCE.sub(in_place, each.url)) if isinstance(each, Image) else each for each in part.media)
            return replace(part, content=_REFERENCE.sub(in_place, part.content), media=media)
    return part
