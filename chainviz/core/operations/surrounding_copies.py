"""Remove copies of redacted texts from the rest of the document. For example, run logs repeat results.

A copy is a string of the document that contains a redacted text. A short text must fill the string, apart from a label before
it: replacing `ok` inside words would damage other content. A string may itself be JSON, so the strings in it are searched too.
"""

from __future__ import annotations

import base64
import json
import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, islice

from chainviz.core.chain.messages import SLOT, Binary, Fragment, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.documents.assemble import own_blocks
from chainviz.core.documents.json.edit import cut_strings
from chainviz.core.documents.units import Pointer
from chainviz.core.formats.contract import Format, Style

SHORT = 8
"""Shorter texts, in characters, are not searched."""
WINDOW = 40
STRIDE = 16
"""Distance in characters between two windows of a string that are looked up, and the number of indexed windows of a long text."""
SPARSE = 64
"""Distance in characters between two sparse windows of a long text; with them, a string that is a piece of the text is found."""
LONG = SPARSE + WINDOW
"""Texts of at least this length are found anywhere in a string, since one of their windows begins at a multiple of STRIDE."""
DEEPEST = 3
"""The deepest nesting of JSON in strings of JSON that is searched."""
_SPELLED = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRING = re.compile(rf"{_SPELLED}(\s*:)?", re.DOTALL)


def _strings_from(shortest: int, shortest_name: int) -> re.Pattern[str]:
    """Return a pattern whose first group matches the strings of at least these lengths. Most shorter ones are passed over inside the
    pattern, since a message has ten of them for each text; the others match too."""
    passed = rf'"(?:[^"\\]{{0,{shortest - 1}}}+"|[^"\\]{{0,{shortest_name - 1}}}+"\s*+:)'
    return re.compile(rf'(?:{passed}[^"]*+){{0,16}}+({_SPELLED})(\s*:)?|{passed}', re.DOTALL)


_SEARCHED, _LONG_STRINGS = _strings_from(SHORT, LONG), _strings_from(WINDOW, WINDOW)
_DECODER = json.JSONDecoder(strict=False)
_LONE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def removed_texts(old: Message, new: Message) -> Iterator[str]:
    kept = set(texts_in(new))
    yield from (text for text in texts_in(old) if text not in kept)


def texts_in(message: Message) -> Iterator[str]:
    for part in message.parts:
        yield from _texts(part)
        if isinstance(part, ToolCall):
            yield from _long_strings(part.arguments)


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
        case Image():
            yield from (part.url, part.url.partition(";base64,")[2])
        case Binary():
            yield base64.b64encode(part.content).decode()
    if isinstance(part, Text | ToolCall) and part.reasoning is not None:
        yield from (part.reasoning.content, part.reasoning.signature)


def _long_strings(arguments: str) -> Iterator[str]:
    """Yield the long strings of arguments, since copies repeat arguments as an object. Short strings, such as paths, are skipped
    because they also occur for other reasons."""
    return (text for text in _strings(arguments, _LONG_STRINGS, WINDOW, WINDOW) if len(text) >= WINDOW)


def _strings(text: str, pattern: re.Pattern[str], shortest: int, shortest_name: int) -> Iterator[str]:
    """Yield the strings in JSON text whose spellings have at least these lengths. A name is a string before a colon."""
    for found in pattern.finditer(text):
        spelled = found[1]
        if spelled is not None and len(spelled) >= (shortest_name if found[2] else shortest) + 2 and (read := _read(spelled)) is not None:
            yield read


def _read(spelled: str) -> str | None:
    if "\\" not in spelled:
        return spelled[1:-1]
    try:
        return str(_DECODER.decode(spelled))
    except ValueError:
        return None


def _searched(found: re.Match[str]) -> tuple[str, str | None]:
    """Return the spelling of a string without the colon after it, and its text; None if copies are not searched in it."""
    spelled = found[0][: len(found[0]) - len(found[1] or "")]
    # a short string before a colon, such as `"completed":`, is a name and is kept
    return spelled, None if len(spelled) < (LONG if found[1] else SHORT) + 2 else _read(spelled)


def strings_beside(old: Message, message: Message, blocks_at: Pointer) -> Iterator[str]:
    """Yield the strings in the source of a message that its parts do not show. `old` is the message before its redaction."""
    shown = {text for part in message.parts for text in _texts(part)}
    is_of_results = message is not old and all(isinstance(part, ToolResult) for part in old.parts)
    # the texts of results, which nearly every redacted message has, stand once in its source
    once = [part.content for part in old.parts if isinstance(part, ToolResult)] if is_of_results else list(shown)
    long_shown: set[str] | None = None
    for fragment in message.source:
        piece = "" if fragment.ordinal == SLOT else own_blocks(fragment, blocks_at).text
        piece, once = cut_strings(piece, once)
        left = Counter(once) if is_of_results else Counter[str]()
        for text in _strings(piece, _SEARCHED, SHORT, LONG):
            if text in shown:
                continue
            if left[text]:
                left[text] -= 1
                continue
            if len(text) >= WINDOW and long_shown is None:
                long_shown = set(texts_in(message))
            if long_shown is None or text not in long_shown:
                yield text
        once = list(left.elements()) if is_of_results else once


class StringsBeside:
    """Collects the strings beside the parts of messages while the removed texts are still unknown, so that only messages that may
    have a copy are read again."""

    def __init__(self) -> None:
        self._hashes, self._places = array("q"), array("q")
        self._always: set[int] = set()
        """Messages with a string that can contain a copy."""

    def add(self, place: int, strings: Iterable[str]) -> None:
        """Add the strings of the message at a place of the chain."""
        for text in strings:
            if len(text) >= WINDOW or '"' in text:
                self._always.add(place)
            else:
                self._hashes.append(hash(text.strip()))
                self._places.append(place)

    def places(self, copies: Copies) -> list[int]:
        """Return the places of the messages that may have a copy, in order."""
        same = {place for key, place in zip(self._hashes, self._places, strict=True) if copies.is_whole(key)}
        return sorted(same | self._always) if copies else []


class Copies:
    """Finds redacted texts in pieces of a document."""

    def __init__(self, texts: Iterable[str], placeholder: str, again: Callable[[], Iterable[str]] | None = None) -> None:
        """`again` reads the texts a second time when a document has a long string beside its parts, so that they need not be in memory;
        without it, `texts` are used."""
        self._placeholder = placeholder
        self._again = again or (lambda: texts)
        self._whole: set[int] = set()
        """Hashes of the texts."""
        for text in texts:
            label, _, rest = text.partition("\n")
            wholes = (text.strip(), rest.strip() if len(label) < SHORT * 4 else "")
            self._whole.update(hash(each) for each in wholes if len(each) >= SHORT)

    @cached_property
    def _long(self) -> list[str]:
        return list(dict.fromkeys(text for text in self._again() if len(text) >= LONG))

    @cached_property
    def _sparse(self) -> list[int]:
        """For each long text, the number of sparse windows of all long texts before it."""
        return [0, *accumulate(_count(text) for text in self._long)]

    @cached_property
    def _starts(self) -> WindowIndex:
        """The first windows of the long texts. Most documents have no long string beside the parts, for which it would be read."""
        return WindowIndex(self._first_windows())

    @cached_property
    def _inside(self) -> WindowIndex:
        return WindowIndex(self._sparse_windows())

    def _first_windows(self) -> Iterator[tuple[str, int]]:
        """Yield the windows of the first stride of each long text, with a number that encodes the text and the offset in it."""
        for number, text in enumerate(self._long[: MOST // STRIDE]):
            yield from ((text[offset : offset + WINDOW], number * STRIDE + offset) for offset in range(STRIDE))

    def _sparse_windows(self) -> Iterator[tuple[str, int]]:
        places = ((text, place * SPARSE) for text in self._long for place in range(_count(text)))
        return ((text[begin : begin + WINDOW], number) for number, (text, begin) in enumerate(islice(places, MOST)))

    def without(self, piece: str, shown: Container[int] = frozenset(), depth: int = 0) -> str:
        """Return a piece of a JSON document with a placeholder for each copy.

        `shown` contains the hashes of strings to keep, and `depth` is the number of strings that the piece is nested in.
        """
        return _STRING.sub(lambda found: self._string(found, shown, depth), piece) if self._whole else piece

    def __bool__(self) -> bool:
        """Return False if no text is searched."""
        return bool(self._whole)

    def is_whole(self, key: int) -> bool:
        """Return True if a string with this hash is a copy."""
        return key in self._whole

    def are_among(self, texts: Iterable[str]) -> bool:
        """Return True if a string of a document is or contains a copy."""
        return any(self._new(text, 0) != text for text in texts)

    def _string(self, found: re.Match[str], shown: Container[int], depth: int) -> str:
        spelled, text = _searched(found)
        if text is None or hash(text) in shown:
            return found[0]
        colon = found[1] or ""
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
        """Return the start and length of the redacted text around a window of `text`; the longest if there are several."""
        known = (divmod(number, STRIDE) for number in self._starts.find(text[at : at + WINDOW]))
        texts = ((self._long[number], at - offset) for number, offset in known if at >= offset)
        fits = [(begin, len(each)) for each, begin in texts if text.startswith(each, begin)]
        return max(fits, key=lambda fit: fit[1], default=(0, 0))

    def _is_inside(self, text: str) -> bool:
        """Return True if the text is a piece of a long text. Then one of its first windows is a sparse window of the long text."""
        if len(text) < LONG:
            return False
        return any(self._goes_on(text, number, offset) for offset in range(SPARSE) for number in self._around(text, offset))

    def _around(self, text: str, offset: int) -> Iterable[int]:
        """Return the sparse windows at an offset of `text` whose long text probably also contains the last sparse window of `text`."""
        first = self._inside.find(text[offset : offset + WINDOW])
        if len(first) < 2:
            return first
        steps = (len(text) - WINDOW - offset) // SPARSE
        end = offset + steps * SPARSE
        return {number - steps for number in self._inside.find(text[end : end + WINDOW])}.intersection(first)

    def _goes_on(self, text: str, window: int, offset: int) -> bool:
        """Return True if the long text with this sparse window contains `text`, starting `offset` characters before the window."""
        number = bisect_right(self._sparse, window) - 1
        begin = (window - self._sparse[number]) * SPARSE - offset
        return begin >= 0 and self._long[number].startswith(text, begin)


def _count(text: str) -> int:
    """Return the number of sparse windows in a long text."""
    return (len(text) - WINDOW) // SPARSE + 1


def without_copies(old: Message, message: Message, format: Format, copies: Copies) -> Message:
    """Return the redacted message with a source that contains no copies beside its parts. The same object is returned if there are
    none or the source is of another format."""
    if not copies or not copies.are_among(strings_beside(old, message, format.blocks_at)):
        return message
    shown = {hash(text) for text in texts_in(message)}
    source = []
    for fragment in message.source:
        own = own_blocks(fragment, format.blocks_at)
        text = own.text if own.ordinal == SLOT else copies.without(own.text, shown)
        source.append(fragment if text == own.text else own.with_text(text))
    if all(new is old for new, old in zip(source, message.source, strict=True)):
        return message
    if format.message(old.role, old.source) != old:
        return message
    near = source[0].text
    written = format.write(replace(message, source=tuple(source)), Style(near, near.isascii()))
    # if only parts contained it, only the spelling of the source would change
    is_same = [_value(each) for each in written] == [_value(own_blocks(each, format.blocks_at)) for each in message.source]
    return message if is_same else format.message(message.role, written)


def _value(fragment: Fragment) -> object:
    try:
        return json.loads(fragment.text)
    except (ValueError, RecursionError):
        return fragment.text


_BITS = 28
MOST = 1 << _BITS
"""Numbers of windows are below this value."""
_NUMBER = MOST - 1
_HASH = (1 << 64 - _BITS) - 1
"""Only the lowest bits of a window's hash are stored. Different windows may share them, so each match is checked."""
_SHELVES = 256


class WindowIndex:
    def __init__(self, windows: Iterable[tuple[str, int]]) -> None:
        """Index windows with their numbers."""
        # many short arrays, since sorting converts one array at a time to a list
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
        """Return the numbers of the windows that probably equal this one."""
        key = hash(window) & _HASH
        shelf = self._shelves[key % _SHELVES]
        start = bisect_left(shelf, key << _BITS)
        if start == len(shelf) or shelf[start] >> _BITS != key:
            return ()
        return [entry & _NUMBER for entry in shelf[start : bisect_left(shelf, key + 1 << _BITS, start)]]
