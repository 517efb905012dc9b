"""Edit JSON text in place. All other content keeps its bytes, spacing, key order and number spelling.

`load` opens an object or list one level deep. Its members and items stay text until `child` opens them, and `str()` returns the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from chainviz.core.chain.messages import Fragment
from chainviz.core.documents.json.scan import SPACE, integer, string_at, value_end
from chainviz.core.documents.units import Pointer

_SURROGATE = re.compile("[\ud800-\udfff]")
_spell, _spell_ascii = json.encoder.encode_basestring, json.encoder.encode_basestring_ascii


def quote(text: str, ascii_only: bool = True) -> str:
    """Return a text as a JSON string. Lone surrogates are always escaped, because UTF-8 cannot encode them."""
    quoted = json.dumps(text, ensure_ascii=ascii_only)
    return quoted if ascii_only else _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def dump(value: Any, ascii_only: bool = True, compact: bool = False) -> str:
    """Return a new value as JSON text."""
    separators = (",", ":") if compact else (", ", ": ")
    text = json.dumps(value, ensure_ascii=ascii_only, separators=separators)
    return text if ascii_only else _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def spelled_like(text: str, near: str) -> str:
    """Return a text as a JSON string with non-ASCII characters escaped or plain, as in the text `near`."""
    return quote(text, ascii_only=uses_escapes(near))


WORTH_CUTTING, SHARE_TO_CUT = 40, 16
CUT = '"\\u0000"'
"""The JSON string that `cut_strings` leaves in place of a string."""


def cut_strings(text: str, strings: Iterable[str]) -> tuple[str, list[str]]:
    """Cut the strings that fill most of a JSON text out of it, each once, so that the rest is quickly searched or decoded. Return the rest,
    and the strings that are still in it: those that are short, or spelled in another way than usual.

    The rest may be no JSON, if a string also occurs between two others.
    """
    spell = _spell_ascii if text.isascii() else _spell
    left = []
    for string in strings:
        is_long = len(string) >= max(WORTH_CUTTING, len(text) // SHARE_TO_CUT)  # a cut copies the text
        cut = text.replace(spell(string), CUT, 1) if is_long else text
        if cut is text:
            left.append(string)
        text = cut
    return text, left


def uses_escapes(near: str) -> bool:
    """Return True if a text writes non-ASCII characters as escapes, or has none."""
    return near.isascii()


_DECODER = json.JSONDecoder(strict=False)


def parse(text: str) -> Any:
    """Return the value of JSON text. Accepts unusual numbers, constants such as NaN, and control characters."""
    try:
        value, end = _DECODER.raw_decode(text)  # without the searches for white space around it
        return value if end == len(text) else _DECODER.decode(text)
    except ValueError:
        return json.loads(text, strict=False, parse_int=integer)


def value_of(fragment: Fragment) -> Any:
    """Return the decoded JSON of a fragment, cached from its reader if possible. Never change the value. Raises ValueError or
    RecursionError if the text is not JSON."""
    return parse(fragment.text) if fragment.value is None else fragment.value


class Value:
    """An object or list that can be edited in place; `str` gives its text."""

    def __init__(self, first: str, tail: str) -> None:
        self._first = first
        """White space before the first item."""
        self._tail = tail
        """White space before the closing bracket."""
        self._texts: list[str | Value] = []
        self._before: list[str | None] = []
        """White space before each item; None for the first item and for new items."""
        self._after: list[str] = []
        """White space between each item and its comma."""

    def __len__(self) -> int:
        return len(self._texts)

    def _gap(self) -> str:
        for before in self._before:
            if before is not None:
                return before
        return self._first if "\n" in self._first else ""

    def _text(self, place: int) -> str:
        return str(self._texts[place])

    def _opened(self, place: int) -> Value:
        found = self._texts[place]
        if isinstance(found, str):
            found = self._texts[place] = load(found)
        return found

    def _written(self, heads: Sequence[str]) -> str:
        pieces = []
        gap = self._gap()
        for place, text in enumerate(self._texts):
            before = self._before[place]
            pieces.append(self._first if not place else "," + (gap if before is None else before))
            pieces += (heads[place], str(text), self._after[place] if place < len(self._texts) - 1 else "")
        return "".join(pieces) + self._tail


class Array(Value):
    def raw(self, index: int) -> str:
        return self._text(index)

    def child(self, index: int) -> Value:
        return self._opened(index)

    def set(self, index: int, text: str) -> None:
        self._texts[index] = text

    def rebuild(self, items: Iterable[int | str]) -> None:
        """Set the items of the list. A number is the index of an old item, a text is a new item."""
        places = list(items)
        if places == list(range(len(self._texts))):
            return
        texts, before, after = self._texts, self._before, self._after
        gap = self._gap()
        self._texts = [texts[item] if isinstance(item, int) else item for item in places]
        self._before = [before[item] if isinstance(item, int) else None for item in places]
        self._after = [after[item] if isinstance(item, int) else "" for item in places]
        self._before = [gap if lead is None and place else lead for place, lead in enumerate(self._before)]

    def __str__(self) -> str:
        return f"[{self._written([''] * len(self._texts))}]"


class Object(Value):
    def __init__(self, first: str, tail: str) -> None:
        super().__init__(first, tail)
        self.keys: list[str] = []
        self._heads: list[str] = []
        """The text of each key in the source, with its quotes, colon and white space."""

    def _place(self, key: str) -> int:
        """Return the index of the last member with this name, which is the one that counts."""
        return len(self.keys) - 1 - self.keys[::-1].index(key)

    def __contains__(self, key: object) -> bool:
        return key in self.keys

    def raw(self, key: str) -> str:
        return self._text(self._place(key))

    def get(self, key: str) -> Any:
        """Return the member's value, or None if there is no such member."""
        return parse(self.raw(key)) if key in self.keys else None

    def child(self, key: str) -> Value:
        return self._opened(self._place(key))

    def set(self, key: str, text: str, after: str = "") -> None:
        """Replace the member's text, or add the member after `after` or at the end."""
        if key in self.keys:
            self._texts[self._place(key)] = text
            return
        place = self._place(after) + 1 if after in self.keys else len(self.keys)
        self._insert(place, key, text)

    def set_first(self, key: str, text: str, before: str) -> None:
        """Replace the member's text, or add the member before `before`."""
        if key in self.keys:
            self.set(key, text)
        else:
            self._insert(self._place(before), key, text)

    def _insert(self, place: int, key: str, text: str) -> None:
        self._before = [self._gap() if lead is None and at else lead for at, lead in enumerate(self._before)]
        if not place and self._before:
            self._before[0] = self._gap()
        colon = self._heads[0][self._heads[0].rindex('"') + 1 :] if self._heads else ": "
        self.keys.insert(place, key)
        self._heads.insert(place, quote(key) + colon)
        self._texts.insert(place, text)
        self._before.insert(place, None)
        self._after.insert(place, "")

    def rename(self, key: str, new: str, text: str) -> None:
        """Replace a member by one with another key and value, in the same place."""
        place = self._place(key)
        head = self._heads[place]
        self.keys[place] = new
        self._heads[place] = quote(new) + head[head.rindex('"') + 1 :]
        self._texts[place] = text

    def remove(self, key: str) -> None:
        """Remove every member with this name."""
        gap = self._gap()
        while key in self.keys:
            place = self._place(key)
            for items in (self.keys, self._heads, self._texts, self._before, self._after):
                del items[place]
        self._before = [gap if lead is None and at else lead for at, lead in enumerate(self._before)]

    def __str__(self) -> str:
        return f"{{{self._written(self._heads)}}}"


def load(text: str) -> Value:
    """Open an object or list. Raises TypeError for any other value."""
    start = space_end(text, 0)
    if text[start] == "{":
        return _load_object(text, start + 1)
    if text[start] == "[":
        return _load_array(text, start + 1)
    raise TypeError("only objects and lists have members")


def decode(text: str, *, strict: bool = False) -> Any:
    """Return the value of a JSON text; None if it is invalid. With `strict`, control characters in strings are invalid."""
    try:
        return (_STRICT if strict else _LENIENT).decode(text)
    except (ValueError, RecursionError):
        return None


_STRICT, _LENIENT = json.JSONDecoder(), json.JSONDecoder(strict=False)


def load_object(text: str) -> Object:
    value = load(text)
    assert isinstance(value, Object)
    return value


def load_array(text: str) -> Array:
    value = load(text)
    assert isinstance(value, Array)
    return value


def space_end(text: str, position: int) -> int:
    found = SPACE.match(text, position)
    return found.end() if found else position


def _load_array(text: str, position: int) -> Array:
    start = space_end(text, position)
    if text[start] == "]":
        return Array("", text[position:start])
    result = Array(text[position:start], "")
    before: str | None = None
    while True:
        end = value_end(text, start)
        comma = space_end(text, end)
        result._texts.append(text[start:end])
        result._before.append(before)
        if text[comma] == "]":
            result._after.append("")
            result._tail = text[end:comma]
            return result
        result._after.append(text[end:comma])
        start = space_end(text, comma + 1)
        before = text[comma + 1 : start]


def _load_object(text: str, position: int) -> Object:
    start = space_end(text, position)
    if text[start] == "}":
        return Object("", text[position:start])
    result = Object(text[position:start], "")
    before: str | None = None
    while True:
        key, end = string_at(text, start)
        value = space_end(text, space_end(text, end) + 1)
        end = value_end(text, value)
        comma = space_end(text, end)
        result.keys.append(key)
        result._heads.append(text[start:value])
        result._texts.append(text[value:end])
        result._before.append(before)
        if text[comma] == "}":
            result._after.append("")
            result._tail = text[end:comma]
            return result
        result._after.append(text[end:comma])
        start = space_end(text, comma + 1)
        before = text[comma + 1 : start]


def span_of(text: str, pointer: Pointer) -> tuple[int, int] | None:
    """Return start and end in `text`, in characters, of the value at `pointer`, or None if there is no such value."""
    start = space_end(text, 0)
    opened = _opened(text)
    for step in pointer:
        places = opened.get(start)
        if places is None:
            places = opened[start] = _places(text, start)
        if step not in places:
            return None
        start = places[step]
    return start, value_end(text, start)


Places = dict[str | int, int]
"""The position of each member or item of an object or list."""

_VALUE_STARTS = frozenset('"{[0123456789-tfn')

_last: tuple[str, dict[int, Places]] = ("", {})


def _opened(text: str) -> dict[int, Places]:
    """Return the cached positions in the objects and lists of a text, by their start. A message may have thousands of blocks that are
    read one by one. The cache compares the text by identity, because comparing long texts is slow."""
    global _last
    last = _last
    if last[0] is not text:
        last = _last = text, {}
    return last[1]


def _places(text: str, start: int) -> Places:
    """Map the members or items of the value at `start` to their positions. If members share a name, the last one counts."""
    places: Places = {}
    bracket = text[start]
    if bracket not in "{[":
        return places
    position = space_end(text, start + 1)
    while text[position] not in "}]":
        step: str | int = len(places)
        if bracket == "{":
            step, end = string_at(text, position)
            end = end if text[end] == ":" else space_end(text, end)
            position = end + 1 if text[end + 1] in _VALUE_STARTS else space_end(text, end + 1)
        places[step] = position
        position = value_end(text, position)
        if text[position] not in ",}]":
            position = space_end(text, position)
        if text[position] == ",":
            position = position + 1 if text[position + 1] in _VALUE_STARTS else space_end(text, position + 1)
    return places


def member_at(text: str, place: Pointer, key: str) -> str:
    """Return the text of a member that the object at `place` is known to have. Fast if its name occurs once in `text`, which need
    not be walked then."""
    name = f'"{key}"'
    at = text.find(name)
    if at > 0 and text[at - 1] != "\\" and text.find(name, at + 1) < 0:
        colon = space_end(text, at + len(name))
        if text[colon] == ":":
            start = space_end(text, colon + 1)
            return text[start : value_end(text, start)]
    return raw_at(text, (*place, key)) or ""


def raw_at(text: str, pointer: Pointer) -> str | None:
    """Return the text of the value at `pointer`; None if there is no such value."""
    found = span_of(text, pointer)
    return None if found is None else text[found[0] : found[1]]


def replace_at(text: str, pointer: Pointer, new: str) -> str:
    """Return `text` with the value at `pointer` replaced. The value must exist."""
    found = span_of(text, pointer)
    if found is None:
        raise KeyError(pointer)
    return text[: found[0]] + new + text[found[1] :]
