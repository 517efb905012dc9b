"""The page of secrets: a card for each value with its replacement, and the choices of the form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.http import QueryDict

from chainviz.chains.secrets.findings import Excerpt, Reader, Spot
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.secrets import Masker, Strategy
from chainviz.core.secrets.rules import RULES

CARDS = 20
OF_A_CARD = 5
GROUPS = {"secret": "Secret", "personal": "Personal", "own": "Own"}


@dataclass(frozen=True, slots=True)
class Occurrence:
    id: str
    href: str
    number: str
    place: str
    excerpt: Excerpt
    is_chosen: bool
    is_outside: bool
    """True if it has no checkbox of its own, because it belongs to its value."""


@dataclass(frozen=True, slots=True)
class Card:
    mark: str
    rule: str
    group: str
    count: int
    occurrences: tuple[Occurrence, ...]
    instead: str
    state: str
    """Whether `all`, `some` or `none` of its findings are chosen."""

    @property
    def more_count(self) -> int:
        return self.count - len(self.occurrences)


@dataclass(frozen=True, slots=True)
class Selection:
    """The choices of the form."""

    declined: frozenset[str]
    """Ids of findings that are not masked."""
    off: frozenset[str]
    """Names of rules that are not used."""
    strategy: Strategy
    start: int = 0
    """The first value of the window."""


@dataclass(frozen=True, slots=True)
class RuleCount:
    name: str
    label: str
    count: int
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Review:
    cards: tuple[Card, ...]
    rules: tuple[RuleCount, ...]
    findings: int
    values: int
    chosen: int
    start: int
    declined: str
    shown: str

    @property
    def rules_shown(self) -> str:
        return " ".join(rule.name for rule in self.rules)

    @property
    def following(self) -> int | None:
        return self.start + len(self.cards) if self.start + len(self.cards) < self.values else None

    @property
    def previous(self) -> int | None:
        return max(0, self.start - CARDS) if self.start else None


def declined_in(form: QueryDict, spots: Sequence[Spot]) -> frozenset[str]:
    """Return the ids of findings that are not masked: those of rules and values without a tick, and single ones."""
    declined = {word for word in form.get("declined", "").split(" ") if word}
    if "shown" in form:
        shown_values, _, shown_spots = form.get("shown", "").partition(";")
        values, singles = set(shown_values.split(" ")), set(shown_spots.split(" "))
        kept_values, kept = set(form.getlist("value")), set(form.getlist("finding"))
        was_declined = _values_gone(spots, declined)
        for spot in spots:
            if spot.mark not in values:
                continue
            gone = spot.mark not in kept_values
            back = not gone and spot.mark in was_declined
            if gone or (spot.id in singles and spot.id not in kept and not back):
                declined.add(spot.id)
            elif back or spot.id in singles:
                declined.discard(spot.id)
    _settle_outside(declined, spots)
    return frozenset(declined & {spot.id for spot in spots})


def _settle_outside(declined: set[str], spots: Sequence[Spot]) -> None:
    """Decide values outside parts as a whole: a value is masked there only if none of its findings is declined."""
    inside = {spot.mark for spot in spots if not spot.is_outside}
    declined -= {spot.id for spot in spots if spot.is_outside and spot.mark in inside}
    kept = {spot.mark for spot in spots if spot.id in declined}
    declined |= {spot.id for spot in spots if spot.is_outside and spot.mark in kept}


def _values_gone(spots: Sequence[Spot], declined: set[str]) -> set[str]:
    """Return the values that have nothing left to mask."""
    left = {spot.mark for spot in spots if spot.id not in declined}
    return {spot.mark for spot in spots} - left


def rules_off(form: QueryDict, spots: Sequence[Spot]) -> frozenset[str]:
    """Return the rules whose box was on the page and is not ticked; a rule that is new since then is on."""
    shown = set(form.get("rules_shown", "").split(" "))
    return frozenset({spot.rule for spot in spots} & shown - set(form.getlist("rule")))


def review_of(spots: Sequence[Spot], chosen: Selection, reader: Reader, at: Callable[[Path], str]) -> Review:
    declined, off = chosen.declined, chosen.off
    by_value: dict[str, list[Spot]] = {}
    for spot in spots:
        if spot.rule not in off:
            by_value.setdefault(spot.mark, []).append(spot)
    marks = list(by_value)
    start = min(chosen.start, max(0, (len(marks) - 1) // CARDS * CARDS))
    window = marks[start : start + CARDS]
    instead = _instead(by_value, chosen, reader, set(window))
    view = _View(declined, reader, at)
    cards = tuple(_card(mark, by_value[mark], instead.get(mark, ""), view) for mark in window)
    counts = Counter(spot.rule for spot in spots)
    own = {spot.rule: spot.own for spot in spots if spot.own is not None}
    rules = [rule for rule in (*RULES, *(own[name] for name in sorted(own))) if counts[rule.name]]
    return Review(
        cards=cards,
        rules=tuple(RuleCount(r.name, r.label, counts[r.name], r.name not in off) for r in rules),
        findings=len(spots),
        values=len(marks),
        chosen=sum(spot.rule not in off and spot.id not in declined for spot in spots),
        start=start,
        declined=" ".join(sorted(declined)),
        shown=" ".join(window) + ";" + " ".join(each.id for card in cards for each in card.occurrences if not each.is_outside),
    )


def _instead(by_value: Mapping[str, Sequence[Spot]], chosen: Selection, reader: Reader, window: set[str]) -> dict[str, str]:
    """Return what replaces each value of the window: numbers count all values before it, whose texts need not be read."""
    masker = Masker(chosen.strategy)
    found = {}
    for mark, spots in by_value.items():
        first = next((spot for spot in spots if spot.id not in chosen.declined), None)
        if first is None:
            continue
        value = reader.excerpt(first).value if mark in window else mark
        found[mark] = masker.placeholder(first.of_rule, value)
    return found


class _View(NamedTuple):
    """The data that all cards of a page share."""

    declined: frozenset[str]
    reader: Reader
    at: Callable[[Path], str]
    """Returns the address of a node."""


def _card(mark: str, spots: Sequence[Spot], instead: str, view: _View) -> Card:
    gone = sum(spot.id in view.declined for spot in spots)
    return Card(
        mark=mark,
        rule=spots[0].of_rule.label,
        group=GROUPS[spots[0].of_rule.group],
        count=len(spots),
        occurrences=tuple(_occurrence(spot, view) for spot in spots[:OF_A_CARD]),
        instead=instead,
        state="none" if gone == len(spots) else "some" if gone else "all",
    )


def _occurrence(spot: Spot, view: _View) -> Occurrence:
    path = parse_path(spot.path) if spot.path else None
    return Occurrence(
        id=spot.id,
        href=view.at(path) if path else "",
        number=path.number if path else "around",
        place=view.reader.place(spot),
        excerpt=view.reader.excerpt(spot),
        is_chosen=spot.id not in view.declined,
        is_outside=spot.is_outside,
    )
