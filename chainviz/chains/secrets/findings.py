"""Where a chain holds secrets: places and rules, never values, so that what is found may be stored with a job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from django.conf import settings

from chainviz.core.chain.messages import Message
from chainviz.core.chain.paths import parse_path
from chainviz.core.errors import Refused
from chainviz.core.progress import Progress, ignore_progress
from chainviz.core.secrets import RULES, Occurrence, fingerprint, get_rule, scan_chain
from chainviz.core.secrets.part_texts import texts_of
from chainviz.core.secrets.rules.rule import Rule
from chainviz.core.secrets.scan import STRETCH, is_outside, occurrence_id, place_number
from chainviz.store.content.chain import StoredChain

AT_ONCE, MESSAGES_AT_ONCE = 2_000_000, 10_000
"""Bytes as they are stored, and messages, that are scanned while a page is made; more is a job."""
MOST = 50_000
"""Findings that are listed."""
TOO_WIDE = "Your own patterns match more than {:,} times here; make them narrower."


@dataclass(frozen=True, slots=True)
class Spot:
    """A finding without its value."""

    path: str
    """Of the part; of the message for one of its unknown fields; empty around the messages."""
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
        return occurrence_id(self.path, self.place, self.start)

    @property
    def is_outside(self) -> bool:
        """Whether it lies outside of all parts."""
        return is_outside(self.place)

    @property
    def of_rule(self) -> Rule:
        found = self.own or get_rule(self.rule)
        assert found is not None
        return found

    def packed(self) -> list[Any]:
        return [self.path, self.rule, self.place, self.start, self.end, self.mark]


def scan(chain: StoredChain, report: Progress = ignore_progress, rules: Sequence[Rule] = RULES) -> Iterator[Spot]:
    """Everything of the chain that leaves with it, in the order of `scan_chain`."""
    return (_spot(each) for each in scan_chain(chain, rules, report))


def together(spots: Iterable[Spot]) -> list[Spot]:
    """In the order of `scan_chain`."""
    return sorted(spots, key=_order)


def scan_own(chain: StoredChain, own: Sequence[Rule], report: Progress = ignore_progress) -> Iterator[Spot]:
    """What the person's own rules find beside the known ones; refused where they match too often."""
    _refuse_too_many(chain, own, lambda done, text: report(done / 2, text))
    found = (spot for spot in scan(chain, lambda done, text: report((1 + done) / 2, text), (*RULES, *own)) if spot.own)
    for count, spot in enumerate(found):
        if count >= MOST:
            raise Refused(TOO_WIDE.format(MOST))
        yield spot


def _refuse_too_many(chain: StoredChain, own: Sequence[Rule], report: Progress) -> None:
    """Counts without keeping: a pattern that matches every character would fill the memory."""
    left = MOST
    for start in range(0, len(chain), STRETCH):
        for message in chain.slice(start, min(start + STRETCH, len(chain))):
            left -= sum(1 for _ in islice(_matches(message, own), left + 1))
            if left < 0:
                raise Refused(TOO_WIDE.format(MOST))
        report(min(1.0, (start + STRETCH) / max(1, len(chain))), f"{min(start + STRETCH, len(chain)):,} messages read")


def _matches(message: Message, rules: Sequence[Rule]) -> Iterator[object]:
    for part in message.parts:
        for _, text in texts_of(part):
            for rule in rules:
                yield from rule.pattern.finditer(text)


def _spot(each: Occurrence) -> Spot:
    found = each.finding
    own = found.rule if found.rule.group == "own" else None
    return Spot(each.path, found.rule.name, found.place, found.start, found.end, mark_of(found.rule.same(found.value)), own)


def mark_of(value: str) -> str:
    return fingerprint(value, settings.SECRET_KEY.encode())


def _order(spot: Spot) -> tuple[int, ...]:
    if not spot.path:
        return 1, place_number(spot.place), spot.start
    path = parse_path(spot.path)
    last = (1, place_number(spot.place)) if spot.is_outside else (0, path.part or 0)
    return 0, path.section, path.pair or 0, path.message or 0, *last, spot.start


def unpacked(rows: Iterable[Sequence[Any]], own: Sequence[Rule] = ()) -> list[Spot]:
    """Spots of a job, without those of rules that are gone since."""
    rules = {rule.name: rule for rule in own}
    spots = (replace(Spot(*row), own=rules.get(row[1])) for row in rows)
    return [spot for spot in spots if spot.own is not None or get_rule(spot.rule) is not None]


def is_long(chain: StoredChain) -> bool:
    return len(chain) > MESSAGES_AT_ONCE or chain.snapshot.stored + chain.surroundings.size > AT_ONCE
