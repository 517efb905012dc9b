"""All turns of a chain again, with a strategy after each: when it would have fired, and how large each request was.

Reads sizes and roles, no bodies, so requests are counted in bytes and estimated in tokens. A strategy runs after the turn
and what it leaves goes into the next; what rewrites messages (summarize) is a line of its own, with estimated sizes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import SYSTEM, TOOL, Shape
from chainviz.core.operations.compact.compactors.contract import Trial
from chainviz.core.operations.compact.estimates import Estimate
from chainviz.core.operations.compact.strategy import Strategy
from chainviz.core.operations.contract import Context
from chainviz.core.state.compaction_request import CompactionRequest
from chainviz.core.state.message_index import MessageIndex, Window, ends_turn, leading_systems
from chainviz.core.state.usage import Usage
from chainviz.core.usage.estimate import BYTES_PER_TOKEN, estimated_tokens

EVERY = 500
"""Turns between two looks at whether somebody waits or has cancelled."""


@dataclass(frozen=True, slots=True)
class Line:
    """One way to keep a conversation small; with neither strategy nor estimate, the conversation as it is."""

    name: str
    strategy: Strategy | None = None
    estimate: Estimate | None = None
    """Of a request, where another operation rewrites its messages."""


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
    """A line over all turns. Of each turn its largest request counts, which is its last."""

    line: Line
    sizes: tuple[int, ...]
    """Content bytes of each turn's request, leading system messages included."""
    starts: tuple[int, ...]
    """Place of the first stored message that is as it was in each turn's request: those before it are removed, or
    rewritten where the line is an estimate."""
    firings: tuple[Firing, ...]
    counts: tuple[int, ...]
    """Messages of each turn's request, leading system messages included."""

    def tokens(self, bytes_per_token: float = BYTES_PER_TOKEN) -> tuple[int, ...]:
        return tuple(estimated_tokens(size, bytes_per_token) for size in self.sizes)


@dataclass(frozen=True, slots=True)
class Lost:
    """What a request does not hold of the chain before it."""

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
    """How many system messages the chain begins with: they are in every request."""
    turns: tuple[Turn, ...]
    lines: tuple[Simulated, ...]
    is_complete: bool = True
    """False where it was cancelled: the lines so far are there."""

    def whole_turns(self, line: Simulated) -> tuple[int, ...]:
        """For each turn's request the first turn that it holds as it was, from 0."""
        ends = [turn.end for turn in self.turns]
        return tuple(bisect_left(ends, start) for start in line.starts)

    def lost(self, line: Simulated, turn: int) -> Lost:
        """What the line's strategy removed before the request of a turn; for an estimate see the difference of sizes."""
        start = line.starts[turn]
        turns, results, systems, size = (sums[start] - sums[self.leading] for sums in self._sums)
        return Lost(turns, start - self.leading, results, systems, size)

    @cached_property
    def _sums(self) -> tuple[list[int], ...]:
        """Turns, tool messages, system messages and bytes before each place."""
        counted: tuple[Callable[[Shape], int], ...] = (
            ends_turn,
            lambda message: message.role == TOOL,
            lambda message: message.role == SYSTEM,
            lambda message: message.size,
        )
        return tuple([0, *accumulate(map(each, self.messages))] for each in counted)


def turns_of(messages: Sequence[Shape]) -> Iterator[Turn]:
    """The complete turns; messages after the last one belong to none."""
    start = 0
    for place, message in enumerate(messages):
        if ends_turn(message):
            yield Turn(start, place)
            start = place + 1


def simulate(
    chain: Chain, lines: Sequence[Line], context: Context | None = None, bytes_per_token: float = BYTES_PER_TOKEN
) -> Simulation:
    """Linear in messages for each line. CompactionFailed where a compactor fails."""
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
        """None where it was stopped."""
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
        """Bytes of the request that sends the leading messages and those from `start` to before `end`."""
        sizes = self.index.sizes
        return sizes[self.leading] + sizes[end] - sizes[start]

    def _after(self, strategy: Strategy, number: int, start: int, size: int) -> Firing | None:
        """The strategy on the state that a turn leaves; None where it changes nothing."""
        stored = Window(self.index, start, self.turns[number].end + 1)
        usage = Usage(estimated_tokens(size, self.bytes_per_token), size, "estimated")
        request = CompactionRequest(stored, self.index.messages[: self.leading], usage, processed_length=len(stored))
        compacted = strategy(request)
        if not compacted.removed:
            return None
        return Firing(number, compacted.removed, stored.size_before(compacted.removed), compacted.trial)
