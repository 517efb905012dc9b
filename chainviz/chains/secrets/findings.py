"""Where a chain holds secrets: places and rules, never values, so that what is found may be stored with a job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from django.conf import settings

from chainviz.chains.secrets.outside_parts import Beyond, beside, is_beside, number_in
from chainviz.core.chain.message_paths import message_paths
from chainviz.core.chain.messages import Message
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import Refused
from chainviz.core.secrets import RULES, Finding, fingerprint, get_rule, scan_message
from chainviz.core.secrets.part_texts import texts_of
from chainviz.core.secrets.rule import Rule
from chainviz.store.content.chain import StoredChain

AT_ONCE = 4_000_000
"""Bytes of content that are scanned while a page is made; more is a job."""
MOST = 50_000
"""Findings that are listed."""
TOO_WIDE = "Your own patterns match more than {:,} times here; make them narrower."
STRETCH = 200
CONTEXT = 70
Report = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Spot:
    """A finding without its value."""

    path: str
    """Of the part; of a message, or empty, for what lies outside of all parts (around.py)."""
    rule: str
    place: str
    """Which of the part's texts."""
    start: int
    end: int
    mark: str
    """The same for the same value; keyed, so that it tells nothing else."""
    own: Rule | None = field(default=None, repr=False)
    """The rule itself, where a person wrote it for this look: it is never stored."""

    @property
    def id(self) -> str:
        """As the mask operation names it."""
        return f"{self.path}:{self.place.replace(' ', '-')}:{self.start}"

    @property
    def is_beside(self) -> bool:
        return is_beside(self.place)

    @property
    def of_rule(self) -> Rule:
        found = self.own or get_rule(self.rule)
        assert found is not None
        return found

    def packed(self) -> list[Any]:
        return [self.path, self.rule, self.place, self.start, self.end, self.mark]


def scan(chain: StoredChain, report: Report = lambda done, text: None, rules: Sequence[Rule] = RULES) -> Iterator[Spot]:
    """In the order of the chain."""
    paths = message_paths(chain.tree)
    for start in range(0, len(chain), STRETCH):
        messages = chain.slice(start, min(start + STRETCH, len(chain)))
        for message, path in zip(messages, paths, strict=False):
            yield from (_spot(path, found) for found in scan_message(message, rules))
        report(min(1.0, (start + STRETCH) / max(1, len(chain))), f"{start + len(messages):,} messages read")


def scan_beside(
    chain: StoredChain, report: Report = lambda done, text: None, rules: Sequence[Rule] = RULES
) -> Iterator[Spot]:
    """What lies outside of all parts."""
    for each in beside(chain, rules, report):
        found = each.finding
        own = found.rule if found.rule.group == "own" else None
        yield Spot(each.path, found.rule.name, each.place, found.start, found.end, mark_of(found.value), own)


def together(spots: Iterable[Spot]) -> list[Spot]:
    """In the order of the chain, what lies outside of all parts last."""
    return sorted(spots, key=_order)


def scan_own(
    chain: StoredChain, own: Sequence[Rule], report: Report = lambda done, text: None
) -> Iterator[Spot]:
    """What the person's own rules find beside the known ones; refused where they match too often."""
    yield from _in_parts(chain, own, lambda done, text: report(done / 2, text))
    outside = scan_beside(chain, lambda done, text: report((1 + done) / 2, text), (*RULES, *own))
    for count, spot in enumerate(spot for spot in outside if spot.own is not None):
        if count >= MOST:
            raise Refused(TOO_WIDE.format(MOST))
        yield spot


def _in_parts(chain: StoredChain, own: Sequence[Rule], report: Report) -> Iterator[Spot]:
    left = MOST
    paths = message_paths(chain.tree)
    for start in range(0, len(chain), STRETCH):
        for message, path in zip(chain.slice(start, min(start + STRETCH, len(chain))), paths, strict=False):
            matches = sum(1 for _ in islice(_matches(message, own), left + 1))
            left -= matches
            if left < 0:
                raise Refused(TOO_WIDE.format(MOST))
            # only together with the known rules is it plain which matches are taken already
            for found in scan_message(message, (*RULES, *own)) if matches else ():
                if found.rule in own:
                    yield _spot(path, found)
        report(min(1.0, (start + STRETCH) / max(1, len(chain))), f"{min(start + STRETCH, len(chain)):,} messages read")


def _matches(message: Message, rules: Sequence[Rule]) -> Iterator[object]:
    for part in message.parts:
        for _, text in texts_of(part):
            for rule in rules:
                yield from rule.pattern.finditer(text)


def _spot(path: Path, found: Finding) -> Spot:
    where = str(Path(path.section, path.pair, path.message, found.part))
    own = found.rule if found.rule.group == "own" else None
    return Spot(where, found.rule.name, found.place, found.start, found.end, mark_of(found.value), own)


def mark_of(value: str) -> str:
    return fingerprint(value, settings.SECRET_KEY.encode())


def _order(spot: Spot) -> tuple[int, ...]:
    path = parse_path(spot.path) if spot.path else Path(0)
    last = number_in(spot.place) if spot.is_beside else path.part or 0
    return spot.is_beside, path.section, path.pair or 0, path.message or 0, last, spot.start


def unpacked(rows: Iterable[Sequence[Any]], own: Sequence[Rule] = ()) -> list[Spot]:
    """Spots of a job, without those of rules that are gone since."""
    rules = {rule.name: rule for rule in own}
    spots = (replace(Spot(*row), own=rules.get(row[1])) for row in rows)
    return [spot for spot in spots if spot.own is not None or get_rule(spot.rule) is not None]


@dataclass(frozen=True, slots=True)
class Excerpt:
    before: str
    value: str
    behind: str


class Reader:
    """Reads what stands at spots, a message once."""

    def __init__(self, chain: StoredChain) -> None:
        self._chain = chain
        self._texts: dict[str, dict[str, str]] = {}
        self._beyond = Beyond(chain)

    def place(self, spot: Spot) -> str:
        """In words."""
        return self._beyond.where(spot.path, spot.place, spot.start) if spot.is_beside else spot.place

    def excerpt(self, spot: Spot) -> Excerpt:
        texts = self._of(spot.path) if not spot.is_beside else {spot.place: self._beyond.text(spot.path, spot.place)}
        text = texts.get(spot.place, "")
        return Excerpt(
            text[max(0, spot.start - CONTEXT) : spot.start],
            text[spot.start : spot.end],
            text[spot.end : spot.end + CONTEXT],
        )

    def _of(self, where: str) -> dict[str, str]:
        if where not in self._texts:
            path = parse_path(where)
            self._texts[where] = _texts(self._chain.at(Path(path.section, path.pair, path.message)), path.part)
        return self._texts[where]


def _texts(messages: Sequence[Message], part: int | None) -> dict[str, str]:
    if not messages or part is None or part >= len(messages[0].parts):
        return {}
    return dict(texts_of(messages[0].parts[part]))


def is_long(chain: StoredChain) -> bool:
    return chain.snapshot.size > AT_ONCE
