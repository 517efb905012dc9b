"""Compare two runs of one task: aligned by what they ask, call and say, because their call ids have nothing in common, with
the facts of each run and how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from decimal import Decimal
from hashlib import blake2b
from itertools import groupby
from typing import Any, NamedTuple

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import AI, Message, Part, Text, ToolCall, ToolResult
from chainviz.core.diff.chains import ChainDiff, diff_chains
from chainviz.core.diff.group_table import GroupTable
from chainviz.core.diff.groups import Group, Side
from chainviz.core.diff.matching import RUN_RULES
from chainviz.core.diff.rows import Rows, ShapeRows
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.usage.document_usage import carried_lines, members_beside
from chainviz.core.usage.recorded import TokenUsage
from chainviz.core.usage.times import duration_text

READ_TOGETHER = 500
"""Messages that are read at once."""
ONLY_IDS = "Both make the same calls and say the same; only the ids of the calls differ."


def are_runs(one: Chain, other: Chain) -> bool:
    """Return True if the call ids do not show which calls of two chains are the same; else they are two states of one
    chain.
    That is so if fewer than half of the calls of the shorter chain are calls of the other too, by id and tool: in
    tau-bench's
    recorded runs some ids occur in other runs, for other tools. And if both make the same call under two ids that each
    of
    them has: counted ids, such as call_1, occur in every run.
    """
    calls, others = ({(call.id, call.name) for shape in chain.shapes() for call in shape.calls} for chain in (one, other))
    if not calls or not others:
        return False
    return 2 * len(calls & others) < min(len(calls), len(others)) or _ids_differ(one, other)


def _ids_differ(one: Chain, other: Chain) -> bool:
    """Whether a call of one is a call of the other under another id, and both ids occur on both sides."""
    calls, others = _calls(one), _calls(other)
    shared = {id for id, _ in calls} & {id for id, _ in others}
    left, right = ({said for id, said in alone if id in shared} for alone in (calls - others, others - calls))
    return bool(left & right)


def _calls(chain: Chain) -> Counter[tuple[str, int]]:
    """Count the calls of a chain by id and a hash of the name and arguments."""
    return Counter(
        (part.id, hash((part.name, part.arguments)))
        for start in range(0, len(chain), READ_TOGETHER)
        for message in chain.slice(start, min(start + READ_TOGETHER, len(chain)))
        for part in message.parts
        if isinstance(part, ToolCall)
    )


def diff_runs(
    one: Chain, other: Chain, *, rows: Callable[[Chain], Rows] = lambda chain: ShapeRows(chain.shapes())
) -> ChainDiff:
    """Neighbouring pairs of one side alone are one group."""
    diff = diff_chains(one, other, rows=rows, keys=content_keys, rules=RUN_RULES)
    notes = diff.notes if diff.changes else (ONLY_IDS,)
    return replace(diff, groups=GroupTable.of(_joined(diff.groups)), notes=notes, ids_matter=False)


def content_keys(chain: Chain, start: int, stop: int) -> list[Hashable]:
    """Return a key for each message: equal if texts and calls are the same, whatever the ids of the calls."""
    keys: list[Hashable] = []
    for first in range(start, stop, READ_TOGETHER):
        keys += [_key(message) for message in chain.slice(first, min(first + READ_TOGETHER, stop))]
    return keys


def _key(message: Message) -> bytes:
    content = repr((message.role, [(type(part).__name__, astuple(_without_id(part))) for part in message.parts]))
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _without_id(part: Part) -> Part:
    if isinstance(part, ToolCall):
        return replace(part, id="", origin=-1)
    if isinstance(part, ToolResult):
        return replace(part, call_id="", origin=-1)
    return replace(part, origin=-1)


def _joined(groups: Sequence[Group]) -> Iterator[Group]:
    for kind, run in groupby(groups, key=lambda group: group.kind):
        if kind not in ("added", "removed"):
            yield from run
            continue
        members = list(run)
        yield Group(kind, _union([each.old for each in members]), _union([each.new for each in members]))


def _union(sides: list[Side]) -> Side:
    first, last = sides[0], sides[-1]
    measure = first.measure
    for side in sides[1:]:
        measure += side.measure
    return Side(first.start, last.stop, measure, first.first, last.last)


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
    """Return the first line of the last AI message with a text; None if there is none. Only bodies of AI messages with
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


# How a run ended, as recorded beside its messages: tau-bench and tau2 record a reward, tau2 also why the run ended,
# SWE-agent and mini-SWE-agent an exit status and a submission, Inspect scores, OpenHands whether the run succeeded or
# was correct, and Claude Code a last line of its stream.


MOST_SCORES = 20
MEMBERS = (
    ("Reward", ("reward",)),
    ("Reward", ("reward_info", "reward")),
    ("Termination reason", ("termination_reason",)),
    ("Exit status", ("info", "exit_status")),
    ("Submission", ("info", "submission")),
    ("Success", ("success",)),
    ("Correct", ("correct",)),
)
"""What each is called, and where it lies in the object around the messages."""


def recorded_outcome(context: DocumentContext) -> dict[str, str]:
    """Returns its values by name, in words; {} where the transcript records none."""
    members = members_beside(context)
    scores = members.get("scores")
    names = list(scores)[:MOST_SCORES] if isinstance(scores, dict) else []
    places = [*MEMBERS, *((f"Score {name}", ("scores", name, "value")) for name in names)]
    found = {name: words for name, path in places if (words := _words(_at(members, path)))}
    for line in carried_lines(context, ('"result"',)):
        if isinstance(line, dict) and line.get("type") == "result":
            found["Result"] = _words(line.get("subtype")) or "not said"
    return found


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _words(value: Any) -> str:
    """Describe a value in one line: a text by its first line and length, a number or truth value as it is, and "" for
    other values."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:g}"
    if not isinstance(value, str):
        return ""
    first, *more = value.strip().splitlines() or ["empty"]
    line = first if len(first) <= MOST else f"{first[: MOST - 1]}…"
    return f"{line} … ({len(more) + 1:,} lines, {len(value):,} characters)" if more else line
