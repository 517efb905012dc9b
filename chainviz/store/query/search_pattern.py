"""Search patterns: bytes to find in raw JSON, and a test for decoded messages.

Raw JSON may spell a character in several ways, so only the longest range of the text with a single spelling is searched in bytes. Each
candidate is then confirmed in the decoded message. Keys, roles and types are skipped, because words such as `content` are in every
message of most files, and reading all messages took 8 seconds for 111 MB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from chainviz.core.documents.json.long_values import length_of, part_of

_WORD = re.compile(r"[A-Za-z0-9_-]+")
_SPACE = rb"[ \t\r\n]*"
_VALUES = (b'"role": "', b'"role":"', b'"type": "', b'"type":"')
_CONTAINERS = (b"messages", b"message", b"tool_calls", b"function")
"""Keys whose lists and objects are only structure. Pages may show any other value as raw JSON, including its keys."""
_RAW_JSON = re.compile(b'":' + b"".join(b'(?<!"' + key + b'":)' for key in _CONTAINERS) + _SPACE + rb"[\[{](?!\s*[\]}])")


def elsewhere(text: str, prepared: bytes) -> re.Pattern[bytes] | None:
    """Return a pattern that finds `prepared` except as a key or as the value of a role or type; None if `text` cannot
    be such a word."""
    if not _WORD.fullmatch(text):
        return None
    word = re.escape(prepared)
    key = rb'(?!(?<="' + word + rb')[A-Za-z0-9_-]*"' + _SPACE + rb":)"
    values = b"".join(rb"(?!(?<=" + value + word + rb')[A-Za-z0-9_-]*")' for value in _VALUES)
    return re.compile(word + key + values)


def has_raw_json(content: bytes, start: int, end: int) -> bool:
    return _RAW_JSON.search(content, start, end) is not None


_SHORT = {'"': b'"', "\\": b"\\\\", "/": b"/", "\b": b"b", "\f": b"f", "\n": b"n", "\r": b"r", "\t": b"t"}
LONGEST = 24
"""The most bytes of a character: two \\u escapes, each after some backslashes."""
LOOKED_THROUGH = 4_000_000
"""The number of characters of a text that are searched at once."""
_SAFE = re.compile(r"[A-Za-z0-9 _.,:;!?()\[\]{}*#@%$=|~^`-]+")
"""Characters that no JSON writer escapes."""


@dataclass(frozen=True)
class Needle:
    text: str
    case_sensitive: bool = False

    @cached_property
    def plain(self) -> bytes:
        """The longest range of the text with a single spelling; b"" if there is none."""
        stretches = _SAFE.findall(self.text)
        best = max(stretches, key=len, default="")
        return (best if self.case_sensitive else best.lower()).encode()

    @cached_property
    def spelled(self) -> re.Pattern[bytes]:
        """A pattern for all spellings of all characters. It is slower, and only for texts without a range of a single spelling."""
        return re.compile(b"".join(map(self._spellings, self.text)))

    def _spellings(self, character: str) -> bytes:
        spellings = {spelling for case in self._cases(character) for spelling in _spellings(case)}
        return b"(?:" + b"|".join(sorted(spellings)) + b")"

    def _cases(self, character: str) -> set[str]:
        cases = {character} if self.case_sensitive else {character, character.lower(), character.upper()}
        return {case for case in cases if len(case) == 1}

    @property
    def reach(self) -> int:
        """The most bytes of an occurrence. Neighbouring pieces of content must overlap by this much."""
        return len(self.text) * LONGEST

    @cached_property
    def marks(self) -> list[bytes]:
        """The spellings of the first character, one of which must occur, for texts without a range of a single spelling."""
        return [spelling for case in self._cases(self.text[0]) for spelling in _plain_spellings(case)]

    def prepared(self, content: bytes) -> bytes:
        return content.lower() if self.plain and not self.case_sensitive else content

    def place_in(self, prepared: bytes, start: int = 0) -> int:
        """Return the first place from `start` on near which the text may be; -1 if there is none."""
        if not self.plain:
            if not any(mark in prepared for mark in self.marks):
                return -1
            found = self.spelled.search(prepared, start)
            return found.start() if found is not None else -1
        place = prepared.find(self.plain, start)
        if len(self.plain) == len(self.text):
            return place
        while place >= 0 and not self.spelled.search(prepared, max(0, place - self.reach), place + self.reach):
            place = prepared.find(self.plain, place + 1)
        return place

    def is_structure(self, prepared: bytes, start: int, end: int) -> bool:
        """Return True if the text occurs in `prepared[start:end]` at most in keys, roles and types that pages do not show."""
        if self._elsewhere is None or self._elsewhere.search(prepared, start, end):
            return False
        return not has_raw_json(prepared, start, end)

    def may_be_in(self, content: bytes, *, as_json: bool) -> bool:
        """Return True if the text may be in what `content` spells. `as_json`: pages show it raw, keys included."""
        prepared = self.prepared(content)
        return self.place_in(prepared) >= 0 and (as_json or not self.is_structure(prepared, 0, len(prepared)))

    @cached_property
    def _elsewhere(self) -> re.Pattern[bytes] | None:
        return elsewhere(self.text, self.plain)

    def find_in(self, text: str, start: int = 0) -> int:
        """Return the first match at or after `start`, or -1. Ignoring case covers all of Unicode."""
        for at in range(start, length_of(text), LOOKED_THROUGH):
            place = self._find_in(part_of(text, at, at + LOOKED_THROUGH + 3 * len(self.text)))  # ß is found by SS
            if place >= 0:
                return at + place
        return -1

    def _find_in(self, text: str) -> int:
        if self.case_sensitive:
            return text.find(self.text)
        place = text.lower().find(self.text.lower())
        if place >= 0 or text.isascii() or self.text.isascii():
            return min(place, len(text))
        return text.casefold().find(self.text.casefold())


def _plain_spellings(character: str) -> Iterator[bytes]:
    """Yield byte strings, one of which occurs in every spelling of a character."""
    yield character.encode("utf-8", "surrogatepass")
    yield b"\\" if character in _SHORT else b"\\u"


def _spellings(character: str) -> Iterator[bytes]:
    yield re.escape(character.encode("utf-8", "surrogatepass"))
    units = character.encode("utf-16-be", "surrogatepass")
    escaped = b"".join(b"\\\\+[uU]" + _hex(units[i : i + 2]) for i in range(0, len(units), 2))
    yield escaped
    if character in _SHORT:
        yield b"\\\\+" + _SHORT[character]


def _hex(unit: bytes) -> bytes:
    digits = unit.hex()
    return b"".join(f"[{d}{d.upper()}]".encode() if d.isalpha() else d.encode() for d in digits)
