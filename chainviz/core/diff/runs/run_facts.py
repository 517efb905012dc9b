"""What two chains are compared by before their messages are: sizes, tools, problems, verdicts, recorded tokens, cost,
duration, and how they ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import AI, Message, Text
from chainviz.core.usage.duration_text import duration_text
from chainviz.core.usage.recorded import TokenUsage

LOOKED_AT = 200
"""Messages, from the end of a chain, that are looked at together."""
MOST = 200
"""Characters of its first line."""


class Outcome(NamedTuple):
    message: int
    """Its place in the chain."""
    line: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    messages: int
    pairs: int
    size: int
    problems: int
    usage: TokenUsage | None = None
    """None where the transcript records no tokens."""
    model: str = ""
    cost: Decimal | None = None
    seconds: float = 0
    """From its first recorded time to its last; 0 where none are recorded."""
    tools: Mapping[str, int] = field(default_factory=dict)
    """Calls of each tool."""
    tool_errors: int = 0
    """Results that say they are errors."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Of every provider, by its label: `accepted`, `4 errors` or `not fully checked`."""
    labels: tuple[str, ...] = ()
    """What people said of the whole chain: tags, ratings, pass or fail."""
    outcome: Outcome | None = None
    recorded_outcome: Mapping[str, str] = field(default_factory=dict)
    """What the transcript records of how it ended, such as a reward, by name."""


class FactRow(NamedTuple):
    name: str
    one: str
    other: str

    @property
    def differs(self) -> bool:
        return self.one != self.other


def fact_rows(one: RunFacts, other: RunFacts) -> Iterator[FactRow]:
    """Every fact with its words for both; verdicts only of the providers that judge the two differently."""
    both = (one, other)
    for name, attribute in (("Messages", "messages"), ("Pairs", "pairs"), ("Bytes", "size"), ("Problems", "problems")):
        yield FactRow(name, *(f"{getattr(each, attribute):,}" for each in both))
    yield FactRow("Accepted by", *(_accepting(each.verdicts) for each in both))
    for label in one.verdicts:
        row = FactRow(label, *(each.verdicts.get(label, "not checked") for each in both))
        if row.differs:
            yield row
    yield FactRow("Tool calls", *(f"{sum(each.tools.values()):,}" for each in both))
    yield FactRow("Tool errors", *(f"{each.tool_errors:,}" for each in both))
    yield FactRow("Model", *(each.model or "not recorded" for each in both))
    yield FactRow("Tokens in", *(f"{each.usage.input:,}" if each.usage else "not recorded" for each in both))
    yield FactRow("Tokens out", *(f"{each.usage.output:,}" if each.usage else "not recorded" for each in both))
    yield FactRow("Cost", *("unknown" if each.cost is None else f"${each.cost:,.2f}" for each in both))
    yield FactRow("Duration", *(duration_text(each.seconds) if each.seconds else "not recorded" for each in both))
    if one.labels or other.labels:
        yield FactRow("Labels", *(", ".join(each.labels) or "none" for each in both))


def outcome_rows(one: RunFacts, other: RunFacts) -> list[FactRow]:
    """What either records of how it ended."""
    names = {**one.recorded_outcome, **other.recorded_outcome}
    return [FactRow(name, *(each.recorded_outcome.get(name, "not recorded") for each in (one, other))) for name in names]


def _accepting(verdicts: Mapping[str, str]) -> str:
    accepting = sum(said == "accepted" for said in verdicts.values())
    return f"{accepting} of {len(verdicts)} providers" if verdicts else "not checked"


def tool_rows(one: RunFacts, other: RunFacts) -> Iterator[tuple[str, int, int]]:
    """(tool, calls in one, calls in the other), the most called first."""
    names = {**one.tools, **other.tools}
    for name in sorted(names, key=lambda each: (-one.tools.get(each, 0) - other.tools.get(each, 0), each)):
        yield name or "no name", one.tools.get(name, 0), other.tools.get(name, 0)


def outcome_of(chain: Chain) -> Outcome | None:
    """Returns the first line of the last AI message that says something; None where none does. Only bodies of AI messages with
    a text are read, one after the other."""
    for stop in range(len(chain), 0, -LOOKED_AT):
        start = max(0, stop - LOOKED_AT)
        for place, shape in reversed(list(enumerate(chain.shapes_in(start, stop), start))):
            line = _first_line(chain[place]) if shape.role == AI and shape.has_text else ""
            if line:
                return Outcome(place, line)
    return None


def _first_line(message: Message) -> str:
    texts = (part.text.strip() for part in message.parts if isinstance(part, Text))
    text = next((text for text in texts if text), "")
    line = text.partition("\n")[0]
    return line if len(line) <= MOST else f"{line[: MOST - 1]}…"
