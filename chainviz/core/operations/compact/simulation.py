"""Replay the turns of a chain with a strategy after each turn, to see when it would have compacted and how large each request would have
been. Summaries and redaction can be compared as estimates."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Protocol

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import HUMAN, SYSTEM, TOOL, Shape
from chainviz.core.errors import OptionsError
from chainviz.core.operations.compact import Compact, CompactOptions
from chainviz.core.operations.compact.contract import Trial
from chainviz.core.operations.compact.strategy import Strategy
from chainviz.core.operations.contract import Context
from chainviz.core.operations.execute import get_operation, read_options
from chainviz.core.state.call import CompactionRequest, MessageIndex, Usage, Window, ends_turn, leading_systems
from chainviz.core.usage.model_catalog import BYTES_PER_TOKEN, estimated_tokens

# Summaries and redaction are estimated from typical sizes; nothing is written or read.


SUMMARY = 1_000
"""The estimated size in bytes of the summary of a section."""
PLACEHOLDER = 58
"""The estimated size in bytes of a redacted tool result."""


class Estimate(Protocol):
    """Estimates the messages before an index after another operation."""

    def size(self, place: int) -> int:
        """Return the bytes of a request with these messages."""

    def count(self, place: int) -> int:
        """Return the number of messages in that request."""

    def whole_from(self, place: int) -> int:
        """Return the index from which all messages are sent unchanged."""


class SummaryEstimate:
    """Estimates summaries: each older section becomes one summary, and the current section stays."""

    def __init__(self, messages: Sequence[Shape]) -> None:
        self._sizes = [0, *accumulate(message.size for message in messages)]
        self._starts: list[int] = [0]
        self._folded: list[tuple[int, int]] = [(0, 0)]
        """Bytes and messages before the start of each section, with all earlier sections folded."""
        header = body = headers = 0
        for place, message in enumerate(messages):
            is_header = message.role in (SYSTEM, HUMAN)
            if is_header and body:
                size, count = self._folded[-1]
                self._starts.append(place)
                self._folded.append((size + header + min(body, SUMMARY), count + headers + 1))
                header = body = headers = 0
            header, body = (header + message.size, body) if is_header else (header, body + message.size)
            headers += is_header

    def size(self, place: int) -> int:
        section = self._section(place)
        return self._folded[section][0] + self._sizes[place] - self._sizes[self._starts[section]]

    def count(self, place: int) -> int:
        section = self._section(place)
        return self._folded[section][1] + place - self._starts[section]

    def whole_from(self, place: int) -> int:
        return self._starts[self._section(place)]

    def _section(self, place: int) -> int:
        return bisect_right(self._starts, max(0, place - 1)) - 1


class RedactionEstimate:
    """Estimates redaction: tool results of complete turns become placeholders, and those of the current turn stay."""

    def __init__(self, messages: Sequence[Shape]) -> None:
        self._sizes = [0, *accumulate(message.size for message in messages)]
        self._redacted = [0, *accumulate(min(each.size, PLACEHOLDER) if each.role == TOOL else each.size for each in messages)]
        self._ends = [place for place, message in enumerate(messages) if ends_turn(message)]

    def size(self, place: int) -> int:
        start = self.whole_from(place)
        return self._redacted[start] + self._sizes[place] - self._sizes[start]

    def count(self, place: int) -> int:
        return place

    def whole_from(self, place: int) -> int:
        ended = bisect_left(self._ends, place)
        return self._ends[ended - 1] + 1 if ended else 0


EVERY = 500
"""The number of turns between two updates of the progress, which also check for cancellation."""


@dataclass(frozen=True, slots=True)
class Line:
    """One way to keep a conversation small; without strategy and estimate, the unchanged conversation."""

    name: str
    strategy: Strategy | None = None
    estimate: Estimate | None = None
    """Estimates each request, for an operation that rewrites messages."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The messages `start` to `end`, which is an AI message without calls."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Firing:
    """A strategy that removed messages after a turn."""

    turn: int
    """Index of the turn, from 0."""
    removed: int
    removed_bytes: int
    trial: Trial


@dataclass(frozen=True, slots=True)
class Simulated:
    """One line of the simulation over all turns. A turn is represented by its last request, which is its largest."""

    line: Line
    sizes: tuple[int, ...]
    """Content bytes of each turn's request, leading system messages included."""
    starts: tuple[int, ...]
    """For each turn's request, the index of the first unchanged message. Earlier ones are removed or, in an estimate, rewritten."""
    firings: tuple[Firing, ...]
    counts: tuple[int, ...]
    """The number of messages in each turn's request, including leading system messages."""

    def tokens(self, bytes_per_token: float = BYTES_PER_TOKEN) -> tuple[int, ...]:
        return tuple(estimated_tokens(size, bytes_per_token) for size in self.sizes)


@dataclass(frozen=True, slots=True)
class Lost:
    """The messages of the chain that a request leaves out."""

    turns: int
    messages: int
    results: int
    """Tool messages."""
    systems: int
    size: int


@dataclass(frozen=True)
class Simulation:
    messages: Sequence[Shape]
    leading: int
    """The number of system messages at the beginning of the chain, which are in every request."""
    turns: tuple[Turn, ...]
    lines: tuple[Simulated, ...]
    is_complete: bool = True
    """False if the simulation was cancelled. It then has the lines that were finished."""

    def whole_turns(self, line: Simulated) -> tuple[int, ...]:
        """Return for each turn's request the first turn that it contains unchanged, from 0."""
        ends = [turn.end for turn in self.turns]
        return tuple(bisect_left(ends, start) for start in line.starts)

    def lost(self, line: Simulated, turn: int) -> Lost:
        """Return the messages that a strategy removed before the request of a turn. Estimates remove nothing."""
        start = line.starts[turn]
        turns, results, systems, size = (sums[start] - sums[self.leading] for sums in self._sums)
        return Lost(turns, start - self.leading, results, systems, size)

    @cached_property
    def _sums(self) -> tuple[list[int], ...]:
        """The number of turns, tool messages, system messages and bytes before each index."""
        counted: tuple[Callable[[Shape], int], ...] = (
            ends_turn,
            lambda message: message.role == TOOL,
            lambda message: message.role == SYSTEM,
            lambda message: message.size,
        )
        return tuple([0, *accumulate(map(each, self.messages))] for each in counted)


def turns_of(messages: Sequence[Shape]) -> Iterator[Turn]:
    """Yield the complete turns. Messages after the last complete turn belong to none."""
    start = 0
    for place, message in enumerate(messages):
        if ends_turn(message):
            yield Turn(start, place)
            start = place + 1


def simulate(chain: Chain, lines: Sequence[Line], context: Context | None = None, bytes_per_token: float = BYTES_PER_TOKEN) -> Simulation:
    """Simulate all lines, each in linear time. Raises CompactionFailed if a compactor fails."""
    context = context or Context()
    messages = chain.shapes()
    leading = leading_systems(messages)
    turns = tuple(turns_of(messages))
    run = _Run(MessageIndex(messages), leading, turns, bytes_per_token)
    done: list[Simulated] = []
    for number, line in enumerate(lines):

        def is_stopped(turn: int, number: int = number, line: Line = line) -> bool:
            share = (number + turn / len(turns)) / len(lines)
            context.progress(share, f"{line.name}: turn {turn:,} of {len(turns):,}")
            return context.cancelled()

        simulated = run.simulated(line, is_stopped)
        if simulated is None:
            return Simulation(messages, leading, turns, tuple(done), is_complete=False)
        done.append(simulated)
    return Simulation(messages, leading, turns, tuple(done))


@dataclass(frozen=True, slots=True)
class _Run:
    index: MessageIndex
    leading: int
    turns: tuple[Turn, ...]
    bytes_per_token: float

    def simulated(self, line: Line, is_stopped: Callable[[int], bool]) -> Simulated | None:
        """Replay all turns for one line of the chart. Return None if `is_stopped` ended the run."""
        sizes: list[int] = []
        starts: list[int] = []
        counts: list[int] = []
        firings: list[Firing] = []
        start = self.leading
        for number, turn in enumerate(self.turns):
            if number % EVERY == 0 and is_stopped(number):
                return None
            estimate = line.estimate
            starts.append(start if estimate is None else max(start, estimate.whole_from(turn.end)))
            sizes.append(estimate.size(turn.end) if estimate else self._size(start, turn.end))
            counts.append(estimate.count(turn.end) if estimate else self.leading + turn.end - start)
            firing = self._after(line.strategy, number, start, sizes[-1]) if line.strategy else None
            if firing:
                firings.append(firing)
                start += firing.removed
        return Simulated(line, tuple(sizes), tuple(starts), tuple(firings), tuple(counts))

    def _size(self, start: int, end: int) -> int:
        """Return the bytes of a request with the leading messages and messages `start:end`."""
        sizes = self.index.sizes
        return sizes[self.leading] + sizes[end] - sizes[start]

    def _after(self, strategy: Strategy, number: int, start: int, size: int) -> Firing | None:
        """Apply the strategy to the state after a turn; None if it changes nothing."""
        stored = Window(self.index, start, self.turns[number].end + 1)
        usage = Usage(estimated_tokens(size, self.bytes_per_token), size, "estimated")
        request = CompactionRequest(stored, self.index.messages[: self.leading], usage, processed_length=len(stored))
        compacted = strategy(request)
        if not compacted.removed:
            return None
        return Firing(number, compacted.removed, stored.size_before(compacted.removed), compacted.trial)


ESTIMATES: dict[str, Callable[[Sequence[Shape]], Estimate]] = {"Summarize": SummaryEstimate, "Redact": RedactionEstimate}
"""Operations that are estimated for comparison, by name."""
PLAIN = "No compaction"


def strategy_of(options: CompactOptions | Mapping[str, Any], context: Context | None = None) -> Strategy:
    """Return the strategy of these options, as `next_state` and a simulation use it. Raises OptionsError for invalid
    options, Refused if no limit is chosen."""
    operation = get_operation("compact")
    assert isinstance(operation, Compact)
    chosen = options if isinstance(options, CompactOptions) else read_options(operation, options)
    assert isinstance(chosen, CompactOptions)
    return operation.strategy(chosen, context or Context())


def simulation_lines(
    messages: Sequence[Shape], strategies: Mapping[str, Strategy], estimates: Collection[str] = tuple(ESTIMATES)
) -> list[Line]:
    """Return a line for the unchanged chain, each named strategy and each named estimate. Raises OptionsError for an unknown estimate."""
    for name in estimates:
        if name not in ESTIMATES:
            raise OptionsError(f"There is no estimate “{name[:40]}”; there are {', '.join(ESTIMATES)}.")
    return [
        Line(PLAIN),
        *(Line(name, strategy) for name, strategy in strategies.items()),
        *(Line(name, estimate=make(messages)) for name, make in ESTIMATES.items() if name in estimates),
    ]
