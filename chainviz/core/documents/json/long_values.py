"""Very long strings and lists in JSON text, found and measured step by step: never more than some MB of them are in memory."""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from chainviz.core.chain.messages import byte_size
from chainviz.core.documents.json.scan import string_at
from chainviz.core.documents.units import Pointer, Read

STEP = 1 << 20
"""Bytes that are read at once. A string with a shorter source is not a long one."""

_HIGH, _LOW = rb"[dD][89abAB]..", rb"[dD][c-fC-F].."
_ESCAPE = rb"\\(?:[^u]|u(?![dD][89abAB])....|u" + _HIGH + rb"(?:\\u" + _LOW + rb"|(?=[^\\]|\\[^u]|.{6})))"
_INSIDE = rb'[^"\\]*+(?:' + _ESCAPE + rb'[^"\\]*+|(?!))*+'  # (?!): see scan.py
"""Whole characters of a string: ends before a quote, and before an escape or a pair of surrogates that is cut off."""
_WHOLE = re.compile(_INSIDE, re.DOTALL)
_STRINGS = re.compile(rb'(?:[^"]*+"[^"\\]*+(?:\\.[^"\\]*+)*+"|(?!))*+', re.DOTALL)
"""Complete strings and the text before them."""
_CUT_CHARACTER = re.compile(rb"[\xc0-\xff][\x80-\xbf]{0,2}\Z")
_LOOK_BACK = 100


class Mark(NamedTuple):
    """A place between two characters of a string."""

    at: int
    """The offset in bytes of the JSON text."""
    characters: int
    breaks: int
    """The number of characters and line breaks of the string before the mark."""


@dataclass(frozen=True, slots=True)
class LongString:
    """The position (between its quotes) and size of a string, without its text. Marks make any part of it quick to read."""

    start: int
    end: int
    size: int
    """Size of the decoded text in bytes of UTF-8."""
    marks: tuple[Mark, ...]
    """Marks at the start, every STEP bytes, and at the end."""

    @property
    def length(self) -> int:
        """Characters."""
        return self.marks[-1].characters

    def text(self, read: Read, start: int, end: int) -> str:
        """Return the characters `start:end`."""
        first = self._mark(start)
        last = self.marks[min(bisect_left(self.marks, end, key=_CHARACTERS), len(self.marks) - 1)]
        text, _ = _value(read(first.at, last.at))
        return text[start - first.characters : end - first.characters]

    def breaks(self, read: Read, end: int) -> int:
        """Line breaks before character `end`."""
        mark = self._mark(end)
        return mark.breaks + self.text(read, mark.characters, end).count("\n")

    def _mark(self, place: int) -> Mark:
        """Return the last mark at or before `place`."""
        return self.marks[bisect_right(self.marks, place, key=_CHARACTERS) - 1]


_CHARACTERS = attrgetter("characters")


class LongText(str):
    """The beginning of a text; the rest is read on demand."""

    whole: LongString
    read: Read

    BEGINNING = 32_000
    """The number of characters at the beginning that are kept as text."""

    def __new__(cls, whole: LongString, read: Read) -> LongText:
        text = super().__new__(cls, whole.text(read, 0, cls.BEGINNING))
        text.whole, text.read = whole, read
        return text


def length_of(text: str) -> int:
    """Return the length of the whole text in characters."""
    return text.whole.length if isinstance(text, LongText) else len(text)


def part_of(text: str, start: int, end: int) -> str:
    return text.whole.text(text.read, start, end) if isinstance(text, LongText) else text[start:end]


def breaks_in(text: str, start: int, end: int) -> int:
    if isinstance(text, LongText):
        return text.whole.breaks(text.read, end) - text.whole.breaks(text.read, start)
    return text.count("\n", start, end)


def long_strings(read: Read, length: int) -> Iterator[LongString]:
    """Yield all long strings of a JSON text of `length` bytes. Raises ValueError if it is not JSON."""
    at = 0
    while at < length:
        ahead = read(at, min(at + STEP, length))
        if passed := _STRINGS.match(ahead).end():  # type: ignore[union-attr]  # matches anything
            at += passed
        elif (opening := ahead.find(b'"')) < 0:
            at += len(ahead)
        elif opening:
            at += opening
        else:
            found = _measured(read, at + 1, length)
            if len(found.marks) > 2:
                yield found
            at = found.end + 1


def _measured(read: Read, start: int, length: int) -> LongString:
    marks = [Mark(start, 0, 0)]
    size = 0
    while True:
        at, characters, breaks = marks[-1]
        ahead = read(at, min(at + STEP, length))
        text, taken = _value(_whole_characters(ahead))
        marks.append(Mark(at + taken, characters + len(text), breaks + text.count("\n")))
        size += byte_size(text)
        if ahead[taken : taken + 1] == b'"':
            return LongString(start, at + taken, size, tuple(marks))
        if not taken:
            raise ValueError("a string has no end")


def _value(spelled: bytes) -> tuple[str, int]:
    """Return the decoded inside of a string up to its closing quote, if that is there, and how many bytes that takes."""
    source = f'"{spelled.decode("utf-8", "surrogateescape")}"'
    text, end = string_at(source, 0)
    if end == len(source):
        return text, len(spelled)
    return text, len(source[1 : end - 1].encode("utf-8", "surrogateescape"))


def _whole_characters(ahead: bytes) -> bytes:
    """Return the bytes without an incomplete character, escape or pair of surrogates at the end."""
    slash = ahead.find(b"\\", max(0, len(ahead) - _LOOK_BACK))
    if slash >= 0:
        # the first of some backslashes begins an escape, wherever one looks
        first = len(ahead[:slash].rstrip(b"\\"))
        ahead = ahead[: _WHOLE.match(ahead, first).end()]  # type: ignore[union-attr]  # matches anything
    cut = _CUT_CHARACTER.search(ahead, max(0, len(ahead) - 3))
    return ahead[: cut.start()] if cut else ahead


LEVELS = 12
"""A value that is nested deeper than this is not skipped as a whole."""

_SPACE = rb"[ \t\r\n]*+"
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'


def _nested(levels: int) -> bytes:
    pattern = rb"(?!)"
    for _ in range(levels):
        pattern = rb'[\[{](?:[^"\[\]{}]++|%s|%s|(?!))*+[\]}]' % (_STRING, pattern)  # (?!): see scan.py
    return pattern


_VALUE = rb"(?:%s|%s|[^][{}\",:\s]++)" % (_STRING, _nested(LEVELS))
_ITEM = re.compile(rb"%s(%s)%s([,\]])" % (_SPACE, _VALUE, _SPACE), re.DOTALL)
_MEMBER = re.compile(rb"%s(%s)%s:%s(%s)%s[,}]" % (_SPACE, _STRING, _SPACE, _SPACE, _VALUE, _SPACE), re.DOTALL)


class Items(NamedTuple):
    """The start and end of each item of a list."""

    starts: array[int]
    ends: array[int]

    def __len__(self) -> int:
        return len(self.starts)


def list_items(content: bytes, pointer: Pointer) -> Items | None:
    """Return the items of the list at `pointer`; None if there is no list with items, or it is nested too deep."""
    start = len(content) - len(content.lstrip())
    for key in pointer:
        found = _member(content, start, key)
        if found is None:
            return None
        start = found
    return _items(content, start)


def _member(content: bytes, start: int, key: str | int) -> int | None:
    """Return the position of the value of the last member with that name, or None."""
    if content[start : start + 1] != b"{":
        return None
    value, at = None, start + 1
    while member := _MEMBER.match(content, at):
        if json.loads(member[1], strict=False) == key:
            value = member.start(2)
        at = member.end()
    return value if content[at - 1 : at] == b"}" else None


def _items(content: bytes, start: int) -> Items | None:
    if content[start : start + 1] != b"[":
        return None
    starts, ends = array("Q"), array("Q")
    at = start + 1
    while item := _ITEM.match(content, at):
        starts.append(item.start(1))
        ends.append(item.end(1))
        at = item.end()
        if item[2] == b"]":
            return Items(starts, ends)
    return None
