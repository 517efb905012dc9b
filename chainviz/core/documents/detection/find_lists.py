"""Find the message lists of a JSON document by their first messages, without storing or decoding the other content."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chainviz.core.documents.detection.recognition import SNIFF, Keys, Recognition
from chainviz.core.documents.json.decode import Quoted
from chainviz.core.documents.json.scan import FLAT, NESTED, Window, check_depth, fault, skip_space, skip_string, skip_value, string_at
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import Pointer, Span
from chainviz.core.errors import DocumentError

MAX_PLACES = 20_000
SINGLES = 200_000

_FIRST_OBJECT = re.compile(r'\s*(?:(?:null|true|false|-?[0-9][0-9.eE+-]*|"(?:[^"\\]++|\\.)*+")\s*,\s*){0,8}[\[{]', re.DOTALL)
"""Values before the first object of a list, or before its first list, because a message may be a pair of objects."""
_COMMA = re.compile(r"\s*,")
FIRST = 3
"""The number of objects of a list that are checked for being messages."""
_QUOTED = re.compile(r'"(?:\s|\\[nrt])*\[(?:\s|\\[nrt])*\{(?:\s|\\[nrt])*\\"')
"""The beginning of a string that contains a list of objects."""
MAX_QUOTED = 1 << 26
"""The longest such string, in characters, that is searched."""
_ATTRIBUTE = re.compile(r'\{\s*"key"\s*:\s*("(?:[^"\\]++|\\.)*+")')
ATTRIBUTE_HEAD = 1 << 9
_STRINGS = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


@dataclass(slots=True)
class Place:
    """A message list (or a single message) and the object around it."""

    pointer: Pointer
    start: int
    """Byte offset of the content between the brackets; in the decoded text of `string`, if there is one."""
    end: int
    steps: tuple[Step, ...] = ()
    """The members on the way to the list, outermost first."""
    single: bool = False
    string: Span | None = None
    """The JSON string that contains the list, without its quotation marks."""
    is_text: bool = False
    """The message is a plain string."""

    @property
    def keys(self) -> Keys:
        return tuple(step.key for step in self.steps)

    @property
    def outer(self) -> Span | None:
        """The object that contains the list, or None."""
        return self.steps[-1].holder.span if self.steps else None

    @property
    def spelled(self) -> Span:
        """The range of the source that the place covers."""
        return self.string or Span(self.start, self.end)


@dataclass(frozen=True, slots=True)
class Step:
    """A member on the way to a list. An attribute `{"key": K, "value": …}` is a member K of the object that lists it."""

    key: str
    holder: Frame
    depth: int
    """The number of pointer steps to the holder."""


@dataclass(slots=True, eq=False)
class Frame:
    """An object or list around the current position."""

    is_object: bool
    start: int
    end: int = 0
    index: int = 0
    key: str = ""
    """The last key, spelled as in the source."""

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


class Outline:
    """Searches one JSON value: a document, or one line of it."""

    def __init__(self, window: Window, recognition: Recognition, base: Pointer = ()) -> None:
        self.window = window
        self.recognition = recognition
        self.base = base
        self.places: list[Place] = []
        self._stack: list[Frame] = []
        self._is_behind_key = False
        """The window begins with a member's value, whose key was before it."""

    def walk(self, position: int) -> int:
        """Search the object or list at `position`. Return its end; its message lists are added to `places`."""
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
            if stack[-1].is_object and _QUOTED.search(window.text, position, end):
                self._look_into_strings(position, end)
            self._is_behind_key = False
            position = end
            if position == len(window.text):
                if not window.more(position):
                    self._cut_off()
                position = 0
            elif window.text[position] == '"':
                stack[-1].key = last
                position = self._string(position)
            elif window.text[position] in "[{":
                stack[-1].key = last
                last = ""
                position = self._open(position)
            else:
                position = self._close(position)
        return position

    def _string(self, position: int) -> int:
        """Read a string that ends beyond the window. Return its end."""
        room = MAX_QUOTED if _QUOTED.match(self.window.text, position) else SNIFF
        if not self.window.complete and len(self.window.text) - position < room:
            self._is_behind_key = self._stack[-1].is_object
            return self.window.ahead(position, len(self.window.text) - position + 1)
        return skip_string(self.window, position)

    def _cut_off(self) -> None:
        fault(self.window.source, self.window.end, "the file ends inside a list or object: it is cut off")

    def _pointer(self) -> Pointer:
        steps: list[str | int] = [*self.base]
        for frame in self._stack:
            steps.append(self._name(frame) if frame.is_object and frame.key else frame.index)
        return tuple(steps)

    def _name(self, frame: Frame) -> str:
        try:
            return string_at(frame.key, 0)[0]
        except ValueError:
            fault(self.window.source, frame.start, "a key in this object has a wrong backslash escape")

    def _open(self, position: int) -> int:
        window = self.window
        check_depth(window, position, len(self._stack) + 1)
        position = window.ahead(position, SNIFF)
        plain = NESTED.match(window.text, position)
        if plain and not self.recognition.has_hint(window.text, position, plain.end()):
            return plain.end()
        if window.text[position] == "{":
            if self._is_single(position):
                return self._take_single(position)
            self._stack.append(Frame(True, window.offset(position)))
            return position + 1
        if self._holds_messages(position + 1):
            return self._take_list(position)
        self._stack.append(Frame(False, window.offset(position)))
        return position + 1

    def _holds_messages(self, position: int) -> bool:
        """Return True if one of the first objects of a list looks like a message. Broken objects may precede it."""
        text = self.window.text
        for _ in range(FIRST):
            found = _FIRST_OBJECT.match(text, position)
            if not found:
                return False
            if self._is_message(found.end() - 1):
                return True
            whole = NESTED.match(text, found.end() - 1)
            comma = _COMMA.match(text, whole.end()) if whole else None
            if not comma:
                return False
            position = comma.end()
        return False

    def _is_message(self, position: int) -> bool:
        text = self.window.text
        whole = NESTED.match(text, position, position + SNIFF)
        end = whole.end() if whole else min(len(text), position + SNIFF)
        return self.recognition.has_hint(text, position, end) and self.recognition.looks_like_message(text[position:end], 0)

    def _take_list(self, position: int) -> int:
        window = self.window
        place = Place(self._pointer(), window.offset(position + 1), 0, self._steps())
        self._add(place)
        position = skip_value(window, position + 1, len(self._stack))
        place.end = window.offset(position - 1)
        return position

    def _is_single(self, position: int) -> bool:
        """Return True for a single message in place of a list: a line, or a place that a format declares."""
        stack, answers = self._stack, self.recognition.answers
        if not stack:
            return (bool(self.base) or () in answers) and self._is_message(position)
        key = stack[-1].key
        if self._is_node() and self._is_message(position):
            return True
        if not stack[-1].is_object or not any(keys and key == f'"{keys[-1]}"' for keys in answers):
            return False
        path = self._keys()
        return any(keys and path[-len(keys) :] == keys for keys in answers) and self._is_message(position)

    def _is_node(self) -> bool:
        """Return True if the keys to this place lead to a node of a tree whose nodes are messages."""
        return any([frame.key for frame in self._stack[-1 - len(keys) : -1]] == keys for keys in self.recognition.trees_of_messages)

    def _keys(self) -> Keys:
        return tuple(step.key for step in self._steps())

    def _steps(self) -> tuple[Step, ...]:
        steps: list[Step] = []
        base = len(self.base)
        for depth, frame in enumerate(self._stack):
            if not frame.is_object or not frame.key:
                continue
            attribute = _ATTRIBUTE.match(self.window.source.text(frame.start, frame.start + ATTRIBUTE_HEAD))
            if attribute and frame.key == '"value"' and depth > 1 and steps and steps[-1].depth == base + depth - 2:
                steps[-1] = Step(string_at(attribute[1], 0)[0], steps[-1].holder, steps[-1].depth)
                break
            steps.append(Step(self._name(frame), frame, base + depth))
        return tuple(steps)

    def _look_into_strings(self, start: int, end: int) -> None:
        """Add the lists inside the JSON strings of a range."""
        text, frame = self.window.text, self._stack[-1]
        key, place = frame.key, start
        for string in _STRINGS.finditer(text, start, end):
            between = text[place : string.start()]
            place = string.end()
            if ":" not in between and not (self._is_behind_key and string.start() == start):
                frame.key = string[0]
            elif _QUOTED.match(text, string.start()):
                self._take_quoted(string.start(), string.end())
        frame.key = key

    def _take_quoted(self, start: int, end: int) -> None:
        first = self.window.offset(start) + 1
        spelled = self.window.text[start + 1 : end - 1].encode("utf-8", "surrogateescape")
        try:
            text = Quoted(spelled, Span(first, first + len(spelled))).text.decode()
        except ValueError:
            return
        at = text.find("[") + 1
        head = _FIRST_OBJECT.match(text, at)
        if head and self.recognition.looks_like_message(text, head.end() - 1):
            string = Span(first, first + len(spelled))
            self._add(Place(self._pointer(), at, len(text.encode()), self._steps(), string=string))

    def _take_single(self, position: int) -> int:
        window = self.window
        place = Place(self._pointer(), window.offset(position), 0, self._steps(), single=True)
        self._add(place)
        position = skip_value(window, position + 1, len(self._stack))
        place.end = window.offset(position)
        return position

    def _add(self, place: Place) -> None:
        # single messages, such as the nodes of a tree, are far more numerous than lists
        if len(self.places) >= (SINGLES if place.single else MAX_PLACES):
            raise DocumentError(f"The file holds more than {MAX_PLACES} message lists; split it and upload the pieces.")
        self.places.append(place)

    def _close(self, position: int) -> int:
        frame = self._stack[-1]
        if (self.window.text[position] == "}") != frame.is_object:
            fault(self.window.source, self.window.offset(position), "the closing bracket does not fit the opening one")
        self._stack.pop()
        frame.end = self.window.offset(position + 1)
        return position + 1


def _commas(text: str) -> int:
    return text.count(",") if '"' not in text else _STRINGS.sub("", text).count(",")


def outline(source: Source, start: int, recognition: Recognition) -> tuple[list[Place], int]:
    """Return the message lists of the JSON document at `start`, and the offset of its end."""
    window = Window(source, start, source.size)
    walk = Outline(window, recognition)
    end = walk.walk(skip_space(window, 0))
    return walk.places, window.offset(end)
