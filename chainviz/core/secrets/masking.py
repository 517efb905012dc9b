"""Replaces secrets by placeholders. One value has one placeholder everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from chainviz.core.chain.arguments import is_json
from chainviz.core.chain.messages import Message, Part, Text
from chainviz.core.secrets.part_texts import JSON_PLACES, texts_of, with_text
from chainviz.core.secrets.rules.rule import Rule
from chainviz.core.secrets.scan import Finding

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
    return (
        bool(_NUMBER.fullmatch(text[start:end]))
        and before[-1:] in (":", ",", "[", "")
        and after[:1] in (",", "]", "}", "")
    )


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
