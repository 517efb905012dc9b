"""Find known values in any place and any spelling, also where no rule would find them, and replace them by placeholders.

One value has one placeholder everywhere.
"""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from chainviz.core.chain.arguments import is_json
from chainviz.core.chain.messages import Message, Part, Text
from chainviz.core.secrets.part_texts import JSON_PLACES, texts_of, with_text
from chainviz.core.secrets.rule import Rule
from chainviz.core.secrets.scan import Finding, is_free
from chainviz.core.secrets.spellings import DecodedText, hides_ascii, spelled

_BARE = re.compile(r"-?[0-9][0-9.]*")
_VALUE_END = re.compile(r"\s*(?:[],}]|\Z)")
LONG = 12
"""A shorter word is replaced only as a whole word: replacing `ada` inside `adapter` would damage other text."""


class Values:
    """Values and the replacement of each, prepared once for many texts. `Masker.placeholders` is such a mapping."""

    def __init__(self, placeholders: Mapping[str, str], words: Collection[str] = ()) -> None:
        """Prepare the search. `words` are those that a person searches for; an underscore ends them, both here and in a
        text."""
        self._instead: dict[bytes, str | None] = {}
        """The replacement by spelling; None if it must have the same length, because the surrounding text could not be
        read otherwise."""
        for value, placeholder in placeholders.items():
            for spelling in spelled(value):
                self._instead.setdefault(_bytes(spelling.text), placeholder if spelling.readable else None)
        self._words = Words(self._instead)
        self._own = {_bytes(spelling.text) for word in words for spelling in spelled(word)}

    def source_spans(self, text: str) -> list[Span]:
        """Return the spans of known values in a text in its source spelling, including values that JSON escapes hide."""
        found = self.spans(text)
        if not hides_ascii(text):
            return found
        decoded = DecodedText(text)
        taken = [(start, end) for start, end, _ in found]
        for first, last, new in self.spans(decoded.text):
            start, end = decoded.source(first, last)
            if is_free(taken, start, end):
                insort(taken, (start, end))
                found.append((start, end, new))
        return sorted(found)

    def spans(self, text: str) -> list[Span]:
        """Return each occurrence of a value in any spelling with its replacement, the longest first where they overlap."""
        content = _bytes(text)
        near = sorted(self._words.occurrences(content), key=lambda each: (-len(each[1]), each))
        places = _Places(content)
        found: list[Span] = []
        taken: list[tuple[int, int]] = []
        for first, word in near:
            last = first + len(word)
            if not is_free(taken, first, last):
                continue
            start, end = places[first], places[last]
            if end - start >= LONG or _is_whole(text, start, end, "" if word in self._own else "_"):
                insort(taken, (first, last))
                new = self._instead[word]
                found.append((start, end, "A" * len(word) if new is None else new))
        return sorted(found)

    def mask(self, message: Message) -> Message:
        """Return the message without the values in its parts; the same object if it has none. Call ids stay."""
        return with_spans(message, lambda part, place, text: self.spans(text))

    def mask_raw(self, text: str) -> str:
        """Mask text that belongs to no part: carried lines, the envelope, members of a unit from which no part was read."""
        spans = self.source_spans(text)
        return mask_text(text, spans, json=True) if spans else text

    def mask_piece(self, text: str) -> str:
        """Mask a piece of a JSON document, which alone is not JSON: a bare number is replaced by a string."""
        pieces: list[str] = []
        at = 0
        for start, end, new in self.source_spans(text):
            is_value = text[at:start].rstrip()[-1:] in (":", ",", "[") and _VALUE_END.match(text, end)
            quoted = is_value and _BARE.fullmatch(text, start, end)
            pieces += (text[at:start], f'"{new}"' if quoted else new)
            at = end
        return "".join((*pieces, text[at:]))

    def mask_source(self, message: Message) -> Message:
        """Return the message with source units that contain no value in any member; its format has to read it again from them. Do this
        last, on what the format wrote: signed reasoning must be gone by then, and ids that contain a value change.
        """
        source = []
        for fragment in message.source:
            text = self.mask_raw(fragment.text)
            source.append(fragment.with_text(text))
        if all(new is old for new, old in zip(source, message.source, strict=True)):
            return message
        return replace(message, source=tuple(source))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class _Places:
    """The number of characters before a byte, for bytes in any order."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._is_plain = content.isascii()
        self._known = [(0, 0)]

    def __getitem__(self, place: int) -> int:
        if self._is_plain:
            return place
        at = bisect_right(self._known, (place, place)) - 1
        before, characters = self._known[at]
        characters += len(self._content[before:place].decode("utf-8", "surrogatepass"))
        self._known.insert(at + 1, (place, characters))
        return characters


def _is_whole(text: str, start: int, end: int, joins: str) -> bool:
    """Return True if the match is a whole word. `joins` contains the characters that belong to a word besides letters
    and digits."""

    def in_word(letter: str) -> bool:
        return letter.isalnum() or (letter != "" and letter in joins)

    before, after = text[start - 1 : start], text[end : end + 1]
    return not (in_word(before) and in_word(text[start])) and not (in_word(after) and in_word(text[end - 1]))


# Many words are found in one pass over the bytes of a text. RE2 finds the beginnings of words (its time does not grow
# with their number; `re` replaces it where it is absent), and what begins there is compared with the words
# themselves.


HEAD = 24
"""The number of bytes of a word that are searched; the rest of a long word is compared afterwards."""
GROUP = 4000
"""The most words of one pattern; RE2 takes minutes to compile many more."""
MEMORY = 256 << 20
KEY = 4


class Words:
    """`longest`: how many bytes the longest word has."""

    def __init__(self, words: Iterable[bytes]) -> None:
        known = sorted(set(words) - {b""}, key=lambda word: (-len(word), word))
        self.longest = len(known[0]) if known else 0
        self._key = min(KEY, len(known[-1])) if known else KEY
        self._by_key: dict[bytes, list[bytes]] = defaultdict(list)
        for word in known:
            self._by_key[word[: self._key]].append(word)
        heads = list(dict.fromkeys(word[:HEAD] for word in known))
        self._patterns = [_compiled(heads[start : start + GROUP]) for start in range(0, len(heads), GROUP)]

    def occurrences(self, content: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield each occurrence of a word with its start, in order, at one place the longest first. Words may overlap."""
        places: set[int] = set()
        for pattern in self._patterns:
            found = pattern.search(content)
            while found is not None:
                places.add(found.start())
                found = pattern.search(content, found.start() + 1)
        for start in sorted(places):
            for word in self._by_key.get(content[start : start + self._key], ()):
                if content.startswith(word, start):
                    yield start, word


def _compiled(heads: list[bytes]) -> Any:
    pattern = b"|".join(map(re.escape, heads))
    try:
        import re2
    except ImportError:
        return re.compile(pattern)
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = MEMORY
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(pattern, options)


Strategy = Literal["replace", "mask", "pseudonym"]
PLACEHOLDERS: dict[str, str] = {"pseudonym": "numbered placeholder", "replace": "placeholder", "mask": "stars"}
"""What each strategy puts in place of a value, for the user."""
STARS = "********"
REASONING_GONE = "[reasoning removed]"
_NUMBER = re.compile(r"-?[0-9][0-9.]*")
Span = tuple[int, int, str]


class Masker:
    """Assigns placeholders and remembers them. Nothing in a replacement or pseudonym comes from the value."""

    def __init__(self, strategy: Strategy = "replace") -> None:
        self.strategy = strategy
        self.placeholders: dict[str, str] = {}
        """The placeholder of each value, in the order in which values were found."""
        self._same: dict[tuple[str, str], str] = {}
        self._numbers: dict[str, int] = {}

    def placeholder(self, rule: Rule, value: str) -> str:
        if value not in self.placeholders:
            same = rule.name, rule.same(value)
            if same not in self._same:
                self._same[same] = self._new(rule, value)
            self.placeholders[value] = self._same[same]
        return self.placeholders[value]

    def _new(self, rule: Rule, value: str) -> str:
        name = re.sub("[^A-Z0-9]+", "_", rule.name.upper())
        if self.strategy == "replace":
            return f"[{name}]"
        if self.strategy == "mask":
            # what stays may be a public prefix or the last digits, never most of a short value
            tail = rule.tail if len(value) >= 3 * rule.tail else 0
            return value[: rule.head] + STARS + value[len(value) - tail :]
        self._numbers[name] = self._numbers.get(name, 0) + 1
        return f"[{name}_{self._numbers[name]}]"


def mask(message: Message, findings: Sequence[Finding], masker: Masker) -> Message:
    """Return the message with these findings replaced; the same object if there are none."""
    if not findings:
        return message
    wanted: dict[tuple[int, str], list[Span]] = {}
    for each in findings:
        span = (each.start, each.end, masker.placeholder(each.rule, each.value))
        wanted.setdefault((each.part, each.place), []).append(span)
    return with_spans(message, lambda part, place, text: wanted.get((part, place), []))


def mask_text(text: str, spans: Iterable[Span], *, json: bool = False) -> str:
    """Mask a text. With `json`, a text that was JSON stays valid JSON."""
    ordered = sorted(spans)
    new = _put(text, ordered)
    if not json or is_json(new) or not is_json(text):
        return new
    # a number can only give way to a string
    quoted = [(start, end, f'"{new}"' if _is_bare(text, start, end) else new) for start, end, new in ordered]
    new = _put(text, quoted)
    return new if is_json(new) else "{}"


def _put(text: str, spans: Sequence[Span]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end, new in spans:
        pieces += (text[at:start], new)
        at = end
    return "".join((*pieces, text[at:]))


def _is_bare(text: str, start: int, end: int) -> bool:
    before, after = text[:start].rstrip(), text[end:].lstrip()
    return bool(_NUMBER.fullmatch(text[start:end])) and before[-1:] in (":", ",", "[", "") and after[:1] in (",", "]", "}", "")


def with_spans(message: Message, spans_of: Callable[[int, str, str], Sequence[Span]]) -> Message:
    """Replace spans of a message. `spans_of(part, place, text)` returns each span and its replacement. Returns the same
    object if nothing changes."""
    parts: list[Part] = []
    for index, part in enumerate(message.parts):
        new: Part | None = part
        for place, text in texts_of(part):
            spans = spans_of(index, place, text)
            if spans and new is not None:
                new = with_text(new, place, mask_text(text, spans, json=place in JSON_PLACES))
        if new is not None:
            parts.append(new)
    if len(parts) == len(message.parts) and all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return replace(message, parts=tuple(parts) or (Text(REASONING_GONE),))
