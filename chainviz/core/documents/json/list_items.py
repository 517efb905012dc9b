"""Where the items of a long list lie in JSON text, in bytes, told without decoding any of them."""

from __future__ import annotations

import json
import re
from array import array
from typing import NamedTuple

from chainviz.core.documents.units import Pointer

LEVELS = 12
"""A value nested deeper than this is not passed over."""

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
    """Where each item of a list begins and ends."""

    starts: array[int]
    ends: array[int]

    def __len__(self) -> int:
        return len(self.starts)


def list_items(content: bytes, pointer: Pointer) -> Items | None:
    """The items of the list at `pointer`; None where no list with items lies there, or one nested too deep."""
    start = len(content) - len(content.lstrip())
    for key in pointer:
        found = _member(content, start, key)
        if found is None:
            return None
        start = found
    return _items(content, start)


def _member(content: bytes, start: int, key: str | int) -> int | None:
    """Where the value of the last member of that name begins."""
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
