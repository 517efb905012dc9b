"""A walk over a JSON document that finds its message lists by their first messages, without keeping or decoding the rest."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from chainviz.core.documents.json_scan import (
    FLAT,
    NESTED,
    SPACE,
    Oddities,
    Window,
    check_depth,
    decoder,
    fault,
    skip_space,
    skip_string,
    skip_value,
    string_at,
)  # fmt: skip
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import Pointer, Span
from chainviz.core.errors import DocumentError

SNIFF = 1 << 18
"""How much of an object is looked at to see whether it is a message."""
MAX_PLACES = 20_000

ROLES = frozenset(["system", "developer", "user", "assistant", "tool", "function", "human", "ai", "model"])
_CONTENT = ("content", "parts", "text", "tool_calls", "function_call")
_FIRST_OBJECT = re.compile(r'\s*(?:(?:null|true|false|-?[0-9][0-9.eE+-]*|"(?:[^"\\]++|\\.)*+")\s*,\s*){0,8}\{', re.DOTALL)
"""The way to the first object of a list."""
_COMMA = re.compile(r"\s*,")
FIRST = 3
"""Objects of a list that are looked at."""
_HINTS = re.compile(r'"(?:role|parts|message)"')
"""Without one of these words nothing in a value looks like a message."""
_STRINGS = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


class Nested:
    """Stands for a list or object that was not looked into."""


LIST, OBJECT = Nested(), Nested()


def looks_like_message(members: dict[str, Any]) -> bool:
    role = members.get("role")
    if isinstance(role, str) and (role in ROLES or any(key in members for key in _CONTENT)):
        return True
    if isinstance(members.get("message"), Nested) and members.get("type") in ("user", "assistant"):
        return True
    return isinstance(members.get("parts"), Nested) and "content" not in members and len(members) <= 3


@dataclass(slots=True)
class Place:
    """A message list (or a single message) and the object around it."""

    pointer: Pointer
    start: int
    end: int
    outer: Span | None = None
    """The object that holds the list; None for a list that no object holds."""
    single: bool = False


@dataclass(slots=True)
class _Frame:
    is_object: bool
    start: int
    index: int = 0
    key: str = ""
    waiting: list[Place] = field(default_factory=list)
    """Places whose outer object this is."""


def shallow(text: str, start: int) -> dict[str, Any]:
    """The members of the object at `start` as far as `text` shows them; lists and objects stay unread."""
    members: dict[str, Any] = {}
    scan = decoder(Oddities(), careful=True)
    position = _space(text, start + 1)
    try:
        while text[position] == '"':
            key, position = string_at(text, position)
            position = _space(text, _space(text, position) + 1)
            if text[position] in "[{":
                members[key] = LIST if text[position] == "[" else OBJECT
                position = _nested_end(text, position)
            else:
                members[key], position = scan(text, position)
            position = _space(text, position)
            if text[position] != ",":
                break
            position = _space(text, position + 1)
    except (ValueError, IndexError, StopIteration):
        pass
    return members


def _space(text: str, position: int) -> int:
    found = SPACE.match(text, position)
    return found.end() if found else position


def _nested_end(text: str, position: int) -> int:
    """Past the list or object at `position`; IndexError where the text ends before it does."""
    whole = NESTED.match(text, position)
    if whole:
        return whole.end()
    opened = 0
    while True:
        found = FLAT.match(text, position)
        position = found.end() if found else position
        opened += 1 if text[position] in "[{" else -1
        position += 1
        if not opened:
            return position
        if opened > 64:
            raise IndexError


class Outline:
    """Walks one JSON value (the document, or one line of it)."""

    def __init__(self, window: Window, base: Pointer = ()) -> None:
        self.window = window
        self.base = base
        self.places: list[Place] = []
        self._stack: list[_Frame] = []

    def walk(self, position: int) -> int:
        """Past the value that begins at `position` with a bracket; its message lists are in `places`."""
        window, stack = self.window, self._stack
        position = self._open(position)
        last = ""
        while stack:
            found = FLAT.match(window.text, position)
            end = found.end() if found else position
            if found and found[1]:
                last = found[1]
            if not stack[-1].is_object:
                stack[-1].index += _commas(window.text[position:end])
            position = end
            if position == len(window.text):
                if not window.more(position):
                    self._cut_off()
                position = 0
            elif window.text[position] == '"':
                position = self._string(position)
            elif window.text[position] in "[{":
                stack[-1].key = last
                last = ""
                position = self._open(position)
            else:
                position = self._close(position)
        return position

    def _string(self, position: int) -> int:
        """A string that ends beyond the window."""
        if not self.window.complete and len(self.window.text) - position < SNIFF:
            return self.window.ahead(position, len(self.window.text) - position + 1)
        return skip_string(self.window, position)

    def _cut_off(self) -> None:
        fault(self.window.source, self.window.end, "the file ends inside a list or object: it is cut off")

    def _pointer(self) -> Pointer:
        steps: list[str | int] = [*self.base]
        for frame in self._stack:
            steps.append(self._name(frame) if frame.is_object and frame.key else frame.index)
        return tuple(steps)

    def _name(self, frame: _Frame) -> str:
        try:
            return string_at(frame.key, 0)[0]
        except ValueError:
            fault(self.window.source, frame.start, "a key in this object has a wrong backslash escape")

    def _open(self, position: int) -> int:
        window = self.window
        check_depth(window, position, len(self._stack) + 1)
        position = window.ahead(position, SNIFF)
        plain = NESTED.match(window.text, position)
        if plain and not _HINTS.search(window.text, position, plain.end()):
            return plain.end()
        if window.text[position] == "{":
            if self._is_single(position):
                return self._take_single(position)
            self._stack.append(_Frame(True, window.offset(position)))
            return position + 1
        if self._holds_messages(position + 1):
            return self._take_list(position)
        self._stack.append(_Frame(False, window.offset(position)))
        return position + 1

    def _holds_messages(self, position: int) -> bool:
        """Whether one of the first objects of a list looks like a message; broken ones may stand before it."""
        text = self.window.text
        for _ in range(FIRST):
            found = _FIRST_OBJECT.match(text, position)
            if not found:
                return False
            if looks_like_message(self._sniff(found.end() - 1)):
                return True
            whole = NESTED.match(text, found.end() - 1)
            comma = _COMMA.match(text, whole.end()) if whole else None
            if not comma:
                return False
            position = comma.end()
        return False

    def _sniff(self, position: int) -> dict[str, Any]:
        return shallow(self.window.text[position : position + SNIFF], 0)

    def _take_list(self, position: int) -> int:
        window = self.window
        place = Place(self._pointer(), window.offset(position + 1), 0)
        self._add(place)
        position = skip_value(window, position + 1, len(self._stack))
        place.end = window.offset(position - 1)
        return position

    def _is_single(self, position: int) -> bool:
        """The message of a response: the document itself, or `message` of one of its choices."""
        stack = self._stack
        if stack:
            choice = len(stack) >= 3 and stack[-1].key == '"message"' and stack[-3].key == '"choices"'
            if not choice or any(not frame.is_object for frame in stack[:-2]):
                return False
        members = self._sniff(position)
        return looks_like_message(members) and isinstance(members.get("role"), str) and "messages" not in members

    def _take_single(self, position: int) -> int:
        window = self.window
        place = Place(self._pointer(), window.offset(position), 0, single=True)
        self._add(place)
        position = skip_value(window, position + 1, len(self._stack))
        place.end = window.offset(position)
        return position

    def _add(self, place: Place) -> None:
        if len(self.places) >= MAX_PLACES:
            raise DocumentError(f"The file holds more than {MAX_PLACES} message lists; split it and upload the pieces.")
        self.places.append(place)
        if self._stack and self._stack[-1].is_object:
            self._stack[-1].waiting.append(place)

    def _close(self, position: int) -> int:
        frame = self._stack[-1]
        if (self.window.text[position] == "}") != frame.is_object:
            fault(self.window.source, self.window.offset(position), "the closing bracket does not fit the opening one")
        self._stack.pop()
        if frame.waiting:
            end = self.window.offset(position + 1)
            for place in frame.waiting:
                place.outer = Span(frame.start, end)
        return position + 1


def _commas(text: str) -> int:
    return text.count(",") if '"' not in text else _STRINGS.sub("", text).count(",")


def outline(source: Source, start: int) -> tuple[list[Place], int]:
    """The message lists of the JSON document at `start`, and where the document ends."""
    window = Window(source, start, source.size)
    walk = Outline(window)
    end = walk.walk(skip_space(window, 0))
    return walk.places, window.offset(end)
