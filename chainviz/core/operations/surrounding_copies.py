"""What was redacted may be repeated around the messages: run logs keep results, steps keep whole queries.

A copy is a string of the document that holds a redacted text, or is one but for a label before it. Only strings are
looked at, and short texts only where they are all of a string: replacing `ok` inside of words would damage the rest.
A string may be JSON itself, so the strings inside of it are looked at too.
"""

from __future__ import annotations

import base64
import json
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
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
_DECODER = json.JSONDecoder(strict=False)
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
        return str(_DECODER.decode(spelled))
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
        """Yield the windows of the first stride of each long text, with a number that encodes the text and the offset in it."""
        for number, text in enumerate(self._long[: MOST // STRIDE]):
            yield from ((text[offset : offset + WINDOW], number * STRIDE + offset) for offset in range(STRIDE))

    def _sparse_windows(self) -> Iterator[tuple[str, int]]:
        places = ((text, place * SPARSE) for text in self._long for place in range(_count(text)))
        return ((text[begin : begin + WINDOW], number) for number, (text, begin) in enumerate(islice(places, MOST)))

    def without(self, piece: str, shown: Container[int] = frozenset(), depth: int = 0) -> str:
        """Return a piece of a JSON document with a placeholder for each copy.

        `shown` holds the hashes of strings that stay as they are, and `depth` says inside how many strings the piece lies.
        """
        return _STRING.sub(lambda found: self._string(found, shown, depth), piece) if self._whole else piece

    def _string(self, found: re.Match[str], shown: Container[int], depth: int) -> str:
        colon = found[1] or ""
        spelled = found[0][: len(found[0]) - len(colon)]
        # `"completed":` is a name, whatever was redacted
        if len(spelled) < (LONG if colon else SHORT) + 2:
            return found[0]
        text = _read(spelled)
        if text is None or hash(text) in shown:
            return found[0]
        new = self._new(text, depth)
        if new == text:
            return found[0]
        written = json.dumps(new, ensure_ascii=spelled.isascii())
        return _LONE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", written) + colon

    def _new(self, text: str, depth: int) -> str:
        if hash(text.strip()) in self._whole or self._is_inside(text.strip()):
            return self._placeholder
        if depth < DEEPEST and '"' in text:
            text = self.without(text, depth=depth + 1)
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
        return any(self._goes_on(text, number, offset) for offset in range(SPARSE) for number in self._around(text, offset))

    def _around(self, text: str, offset: int) -> Iterable[int]:
        """The sparse windows at an offset of `text` whose long text probably has the last sparse window of `text` as well."""
        first = self._inside.find(text[offset : offset + WINDOW])
        if len(first) < 2:
            return first
        steps = (len(text) - WINDOW - offset) // SPARSE
        end = offset + steps * SPARSE
        return {number - steps for number in self._inside.find(text[end : end + WINDOW])}.intersection(first)

    def _goes_on(self, text: str, window: int, offset: int) -> bool:
        """Whether the long text with this sparse window is `text` from `offset` characters before the window on."""
        number = bisect_right(self._sparse, window) - 1
        begin = (window - self._sparse[number]) * SPARSE - offset
        return begin >= 0 and self._long[number].startswith(text, begin)


def _count(text: str) -> int:
    """Return the number of sparse windows in a long text."""
    return (len(text) - WINDOW) // SPARSE + 1


def without_copies(old: Message, message: Message, format: Format, copies: Copies) -> Message:
    """Return the redacted message with a source that contains no copies beside its parts. The same object if it has
    none, or if it is not a source of this format."""
    source = []
    shown = {hash(text) for text in texts_in(message)}
    for fragment in message.source:
        own = own_blocks(fragment, format.blocks_at)
        text = own.text if own.ordinal == SLOT else copies.without(own.text, shown)
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


_BITS = 28
MOST = 1 << _BITS
"""Numbers are below."""
_NUMBER = MOST - 1
_HASH = (1 << 64 - _BITS) - 1
"""The lowest bits of the hash of a window are kept: now and then they are those of another window, so what is found is checked."""
_SHELVES = 256


class WindowIndex:
    def __init__(self, windows: Iterable[tuple[str, int]]) -> None:
        """Takes windows and their numbers."""
        # many short arrays: sorting makes a list of one at a time
        shelves = [array("Q") for _ in range(_SHELVES)]
        for window, number in windows:
            key = hash(window) & _HASH
            shelves[key % _SHELVES].append(key << _BITS | number)
        for place, shelf in enumerate(shelves):
            shelves[place] = array("Q", sorted(shelf))
        self._shelves = shelves

    def __len__(self) -> int:
        return sum(map(len, self._shelves))

    def find(self, window: str) -> Sequence[int]:
        """Returns the numbers of the windows that are probably this one."""
        key = hash(window) & _HASH
        shelf = self._shelves[key % _SHELVES]
        start = bisect_left(shelf, key << _BITS)
        if start == len(shelf) or shelf[start] >> _BITS != key:
            return ()
        return [entry & _NUMBER for entry in shelf[start : bisect_left(shelf, key + 1 << _BITS, start)]]
