"""Compare two runs of one task by their requests, calls and texts, because their call ids are unrelated, and list the facts and the
outcome of each run."""

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

ONLY_IDS = "Both make the same calls and say the same; only the ids of the calls differ."


def are_runs(one: Chain, other: Chain) -> bool:
    """Return True if two chains are separate runs, so that equal call ids do not mean equal calls. False for two states of one chain.

    They are runs if fewer than half of the calls of the shorter chain are in the other one, by id and tool; in tau-bench's recorded
    runs, some ids occur in other runs for other tools. They are also runs if the same call has different ids in both and both chains
    contain these ids: counted ids, such as call_1, occur in every run.
    """
    calls, others = ({(call.id, call.name) for shape in chain.shapes() for call in shape.calls} for chain in (one, other))
    if not calls or not others:
        return False
    return 2 * len(calls & others) < min(len(calls), len(others)) or _ids_differ(one, other)


def _ids_differ(one: Chain, other: Chain) -> bool:
    """Return True if the same call has different ids in two chains, and both chains contain both ids."""
    calls, others = _calls(one), _calls(other)
    shared = {id for id, _ in calls} & {id for id, _ in others}
    left, right = ({said for id, said in alone if id in shared} for alone in (calls - others, others - calls))
    return bool(left & right)


def _calls(chain: Chain) -> Counter[tuple[str, int]]:
    """Count the calls of a chain by id and a hash of the name and arguments."""
    return Counter(
        (part.id, hash((part.name, part.arguments)))
        for message in chain.stream(0, len(chain))
        for part in message.parts
        if isinstance(part, ToolCall)
    )


def diff_runs(one: Chain, other: Chain, *, rows: Callable[[Chain], Rows] = lambda chain: ShapeRows(chain.shapes())) -> ChainDiff:
    """Compare two runs. Consecutive pairs that only one run has form one group."""
    diff = diff_chains(one, other, rows=rows, keys=content_keys, rules=RUN_RULES)
    notes = diff.notes if diff.changes else (ONLY_IDS,)
    return replace(diff, groups=GroupTable.of(_joined(diff.groups)), notes=notes, ids_matter=False)


def content_keys(chain: Chain, start: int, stop: int) -> list[Hashable]:
    """Return a key for each message. Keys are equal if the texts and calls are equal, regardless of call ids."""
    return [_key(message) for message in chain.stream(start, stop)]


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
"""The number of messages searched at once, from the end of a chain."""
MOST = 200
"""The most characters of an outcome's line."""


class Outcome(NamedTuple):
    message: int
    """The index of the message in the chain."""
    line: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    messages: int
    pairs: int
    size: int
    problems: int
    usage: TokenUsage | None = None
    """The recorded token usage; None if the transcript records none."""
    model: str = ""
    cost: Decimal | None = None
    seconds: float = 0
    """Seconds from the first recorded time to the last; 0 if no times are recorded."""
    tools: Mapping[str, int] = field(default_factory=dict)
    """The number of calls of each tool."""
    tool_errors: int = 0
    """The number of results marked as errors."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """The verdict of each provider, by the provider's label: `accepted`, `4 errors` or `not fully checked`."""
    labels: tuple[str, ...] = ()
    """Labels that people gave the whole chain: tags, ratings, pass or fail."""
    outcome: Outcome | None = None
    recorded_outcome: Mapping[str, str] = field(default_factory=dict)
    """Values that the transcript records about the outcome, such as a reward, by name."""


class FactRow(NamedTuple):
    name: str
    one: str
    other: str

    @property
    def differs(self) -> bool:
        return self.one != self.other


def fact_rows(one: RunFacts, other: RunFacts) -> Iterator[FactRow]:
    """Yield each fact of both runs in words. Verdicts are listed only for providers whose verdicts differ."""
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
    """Return the recorded outcome of both runs in rows."""
    names = {**one.recorded_outcome, **other.recorded_outcome}
    return [FactRow(name, *(each.recorded_outcome.get(name, "not recorded") for each in (one, other))) for name in names]


def _accepting(verdicts: Mapping[str, str]) -> str:
    accepting = sum(said == "accepted" for said in verdicts.values())
    return f"{accepting} of {len(verdicts)} providers" if verdicts else "not checked"


def tool_rows(one: RunFacts, other: RunFacts) -> Iterator[tuple[str, int, int]]:
    """Yield (tool, calls in one, calls in the other), the most called tool first."""
    names = {**one.tools, **other.tools}
    for name in sorted(names, key=lambda each: (-one.tools.get(each, 0) - other.tools.get(each, 0), each)):
        yield name or "no name", one.tools.get(name, 0), other.tools.get(name, 0)


def outcome_of(chain: Chain) -> Outcome | None:
    """Return the first line of the last AI message with a text; None if there is none. Reads only bodies of AI messages with text."""
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


# Some transcripts record the outcome of a run beside its messages: tau-bench and tau2 a reward (tau2 also the reason why the run ended),
# SWE-agent and mini-SWE-agent an exit status and a submission, Inspect scores, OpenHands whether the run succeeded, and Claude Code
# the last line of its stream.


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
"""The name of each recorded value, and its keys in the object around the messages."""


def recorded_outcome(context: DocumentContext) -> dict[str, str]:
    """Return the recorded outcome by name, in words; {} if the transcript records none."""
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
    """Return a value in one line: the first line and length of a text, or a number or boolean; "" for any other value."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:g}"
    if not isinstance(value, str):
        return ""
    first, *more = value.strip().splitlines() or ["empty"]
    line = first if len(first) <= MOST else f"{first[: MOST - 1]}…"
    return f"{line} … ({len(more) + 1:,} lines, {len(value):,} characters)" if more else line
