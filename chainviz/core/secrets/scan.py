"""Finds secrets in a text, a message and a whole chain. A finding never shows its value in a log: its `repr` leaves it out.

`scan_chain` looks at everything of a chain that leaves with it: parts, fields that no part was read from, and what the
document holds beside the messages. Every statement that a chain holds no secrets comes from this function.
"""

from __future__ import annotations

import hashlib
import hmac
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import Message
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import message_paths
from chainviz.core.documents.units import Pointer
from chainviz.core.formats import get_format
from chainviz.core.progress import Progress, counted, ignore_progress
from chainviz.core.secrets.part_texts import fields, texts_of
from chainviz.core.secrets.rule import Anchored, Pattern, Rule, lower
from chainviz.core.secrets.rules import RULES
from chainviz.core.secrets.spellings import DecodedText, hides_ascii

FIELD, AROUND = "field", "around"
"""Places outside all parts: an unknown field of a message, or a text around the messages, by number, since the name of
a field may contain a value."""


@dataclass(frozen=True, slots=True)
class Finding:
    rule: Rule
    start: int
    end: int
    """The range in characters of the text."""
    value: str = field(repr=False)
    part: int = -1
    """The index among the message's parts; -1 for a text that is not a message."""
    place: str = ""
    """The text of the part (part_texts.py), or a place outside all parts."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A finding and its place in a chain. Its id names the place, not the value, so that it may be stored and logged."""

    message: int
    """The index of the message; -1 around the messages."""
    path: str
    """The path of the part, or of the message for one of its unknown fields; "" around the messages."""
    finding: Finding

    @property
    def id(self) -> str:
        return occurrence_id(self.path, self.finding.place, self.finding.start)


def occurrence_id(path: str, place: str, start: int) -> str:
    return f"{path}:{place.replace(' ', '-')}:{start}"


def is_outside(place: str) -> bool:
    """Return True for a place outside all parts."""
    return place.startswith((f"{AROUND} ", f"{FIELD} "))


def place_number(place: str) -> int:
    """Return the number of the field, or of the text around the messages, in a place outside all parts."""
    return int(place.rpartition(" ")[2])


def scan_text(text: str, rules: Sequence[Rule] = RULES, part: int = -1, place: str = "") -> list[Finding]:
    """Return the findings of the rules, in order and without overlaps."""
    return _findings(text, rule_words().may_match(text, tuple(rules)), part, place)


def _findings(text: str, rules: Iterable[tuple[Rule, Pattern]], part: int, place: str) -> list[Finding]:
    taken: list[tuple[int, int]] = []
    found: list[Finding] = []
    for rule, pattern in rules:
        if rule.hints and not any(hint in text for hint in rule.hints):
            continue
        for match in pattern.finditer(text):
            start, end = match.span(rule.value)
            if is_free(taken, start, end) and rule.check(text[start:end], match):
                taken.insert(bisect_left(taken, (start, end)), (start, end))
                found.append(Finding(rule, start, end, text[start:end], part, place))
    found.sort(key=lambda each: each.start)
    return found


def scan_source(text: str, rules: Sequence[Rule], place: str) -> list[Finding]:
    """Scan a text outside all parts in its source spelling, including what JSON escapes hide."""
    found = scan_text(text, rules, place=place)
    if not hides_ascii(text):
        return found
    known, decoded = {finding.value for finding in found}, DecodedText(text)
    for finding in scan_text(decoded.text, rules, place=place):
        if finding.value not in known:
            start, end = decoded.source(finding.start, finding.end)
            found.append(replace(finding, start=start, end=end))
    return sorted(found, key=lambda each: each.start)


def is_free(taken: list[tuple[int, int]], start: int, end: int) -> bool:
    """Return True if a range overlaps none of the taken ones, which are sorted."""
    at = bisect_left(taken, (start, end))
    return start < end and not (at and taken[at - 1][1] > start) and not (at < len(taken) and taken[at][0] < end)


def scan_message(message: Message, rules: Sequence[Rule] = RULES) -> list[Finding]:
    """Yield the texts of a part: texts, arguments, results, reasoning, addresses of images, texts in files. Ids and
    names are fields (scan_fields)."""
    return [
        finding
        for part, each in enumerate(message.parts)
        for place, text in texts_of(each)
        for finding in scan_text(text, rules, part, place)
    ]


def scan_fields(message: Message, blocks_at: Pointer, rules: Sequence[Rule] = RULES) -> Iterator[Finding]:
    """Scan the fields of a message from which no part was read. A value that a part also contains is not repeated."""
    texts = [each.text for each in fields(message, blocks_at)]
    # most are short, such as ids and names, so all are searched at once for the known rules, none of which looks beyond a line break
    joined = "\n".join(texts)
    may_match = rule_words().may_match(joined, tuple(rules))
    near = [each for each in may_match if each[0].group == "own" or next(iter(each[1].finditer(joined)), None)]
    if not near and not hides_ascii(joined):
        return iter(())
    found = [
        finding
        for number, text in enumerate(texts)
        for place in (f"{FIELD} {number}",)
        for finding in (scan_source(text, rules, place) if hides_ascii(text) else _findings(text, near, -1, place))
    ]
    known = {finding.value for finding in scan_message(message, rules)} if found else set()
    return (finding for finding in found if finding.value not in known)


def scan_chain(chain: Chain, rules: Sequence[Rule] = RULES, progress: Progress = ignore_progress) -> Iterator[Occurrence]:
    """Yield the findings of the rules: message by message, parts before fields, then around the messages."""
    blocks_at = get_format(chain.format).blocks_at
    paths: list[Path] = []
    for index, message in enumerate(counted(chain.stream(0, len(chain)), len(chain), progress, "read")):
        for finding in (*scan_message(message, rules), *scan_fields(message, blocks_at, rules)):
            paths = paths or list(message_paths(chain.tree))
            part = None if is_outside(finding.place) else finding.part
            yield Occurrence(index, str(replace(paths[index], part=part)), finding)
    for number, text in enumerate(chain.surroundings.texts()):
        for finding in scan_source(text, rules, f"{AROUND} {number}"):
            yield Occurrence(-1, "", finding)


def fingerprint(value: str, key: bytes) -> str:
    """Return a mark that is equal for equal values. It is keyed, since a short secret can be guessed from a plain hash."""
    return hmac.new(key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]


# A rule cannot match a text that has none of its words. RE2 looks for the words of all rules in one pass.


class RuleWords:
    def __init__(self) -> None:
        by_sign: dict[str, set[str]] = defaultdict(set, {"": set()})  # the empty word is in every text
        for rule in RULES:
            for sign in rule.signs:
                by_sign[sign].add(rule.name)
        self._with_signs = frozenset(rule.name for rule in RULES if rule.signs)
        self._signs = list(by_sign)
        self._names = list(by_sign.values())
        self._search = _search(self._signs)
        # texts contain few different sets of words, and there are many rules
        self._rules_for = lru_cache(maxsize=4096)(self._rules_with)

    def may_match(self, text: str, rules: tuple[Rule, ...]) -> tuple[tuple[Rule, Pattern], ...]:
        """Return the rules that may match a text, each with its pattern for the words that the text contains. Without RE2, or
        where it gives up and so finds not even the empty word, these are all rules."""
        found = self._search.Match(lower(text).encode("utf-8", "surrogatepass")) if self._search is not None else None
        return self._rules_for(tuple(found), rules) if found else tuple((rule, rule.pattern) for rule in rules)

    def _rules_with(self, found: tuple[int, ...], rules: tuple[Rule, ...]) -> tuple[tuple[Rule, Pattern], ...]:
        absent = self._with_signs.difference(*[self._names[number] for number in found])
        signs = {self._signs[number] for number in found}
        return tuple((rule, self._narrowed(rule, signs)) for rule in rules if rule.name not in absent)

    def _narrowed(self, rule: Rule, signs: Container[str]) -> Pattern:
        is_searched = rule.name in self._with_signs and not rule.near  # a rule of a person has words that nobody looked for
        return rule.pattern.among(signs) if is_searched and isinstance(rule.pattern, Anchored) else rule.pattern


@cache
def rule_words() -> RuleWords:
    return RuleWords()


def _search(signs: list[str]) -> Any:
    try:
        import re2
    except ImportError:
        return None
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    search = re2.Set.SearchSet(options)
    for sign in signs:
        search.Add(sign.encode())
    search.Compile()
    return search
