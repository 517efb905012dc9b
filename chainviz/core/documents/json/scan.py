"""Scan JSON text through a window that slides over a source, by tokens and byte offsets."""

from __future__ import annotations

import codecs
import json
import re
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from chainviz.core.counts import count_text
from chainviz.core.documents.source import CHUNK, Source
from chainviz.core.documents.units import Span
from chainviz.core.errors import DocumentError, FaultPlace, visible

MAX_DEPTH = 256
"""The deepest nesting that is accepted. No transcript needs more, and deep nesting is an attack on parsers."""
TOO_DEEP = f"values are nested more than {MAX_DEPTH} deep"
ENDS_INSIDE = "the file ends inside a list or object: it is cut off"

SPACE = re.compile(r"[ \t\r\n]*")
_STRING = r'(?:"[^"]*+(?<!\\)"|"(?:[^"\\]++|\\.)*+")'
"""A string. Python finds the next quotation mark twice as fast as the next mark or backslash; a mark without a backslash before it is
the end."""
# `|(?!)` works around python/cpython#106052: before 3.11.5, Python continues after a partial match of the last alternative in a
# possessive repetition. This alternative never matches anything.
FLAT = re.compile(rf'(?:[^"\[\]{{}}]++|({_STRING})|(?!))*+', re.DOTALL)
"""All text up to the next bracket. Group 1 is the last string."""
_STRING_PART = re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL)


def _balanced(levels: int) -> str:
    pattern = r"(?!)"
    for _ in range(levels):
        pattern = rf'[\[{{](?:[^"\[\]{{}}]++|{_STRING}|{pattern}|(?!))*+[\]}}]'
    return pattern


NESTED = re.compile(_balanced(4), re.DOTALL)
"""A complete list or object that is nested up to four deep."""
SHALLOW = re.compile(rf'(?:[^"\[\]{{}}]++|{_STRING}|{_balanced(4)}|(?!))*+', re.DOTALL)
"""Like FLAT, but also skips complete values nested up to four deep, which are most of a transcript, at C speed."""


def byte_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


def to_bytes(text: str) -> bytes:
    """Encode text as UTF-8. Surrogate escapes become their bytes again; other lone surrogates become three bytes."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


class Window:
    """A piece of the source as text, which `more` moves on. Bytes that are not UTF-8 become surrogate escapes."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.end = end
        self._next = start
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._known = (0, start)
        self.text = ""
        self.complete = False
        self.more(0)

    def more(self, keep: int, until: int = 0) -> bool:
        """Drop the text before `keep` and read on, at least to byte `until`. Return False at the end of the source.

        The window doubles if the text from `keep` on fills it.
        """
        if self.complete:
            return False
        base = self.offset(keep)
        left = self.text[keep:]
        stop = min(max(self._next + max(CHUNK, len(left) if not until else 0), until), self.end)
        chunk = self.source.read(self._next, stop)
        self._next = stop
        self.complete = stop >= self.end or not chunk
        self.text = left + self._decoder.decode(chunk, self.complete)
        self._known = (0, base)
        return True

    def offset(self, position: int) -> int:
        """Return the byte offset of a position in `text`. Calls in rising order are fast."""
        at, offset = self._known
        if position < at:
            return offset - byte_length(self.text[position:at])
        offset += byte_length(self.text[at:position])
        self._known = (position, offset)
        return offset

    def ahead(self, position: int, characters: int) -> int:
        """Read on until `characters` of text follow `position`, if the source has them. Return the new value of `position`."""
        while len(self.text) - position < characters and not self.complete:
            self.more(position)
            position = 0
        return position


def skip_space(window: Window, position: int) -> int:
    while True:
        found = SPACE.match(window.text, position)
        position = found.end() if found else position
        if position < len(window.text) or not window.more(position):
            return position
        position = 0


def skip_string(window: Window, position: int) -> int:
    """Return the position after the string that opens at `position`. Drops its text, which may be as long as the file."""
    start = window.offset(position)
    position += 1
    while True:
        found = _STRING_PART.match(window.text, position)
        position = found.end() if found else position
        if position < len(window.text) and window.text[position] == '"':
            return position + 1
        if not window.more(position):
            fault(window.source, start, "a string is never closed")
        position = 0


def skip_value(window: Window, position: int, depth: int = 0) -> int:
    """Return the end of the list or object whose opening bracket is before `position`."""
    opened = 1
    while True:
        found = SHALLOW.match(window.text, position)
        position = found.end() if found else position
        if position == len(window.text):
            if not window.more(position):
                fault(window.source, window.end, ENDS_INSIDE)
            position = 0
            continue
        char = window.text[position]
        if char == '"':
            position = skip_string(window, position)
            continue
        if char in "[{":
            # the value is not completely in the window: read more before scanning it bracket by bracket
            if not window.complete and len(window.text) - position < CHUNK // 2:
                window.more(position)
                position = 0
                continue
            opened += 1
            check_depth(window, position, depth + opened)
        else:
            opened -= 1
            if not opened:
                return position + 1
        position += 1


def check_depth(window: Window, position: int, depth: int) -> None:
    if depth > MAX_DEPTH:
        fault(window.source, window.offset(position), TOO_DEEP)


_SHOWN = {
    "Expecting value": "a value is missing or misspelled",
    "Expecting property name enclosed in double quotes": "a key in double quotes is missing",
    "Expecting ':' delimiter": "a colon is missing after a key",
    "Expecting ',' delimiter": "a comma or closing bracket is missing",
    "Illegal trailing comma before end of object": "a comma comes before a closing bracket",
    "Illegal trailing comma before end of array": "a comma comes before a closing bracket",
    "Unterminated string starting at": "a string is never closed",
    "Invalid control character at": "an unescaped control character is in a string",
    "Extra data": "there is text after the end of the document",
}


def in_words(message: str) -> str:
    if message.startswith("Invalid \\"):
        return "a backslash escape is wrong"
    return _SHOWN.get(message, message[:1].lower() + message[1:])


def fault(source: Source, offset: int, what: str, salvage: int = 0) -> NoReturn:
    line, column = source.place(offset)
    kept = ""
    if salvage:
        kept = f" {count_text(salvage, 'complete message')} before it can be kept."
    raise DocumentError(f"Line {line}, column {column}: {what}.{kept}", FaultPlace(line, column, offset, what), salvage=salvage, raw=True)


def fault_in(source: Source, region: Span) -> str:
    """Describe the fault in the JSON of a region with its place; "" if it has none, or is very long."""
    if region.end - region.start > CHUNK:
        return ""
    text = source.text(region.start, region.end)
    try:
        json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        line, column = source.place(region.start + byte_length(text[: error.pos]))
        return f"Line {line}, column {column}: {in_words(error.msg)}"
    except (ValueError, RecursionError):
        return ""
    return ""


MOST_POINTER = 80


class Oddities:
    """Collects oddities of a value that JSON allows but most programs do not expect."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.places: dict[str, int] = {}
        """The byte offset of an oddity with a known place. Other oddities are reported for the whole value."""

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            counted = Counter(key for key, _ in pairs)
            twice = next(key for key, count in counted.items() if count > 1)
            self.seen.append(f"the key “{twice[:40]}” occurs twice in one object, and the last one counts")
        return result

    def see_bare(self, before: str, offset: int) -> None:
        """Note a control character in a string. `before` is the JSON text up to it."""
        where = visible(Pointers(before).at(len(before)))[:MOST_POINTER]
        what = "an unescaped control character is in " + (f"the string at {where}" if where else "a string")
        self.seen.append(what)
        self.places[what] = offset

    def constant(self, word: str) -> float:
        self.seen.append(f"{word} is not a valid JSON number")
        return float(word)


Scan = Callable[[str, int], tuple[Any, int]]


def decoder(oddities: Oddities, *, careful: bool = False) -> Scan:
    """Return `scan(text, position) -> (value, end)`, which raises ValueError if there is no value.

    With `careful`, it also accepts control characters in strings and integers of any length, and is slower.
    """
    made = json.JSONDecoder(
        object_pairs_hook=oddities.pairs, parse_constant=oddities.constant, parse_int=integer if careful else None, strict=not careful
    )
    return made.raw_decode


def integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:
        # Python refuses integers of more than 4,300 digits; the source text keeps them
        return float("inf") if digits[0] != "-" else float("-inf")


_lenient = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False)


def value_end(text: str, position: int) -> int:
    """Return the end of the value that begins at `position`; `text` is known to be valid JSON."""
    return _lenient.raw_decode(text, position)[1]


def open_brackets(text: str) -> dict[int, str]:
    """Return the position and character of each bracket that a text opens and does not close, in order."""
    found: dict[int, str] = {}
    position = FLAT.match(text).end()  # type: ignore[union-attr]
    while position < len(text) and text[position] in "[]{}":
        if text[position] in "[{":
            found[position] = text[position]
        elif found:
            found.popitem()
        position = FLAT.match(text, position + 1).end()  # type: ignore[union-attr]
    return found


def string_at(text: str, position: int) -> tuple[str, int]:
    """Return the string whose opening quote is at `position`, and its end."""
    return _lenient.raw_decode(text, position)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+("?)|[{}\[\],:]', re.DOTALL)
APART = 1 << 16
"""The distance in characters between two positions from which reading can resume."""

_Step = str | int


class Pointers:
    """Finds the JSON pointers of positions in one text, which is read once. In a broken document they may be incomplete."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: list[tuple[int, tuple[_Step, ...], str]] = [(0, (), "")]
        """Positions from which reading can resume, each with its pointer and the last string before it."""
        for place, stack, last in self._states(*self._known[0], len(text)):
            if place - self._known[-1][0] >= APART:
                self._known.append((place, tuple(stack), last))

    def at(self, place: int) -> str:
        """Return the JSON pointer of the value at this position."""
        known = self._known[bisect_right(self._known, place, key=lambda each: each[0]) - 1]
        newest = deque(self._states(*known, place), maxlen=1)
        return "".join(f"/{step}" for step in (newest[0] if newest else known)[1])

    def _states(self, start: int, steps: Sequence[_Step], last: str, stop: int) -> Iterator[tuple[int, list[_Step], str]]:
        """Yield the state after each token. The list of steps is reused."""
        stack = [*steps]
        for found in _TOKEN.finditer(self._text, start, stop):
            token = found[0]
            if token[0] == '"':
                if not found[1]:
                    return
                last = token[1:-1].replace("~", "~0").replace("/", "~1")
            elif token == "{":
                stack.append("")
            elif token == "[":
                stack.append(0)
            elif stack and token in "}]":
                stack.pop()
            elif stack and token == ",":
                stack[-1] = stack[-1] + 1 if isinstance(stack[-1], int) else ""
            elif stack and isinstance(stack[-1], str):
                stack[-1] = last
            yield found.end(), stack, last
