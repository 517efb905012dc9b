"""A run as its page words and draws it: numbers before and after, the trace, the messages around the cut, the strip."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from chainviz.drafts.operations.compact.run import Ran, Step
from chainviz.web.formatting.byte_text import byte_text

WORDS = {
    "not_run": ("not run", "quiet", "quiet"),
    "not_triggered": ("not triggered", "quiet", "close"),
    "triggered": ("true", "ok", "ok"),
    "no_change": ("triggered, removed nothing", "changed", "next"),
    "changed": ("changed the state", "removed", "removed"),
}
"""Of each verdict: what it is called, its colour and its icon."""
_PLACE = re.compile(r"\b(compactor|trigger)s\[(\d+)\]")
LETTERS = {"A": "answer", "C": "calls", "T": "tool result", "U": "human", "S": "system", "X": "another role"}


@dataclass(frozen=True, slots=True)
class Measure:
    name: str
    before: str
    after: str
    saved: str
    percent: int


@dataclass(frozen=True, slots=True)
class Part:
    """A compactor or trigger inside of another."""

    label: str
    reason: str
    state: str
    icon: str


@dataclass(frozen=True, slots=True)
class Item:
    """A compactor of the strategy, in the order in which they are tried."""

    label: str
    verdict: str
    reason: str
    state: str
    icon: str
    is_winner: bool
    falls_through: bool
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Chip:
    """A message beside the cut, or a mark between two."""

    number: int = 0
    letter: str = ""
    word: str = ""
    is_gone: bool = False
    is_moved: bool = False
    """Goes only because the cut moved on to a human message."""
    mark: str = ""
    """target or cut."""


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    width: float
    is_gone: bool


@dataclass(frozen=True)
class Result:
    ran: Ran

    @property
    def kept(self) -> int:
        return self.ran.before.messages - self.ran.removed

    def measures(self) -> Iterator[Measure]:
        before, after = self.ran.before, self.ran.after
        source = "" if self.ran.tokens_source == "recorded" else f", {self.ran.tokens_source}"
        yield _measure(f"Prompt tokens{source}", before.tokens, after.tokens)
        yield _measure("Bytes stored", before.size, after.size, is_bytes=True)
        yield _measure("Messages stored", before.messages, after.messages)
        yield _measure("Turns", before.turns, after.turns)

    def items(self) -> Iterator[Item]:
        top = 1 if any(step.depth == 0 and step.label == "Composite" for step in self.ran.steps) else 0
        found = [(step, list(_below(self.ran.steps, step))) for step in self.ran.steps if step.depth == top]
        for number, (step, below) in enumerate(found):
            word, state, icon = WORDS[step.verdict]
            is_winner = step.verdict == "changed"
            falls = step.verdict == "no_change" and number + 1 < len(found)
            yield Item(step.label, word, _worded(step.reason), state, icon, is_winner, falls, tuple(map(_part, below)))

    def chips(self) -> Iterator[Chip]:
        cut = self.ran.cut
        if cut is None:
            return
        for place, letter in cut.around:
            if place == cut.wanted != cut.at:
                yield Chip(mark="target")
            if place == cut.at:
                yield Chip(mark="cut")
            yield Chip(place + 1, letter, LETTERS[letter], place < cut.at, cut.wanted <= place < cut.at)
        if cut.at == self.ran.before.messages:
            yield Chip(mark="cut")

    @property
    def cut_number(self) -> int:
        """Of the first message that stays; 0 where none does."""
        cut = self.ran.cut
        return cut.at + 1 if cut and cut.at < self.ran.before.messages else 0

    def strip(self) -> Iterator[Bar]:
        whole = sum(block.size for block in self.ran.blocks) or 1
        done = 0
        for block in self.ran.blocks:
            width = max(0.4, 1000 * block.size / whole - 0.6)
            yield Bar(round(1000 * done / whole, 1), round(width, 1), block.is_gone)
            done += block.size


def _below(steps: tuple[Step, ...], above: Step) -> Iterator[Step]:
    """Those inside of a step that hold no other."""
    places = [step.place for step in steps]
    for step in steps:
        inside = step.place.startswith(f"{above.place}.") if above.place else bool(step.place)
        if inside and not any(place.startswith(f"{step.place}.") for place in places):
            yield step


def _part(step: Step) -> Part:
    _, state, icon = WORDS[step.verdict]
    return Part(step.label, _worded(step.reason), state, icon)


def _worded(reason: str) -> str:
    """`compactors[0]` is compactor 1 to a person."""
    return _PLACE.sub(lambda found: f"{found[1]} {int(found[2]) + 1}", reason)


def _measure(name: str, before: int, after: int, *, is_bytes: bool = False) -> Measure:
    text = byte_text if is_bytes else "{:,}".format
    percent = round(100 * after / before) if before else 100
    saved = f"−{100 - percent}%" if after < before else ""
    return Measure(name, text(before), text(after), saved, min(100, percent))
