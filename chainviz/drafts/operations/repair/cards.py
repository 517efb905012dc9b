"""The repair page: shows every possible fix as a card, and reads the options from its form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from chainviz.chains.verdicts import structure_text
from chainviz.core.chain.paths import Path
from chainviz.core.counts import count_text
from chainviz.core.operations.repair.fixes import CHOICES, Fix, RepairOptions
from chainviz.web.formatting import byte_text

MOST_CARDS = 30
"""The most fixes that are chosen one by one. If there are more, a person chooses kinds of fixes, and single ones within a kind."""


@dataclass(frozen=True, slots=True)
class Badge:
    state: str
    icon: str
    text: str


@dataclass(frozen=True, slots=True)
class Way:
    value: str
    label: str
    hint: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Card:
    key: str
    """The value that the form sends: the id of a fix, or the name of a kind of fixes."""
    title: str
    problem: str
    why: str
    place: str
    href: str
    badges: tuple[Badge, ...]
    is_chosen: bool
    ways: tuple[Way, ...]
    one_by_one: str = ""
    """The page with the fixes of a kind."""


@dataclass(frozen=True, slots=True)
class Cards:
    cards: tuple[Card, ...]
    lead: str
    by_kind: bool = False
    next_href: str = ""
    next_text: str = ""


@dataclass(frozen=True, slots=True)
class Links:
    at: Callable[[Path], str]
    query: str
    """Identifies in an address the repaired content, and the part of it that was read."""


def cards_of(fixes: Sequence[Fix], problems: int, kind: str, start: int, links: Links) -> Cards:
    """Return all fixes one by one if they are few, else kinds of fixes, or the fixes of one kind from `start` on.
    `problems`: the number of problems of the chain, as every page counts them. One fix may clear several, or prepare
    another one.
    """
    at, query = links.at, links.query
    if kind:
        of_kind = [fix for fix in fixes if fix.name == kind] or [fix for fix in fixes if kind in fix.choices]
        window = of_kind[start : start + MOST_CARDS]
        left = len(of_kind) - start - len(window)
        found = count_text(len(of_kind), "fix", "fixes")
        lead = f"{found} of the kind “{CHOICES[kind][0].lower()}”. This preview leaves out other kinds."
        following = f"{query}&kind={kind}&from={start + MOST_CARDS}" if left > 0 else ""
        return Cards(
            tuple(_card(fix, at) for fix in window), lead, next_href=following, next_text=count_text(left, "more fix", "more fixes")
        )
    if len(fixes) <= MOST_CARDS:
        return Cards(tuple(_card(fix, at) for fix in fixes), _lead(fixes, problems))
    return Cards(tuple(_kinds(fixes, at, query)), _lead(fixes, problems), by_kind=True)


def _lead(fixes: Sequence[Fix], problems: int) -> str:
    if not fixes:
        return "Every call has its result, every result has its call, and the messages are in a valid order."
    rest = sum(not fix.default for fix in fixes)
    found = f"{structure_text(problems)}, {count_text(len(fixes), 'fix', 'fixes')}.".capitalize()
    lead = f"{found} Untick a fix to skip it, or choose another one."
    return f"{lead} {count_text(rest, 'fix', 'fixes')} {'is' if rest == 1 else 'are'} optional and not chosen." if rest else lead


def _card(fix: Fix, at: Callable[[Path], str]) -> Card:
    return Card(
        key=fix.id,
        title=CHOICES[fix.choices[0]][0],
        problem=fix.problem,
        why=fix.explanation,
        place=fix.path.number,
        href=at(fix.path),
        badges=(_size_badge(fix.bytes_before, fix.bytes_after),),
        is_chosen=fix.accepted,
        ways=_ways(fix),
    )


def _ways(fix: Fix) -> tuple[Way, ...]:
    if len(fix.choices) == 1:
        return ()
    return tuple(Way(name, *CHOICES[name], is_chosen=name == fix.choice) for name in fix.choices)


def _size_badge(before: int, after: int) -> Badge:
    if after > before:
        return Badge("added", "added", f"adds {byte_text(after - before)}")
    if after < before:
        return Badge("removed", "removed", f"removes {byte_text(before - after)}")
    return Badge("changed", "changed", "same size")


def _kinds(fixes: Sequence[Fix], at: Callable[[Path], str], query: str) -> list[Card]:
    numbers = Counter(fix.name for fix in fixes)
    cards = []
    for name, number in numbers.items():
        of_kind = [fix for fix in fixes if fix.name == name]
        before, after = (sum(sizes) for sizes in zip(*((f.bytes_before, f.bytes_after) for f in of_kind), strict=True))
        first = of_kind[0]
        nodes = list(dict.fromkeys(fix.path.number for fix in of_kind))
        places = ", ".join(nodes[:6]) + (" …" if len(nodes) > 6 else "")
        common = [choice for choice in first.choices if all(choice in fix.choices for fix in of_kind)]
        ways = tuple(Way(choice, *CHOICES[choice], is_chosen=choice == first.choice) for choice in common)
        cards.append(
            Card(
                key=name,
                title=f"{CHOICES[name][0]} · {count_text(number, 'fix', 'fixes')}",
                problem=f"{first.problem} {number - 1:,} more like this." if number > 1 else first.problem,
                why=CHOICES[name][1],
                place=places,
                href=at(first.path),
                badges=(_size_badge(before, after),),
                is_chosen=first.default,
                ways=ways if len(ways) > 1 else (),
                one_by_one=f"{query}&kind={name}",
            )
        )
    return cards


def options_in(form: QueryDict, offered: Sequence[Fix], kind: str, *, content: bool = True) -> RepairOptions:
    """Return the options. Fixes that were not offered on the page keep their default choice, except on the page of one
    kind."""
    by_kind = not kind and len(offered) > MOST_CARDS
    chosen = form.getlist("fix")
    choose = [f"{key}={form[f'way-{key}']}" for key in chosen if f"way-{key}" in form]
    if kind:
        return _options(content=content, only=tuple(chosen) or ("none",), choose=tuple(choose))
    keys = dict.fromkeys(fix.name if by_kind else fix.id for fix in offered)
    usual = {fix.name if by_kind else fix.id for fix in offered if fix.default}
    if set(chosen) <= usual:
        return _options(content=content, skip=tuple(key for key in keys if key not in chosen), choose=tuple(choose))
    return _options(content=content, only=tuple(chosen), choose=tuple(choose))


def _options(**values: object) -> RepairOptions:
    return RepairOptions.model_validate(values)
