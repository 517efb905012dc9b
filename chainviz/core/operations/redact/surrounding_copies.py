"""What was redacted may be repeated around the messages: run logs keep results, steps keep whole queries.

A copy is a string of the document that holds a redacted text, or is one but for a label before it. Only strings are
looked at, and short texts only where they are all of a string: replacing `ok` inside of words would damage the rest.
A string may be JSON itself, so the strings inside of it are looked at too.
"""

from __future__ import annotations

import base64
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate, islice

from chainviz.core.chain.messages import (
    SLOT,
    Binary,
    Fragment,
    Image,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.core.documents.assemble import own_blocks
from chainviz.core.formats.contract import Format, Style
from chainviz.core.operations.redact.window_index import MOST, WindowIndex

SHORT = 8
"""Characters below which a text is no copy of anything."""
WINDOW = 40
STRIDE = 16
"""Characters between two windows of a string that are looked up; so many windows of each long text are known."""
SPARSE = 64
"""Characters between two windows of a long text of which a string may be a piece."""
LONG = SPARSE + WINDOW
"""From here on a text is found anywhere in a string: some window of it begins at a multiple of the stride."""
DEEPEST = 3
"""How deep JSON may be nested in strings of JSON."""
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"(\s*:)?', re.DOTALL)
_LONE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def removed_texts(old: Message, new: Message) -> Iterator[str]:
    kept = set(texts_in(new))
    yield from (text for text in texts_in(old) if text not in kept)


def texts_in(message: Message) -> Iterator[str]:
    return (text for part in message.parts for text in _texts(part))


def _texts(part: Part) -> Iterator[str]:
    match part:
        case Text():
            yield part.text
        case ToolResult():
            yield part.content
            for item in part.media:
                yield from _texts(item)
        case Thinking():
            yield from (part.content, part.signature)
        case ToolCall():
            yield part.arguments
            yield from _long_strings(part.arguments)
        case Image():
            yield from (part.url, part.url.partition(";base64,")[2])
        case Binary():
            yield base64.b64encode(part.content).decode()
    if isinstance(part, Text | ToolCall) and part.reasoning is not None:
        yield from (part.reasoning.content, part.reasoning.signature)


def _long_strings(arguments: str) -> Iterator[str]:
    """Arguments are repeated as an object. Their short strings, such as paths, mean other things there too."""
    for found in _STRING.finditer(arguments):
        text = _read(found[0].rstrip(": \t\r\n"))
        if text is not None and len(text) >= WINDOW:
            yield text


def _read(spelled: str) -> str | None:
    try:
        return str(json.loads(spelled, strict=False))
    except ValueError:
        return None


class Copies:
    """Redacted texts, prepared once for many pieces of a document."""

    def __init__(self, texts: Iterable[str], placeholder: str) -> None:
        self._placeholder = placeholder
        self._whole: set[int] = set()
        """Hashes of whole texts: the texts themselves would be held twice."""
        self._long: list[str] = []
        known: set[int] = set()
        for text in texts:
            if hash(text) not in known:
                known.add(hash(text))
                self._take(text)
        self._sparse = [0, *accumulate(_count(text) for text in self._long)]
        """How many sparse windows the long texts before each have."""
        self._starts = WindowIndex(self._first_windows())
        self._inside = WindowIndex(self._sparse_windows())

    def _take(self, text: str) -> None:
        label, _, rest = text.partition("\n")
        wholes = (text.strip(), rest.strip() if len(label) < SHORT * 4 else "")
        self._whole.update(hash(each) for each in wholes if len(each) >= SHORT)
        if len(text) >= LONG:
            self._long.append(text)

    def _first_windows(self) -> Iterator[tuple[str, int]]:
        """Those of the first stride of each long text. Their numbers tell the text and where in it they begin."""
        for number, text in enumerate(self._long[: MOST // STRIDE]):
            yield from ((text[offset : offset + WINDOW], number * STRIDE + offset) for offset in range(STRIDE))

    def _sparse_windows(self) -> Iterator[tuple[str, int]]:
        places = ((text, place * SPARSE) for text in self._long for place in range(_count(text)))
        return ((text[begin : begin + WINDOW], number) for number, (text, begin) in enumerate(islice(places, MOST)))

    def without(self, piece: str, depth: int = 0) -> str:
        """A piece of a JSON document, without copies. `depth`: of how many strings it is the text."""
        return _STRING.sub(lambda found: self._string(found, depth), piece) if self._whole else piece

    def _string(self, found: re.Match[str], depth: int) -> str:
        colon = found[1] or ""
        spelled = found[0][: len(found[0]) - len(colon)]
        # `"completed":` is a name, whatever was redacted
        if len(spelled) < (LONG if colon else SHORT) + 2:
            return found[0]
        text = _read(spelled)
        new = text if text is None else self._new(text, depth)
        if new is None or new == text:
            return found[0]
        written = json.dumps(new, ensure_ascii=spelled.isascii())
        return _LONE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", written) + colon

    def _new(self, text: str, depth: int) -> str:
        if hash(text.strip()) in self._whole or self._is_inside(text.strip()):
            return self._placeholder
        if depth < DEEPEST and '"' in text:
            text = self.without(text, depth + 1)
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
        known = (divmod(number, STRIDE) for number in self._starts.find(text[at : at + WINDOW]))
        texts = ((self._long[number], at - offset) for number, offset in known if at >= offset)
        fits = [(begin, len(each)) for each, begin in texts if text.startswith(each, begin)]
        return max(fits, key=lambda fit: fit[1], default=(0, 0))

    def _is_inside(self, text: str) -> bool:
        """Whether a text is a piece of a long one: then one of its first windows is a sparse window of that."""
        if len(text) < LONG:
            return False
        return any(
            self._goes_on(text, number, offset)
            for offset in range(SPARSE)
            for number in self._inside.find(text[offset : offset + WINDOW])
        )

    def _goes_on(self, text: str, window: int, offset: int) -> bool:
        """Whether the long text with this sparse window is `text` from `offset` characters before the window on."""
        number = bisect_right(self._sparse, window) - 1
        begin = (window - self._sparse[number]) * SPARSE - offset
        return begin >= 0 and self._long[number].startswith(text, begin)


def _count(text: str) -> int:
    """How many sparse windows a long text has."""
    return (len(text) - WINDOW) // SPARSE + 1


def without_copies(old: Message, message: Message, format: Format, copies: Copies) -> Message:
    """What became of the old message, with a source that holds none beside its parts; the same object where it holds
    none already, or where it is no source of this format."""
    source = []
    for fragment in message.source:
        own = own_blocks(fragment, format.blocks_at)
        text = own.text if own.ordinal == SLOT else copies.without(own.text)
        source.append(fragment if text == own.text else replace(own, text=text, start=-1))
    if all(new is old for new, old in zip(source, message.source, strict=True)):
        return message
    if format.message(old.role, old.source) != old:
        return message
    near = source[0].text
    written = format.write(replace(message, source=tuple(source)), Style(near, near.isascii()))
    # where only parts held it, all is as it was but for the spelling
    is_same = [_value(each) for each in written] == [_value(own_blocks(each, format.blocks_at)) for each in message.source]
    return message if is_same else format.message(message.role, written)


def _value(fragment: Fragment) -> object:
    try:
        return json.loads(fragment.text)
    except (ValueError, RecursionError):
        return fragment.text


