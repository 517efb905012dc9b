"""Finds secrets in texts and messages. A finding never shows its value in a log: its `repr` leaves it out."""

from __future__ import annotations

import hashlib
import hmac
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from chainviz.core.chain.messages import Message
from chainviz.core.secrets.part_texts import texts_of
from chainviz.core.secrets.rule import Rule
from chainviz.core.secrets.rules import RULES


@dataclass(frozen=True, slots=True)
class Finding:
    rule: Rule
    start: int
    end: int
    """Characters of the text it was found in."""
    value: str = field(repr=False)
    part: int = -1
    """Index among the message's parts; -1 for a text that is no message."""
    place: str = ""
    """Which of the part's texts (places.py)."""


def scan_text(text: str, rules: Sequence[Rule] = RULES, part: int = -1, place: str = "") -> list[Finding]:
    """What the rules find, in order, without overlaps."""
    taken: list[tuple[int, int]] = []
    found: list[Finding] = []
    for rule in rules:
        if rule.hints and not any(hint in text for hint in rule.hints):
            continue
        for match in rule.pattern.finditer(text):
            start, end = match.span(rule.value)
            if is_free(taken, start, end) and rule.check(text[start:end], match):
                taken.insert(bisect_left(taken, (start, end)), (start, end))
                found.append(Finding(rule, start, end, text[start:end], part, place))
    found.sort(key=lambda each: each.start)
    return found


def is_free(taken: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a stretch touches none of those that are taken; they are sorted."""
    at = bisect_left(taken, (start, end))
    return start < end and not (at and taken[at - 1][1] > start) and not (at < len(taken) and taken[at][0] < end)


def scan_message(message: Message, rules: Sequence[Rule] = RULES) -> list[Finding]:
    """Texts, arguments, results, reasoning, addresses of images, texts in files. Call ids and names are left alone."""
    return [
        finding
        for part, each in enumerate(message.parts)
        for place, text in texts_of(each)
        for finding in scan_text(text, rules, part, place)
    ]


def scan_messages(messages: Iterable[Message], rules: Sequence[Rule] = RULES) -> Iterator[tuple[int, Finding]]:
    for index, message in enumerate(messages):
        for finding in scan_message(message, rules):
            yield index, finding


def fingerprint(value: str, key: bytes) -> str:
    """Tells equal values apart without holding them: keyed, since a short secret can be guessed from a plain hash."""
    return hmac.new(key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]
