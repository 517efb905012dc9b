"""The loss report: the facts of folded messages that the summary no longer contains, each with its former place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from chainviz.core.chain.messages import Message, ToolCall
from chainviz.core.chain.paths import Path
from chainviz.core.operations.summarize.facts import KINDS, Fact, Kind, facts_in, facts_of

MOST_CHARACTERS = 1_000_000
"""Number of characters after which the search stops; the report then says that it is incomplete."""
MOST_OF_A_TEXT = 200_000
MOST_FACTS = 1_000
"""The most distinct facts of each kind."""
_CHECKED_PLACES = 20
NUMBERS = ("number", "counter")


@dataclass(frozen=True, slots=True)
class Loss:
    kind: Kind
    text: str
    message: int
    """Index among the folded messages."""
    part: int
    path: Path | None = None
    """The path of the fact's message, if the paths were given."""


@dataclass(frozen=True, slots=True)
class Share:
    """The share of one kind of facts that survives; repeated facts count once."""

    kind: Kind
    found: int
    kept: int

    @property
    def label(self) -> str:
        return KINDS[self.kind]

    @property
    def percent(self) -> int:
        return self.kept * 100 // self.found


@dataclass(frozen=True, slots=True)
class LossReport:
    losses: tuple[Loss, ...]
    """Sorted by kind, then in the order of the messages."""
    shares: tuple[Share, ...]
    """One share for each kind that occurs."""
    complete: bool = True
    """False if some facts were not checked because there are too many or the messages are too long."""


def losses(messages: Sequence[Message], summary: str, places: Sequence[Path] = ()) -> LossReport:
    """Report the facts of the messages that the summary does not contain. `places` gives the path of each message."""
    found: dict[Kind, dict[str, Loss]] = {kind: {} for kind in KINDS}
    complete = True
    budget = MOST_CHARACTERS
    for index, message in enumerate(messages):
        length = sum(min(_length(part), MOST_OF_A_TEXT) for part in message.parts)
        complete &= budget >= length and all(_length(part) <= MOST_OF_A_TEXT for part in message.parts)
        if budget < length:
            break
        budget -= length
        for part, fact in facts_of(message, most_characters=MOST_OF_A_TEXT):
            known = found[fact.kind]
            if len(known) < MOST_FACTS:
                known.setdefault(_spelling(fact), Loss(fact.kind, fact.text, index, part, _path(places, index, part)))
            else:
                complete &= _spelling(fact) in known
    held = _SummaryIndex(summary)
    lost = {kind: [loss for key, loss in known.items() if not held.holds(kind, key)] for kind, known in found.items()}
    shares = tuple(Share(kind, len(known), len(known) - len(lost[kind])) for kind, known in found.items() if known)
    return LossReport(tuple(loss for every in lost.values() for loss in every), shares, complete)


def _length(part: object) -> int:
    return len(part.arguments) if isinstance(part, ToolCall) else len(getattr(part, "text", getattr(part, "content", "")))


def _path(places: Sequence[Path], index: int, part: int) -> Path | None:
    return (
        replace(places[index], part=part)
        if index < len(places) and places[index].message is not None
        else (places[index] if index < len(places) else None)
    )


def _spelling(fact: Fact) -> str:
    """Return a normalized spelling of the fact; two facts with the same spelling are equal."""
    if fact.kind in NUMBERS:
        return _number(fact.text)
    return _plain(fact.text) if fact.kind in ("error", "command") else fact.text


def _number(text: str) -> str:
    return text.replace(",", "").lstrip("$€£").rstrip("%")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .:;!")


class _SummaryIndex:
    """Looks up facts in a summary."""

    def __init__(self, summary: str) -> None:
        self.text = summary
        self.plain = _plain(summary)
        self.numbers = {_number(text) for text in _texts(facts_in(summary))}

    def holds(self, kind: Kind, spelling: str) -> bool:
        if kind in NUMBERS:
            return spelling in self.numbers
        return _has_word(self.plain if kind in ("error", "command") else self.text, spelling)


def _texts(facts: Iterable[Fact]) -> Iterable[str]:
    return (fact.text for fact in facts if fact.kind in NUMBERS)


def _has_word(text: str, word: str) -> bool:
    """Return True if `text` contains `word`, but not inside a longer word."""
    start = -1
    for _ in range(_CHECKED_PLACES):
        start = text.find(word, start + 1)
        if start < 0:
            return False
        end = start + len(word)
        if not (_joins(text[start - 1 : start], word[:1]) or _joins(word[-1:], text[end : end + 1])):
            return True
    return False


def _joins(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum()
