"""A searched text as bytes to look for in raw JSON, and as what a decoded message must hold.

Raw JSON may spell one character in several ways, so only the longest stretch that is spelled alike everywhere is looked
for in bytes; each candidate is then confirmed on the decoded message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from chainviz.core.documents.json.long_strings import length_of, part_of
from chainviz.store.query.json_structure import elsewhere, has_raw_json

_SHORT = {'"': b'"', "\\": b"\\\\", "/": b"/", "\b": b"b", "\f": b"f", "\n": b"n", "\r": b"r", "\t": b"t"}
LONGEST = 24
"""Bytes a character can take: two \\u escapes, each behind some backslashes."""
LOOKED_THROUGH = 4_000_000
"""Characters of a text looked through at once."""
_SAFE = re.compile(r"[A-Za-z0-9 _.,:;!?()\[\]{}*#@%$=|~^`-]+")
"""Characters that every JSON writer leaves as they are."""


@dataclass(frozen=True)
class Needle:
    text: str
    case_sensitive: bool = False

    @cached_property
    def plain(self) -> bytes:
        """The longest stretch that is spelled alike everywhere; b"" if there is none."""
        stretches = _SAFE.findall(self.text)
        best = max(stretches, key=len, default="")
        return (best if self.case_sensitive else best.lower()).encode()

    @cached_property
    def spelled(self) -> re.Pattern[bytes]:
        """All spellings of all characters: slower, for needles without a plain stretch."""
        return re.compile(b"".join(map(self._spellings, self.text)))

    def _spellings(self, character: str) -> bytes:
        spellings = {spelling for case in self._cases(character) for spelling in _spellings(case)}
        return b"(?:" + b"|".join(sorted(spellings)) + b")"

    def _cases(self, character: str) -> set[str]:
        cases = {character} if self.case_sensitive else {character, character.lower(), character.upper()}
        return {case for case in cases if len(case) == 1}

    @property
    def reach(self) -> int:
        """How many bytes an occurrence can take at most: what two neighbouring pieces of content must share."""
        return len(self.text) * LONGEST

    @cached_property
    def marks(self) -> list[bytes]:
        """Without a plain stretch: spellings of the first character, one of which must be there."""
        return [spelling for case in self._cases(self.text[0]) for spelling in _plain_spellings(case)]

    def prepared(self, content: bytes) -> bytes:
        return content.lower() if self.plain and not self.case_sensitive else content

    def place_in(self, prepared: bytes, start: int = 0) -> int:
        """The first place from `start` on where the text may be near; -1 if there is none."""
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
        """Whether the text is in `prepared[start:end]` as keys, roles and types at most, and none of these is shown."""
        if self._elsewhere is None or self._elsewhere.search(prepared, start, end):
            return False
        return not has_raw_json(prepared, start, end)

    def may_be_in(self, content: bytes, *, as_json: bool) -> bool:
        """Whether what `content` spells may say the text; `as_json`: it is shown as it is written, keys included."""
        prepared = self.prepared(content)
        return self.place_in(prepared) >= 0 and (as_json or not self.is_structure(prepared, 0, len(prepared)))

    @cached_property
    def _elsewhere(self) -> re.Pattern[bytes] | None:
        return elsewhere(self.text, self.plain)

    def find_in(self, text: str, start: int = 0) -> int:
        """Where from `start` on the text is in `text`, -1 where it is not. Full Unicode, if case does not count."""
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
    """Enough to see that a character is not there in any spelling."""
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
