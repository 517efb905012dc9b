"""What was redacted may stand a second time around the messages: run logs keep results, steps keep whole queries.

A copy is a string of the document that holds a redacted text, or is one but for a label before it. Only strings are
looked at, and short texts only where they are all of a string: replacing `ok` inside of words would damage the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from chainviz.core.messages import Message, Part, Text, Thinking, ToolCall, ToolResult

SHORT = 8
"""Characters below which a text is no copy of anything."""
STRIDE = 64
WINDOW = 40
LONG = STRIDE + WINDOW
"""From here on a text is found anywhere in a string: some window of it begins at a multiple of the stride."""
_STRING = re.compile(rf'"(?:[^"\\]|\\.){{{SHORT},}}"', re.DOTALL)


def removed_texts(old: Message, new: Message) -> Iterator[str]:
    kept = {text for part in new.parts for text in _texts(part)}
    yield from (text for part in old.parts for text in _texts(part) if text not in kept)


def _texts(part: Part) -> Iterator[str]:
    match part:
        case Text():
            yield part.text
        case ToolResult() | Thinking():
            yield part.content
        case ToolCall():
            yield part.arguments
    if isinstance(part, Text | ToolCall) and part.reasoning is not None:
        yield part.reasoning.content


class Copies:
    """Redacted texts, prepared once for many pieces of a document."""

    def __init__(self, texts: Iterable[str], placeholder: str) -> None:
        self._placeholder = placeholder
        self._whole: set[str] = set()
        self._starts: dict[str, list[tuple[str, int]]] = {}
        """Windows of the first stride of each long text: where the text begins before the window."""
        self._inside: dict[str, list[str]] = {}
        """Windows of long texts, a stride apart."""
        for text in dict.fromkeys(texts):
            self._take(text)

    def _take(self, text: str) -> None:
        label, _, rest = text.partition("\n")
        self._whole |= {each for each in (text.strip(), rest.strip() if len(label) < SHORT * 4 else "") if len(each) >= SHORT}
        if len(text) < LONG:
            return
        for offset in range(STRIDE):
            self._starts.setdefault(text[offset : offset + WINDOW], []).append((text, offset))
        for offset in range(0, len(text) - WINDOW + 1, STRIDE):
            self._inside.setdefault(text[offset : offset + WINDOW], []).append(text)

    def without(self, piece: str) -> str:
        """A piece of a JSON document, without copies."""
        return _STRING.sub(self._string, piece) if self._whole else piece

    def _string(self, found: re.Match[str]) -> str:
        spelled = found[0]
        try:
            text = json.loads(spelled, strict=False)
        except ValueError:
            return spelled
        new = self._new(text)
        return spelled if new == text else json.dumps(new, ensure_ascii=spelled.isascii())

    def _new(self, text: str) -> str:
        if text.strip() in self._whole or self._is_inside(text.strip()):
            return self._placeholder
        at = 0
        while at + WINDOW <= len(text):
            start, length = self._at(text, at)
            if length:
                text = text[:start] + self._placeholder + text[start + length :]
                at = start + len(self._placeholder)
            else:
                at += STRIDE
        return text

    def _at(self, text: str, at: int) -> tuple[int, int]:
        """Begin and length of the redacted text that a window of this one belongs to; the longest, if there are several."""
        known: Sequence[tuple[str, int]] = self._starts.get(text[at : at + WINDOW], ())
        fits = [(at - offset, len(each)) for each, offset in known if at >= offset and text.startswith(each, at - offset)]
        return max(fits, key=lambda fit: fit[1], default=(0, 0))

    def _is_inside(self, text: str) -> bool:
        if len(text) < LONG:
            return False
        windows = (text[offset : offset + WINDOW] for offset in range(STRIDE))
        return any(text in each for window in windows for each in self._inside.get(window, ()))
