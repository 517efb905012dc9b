"""A simulation as the page shows it and as a job keeps it: values that are JSON."""

from __future__ import annotations

from bisect import bisect_left
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from chainviz.core.operations.compact.simulation import Lost, Simulated, Simulation, simulate
from chainviz.core.operations.contract import Context
from chainviz.core.operations.strategies import simulation_lines, strategy_of
from chainviz.core.usage.estimate import estimated_tokens
from chainviz.store.content.chain import StoredChain

PLAIN, A, B, SUMMARIZE, REDACT = "plain", "a", "b", "summarize", "redact"
NAMES = {PLAIN: "No compaction", A: "Strategy A", B: "Strategy B", SUMMARIZE: "Summarize", REDACT: "Redact"}
KEYS = {name: key for key, name in NAMES.items()}


Unit = Literal["tokens", "bytes", "messages"]


class LostRow(NamedTuple):
    """What a strategy has removed of the chain."""

    turns: int = 0
    messages: int = 0
    results: int = 0
    systems: int = 0
    size: int = 0


NOTHING_LOST = LostRow()


class LineRan(BaseModel):
    model_config = ConfigDict(frozen=True)

    key: str
    sizes: tuple[int, ...]
    """Content bytes of each turn's largest request."""
    counts: tuple[int, ...]
    """Messages of it."""
    whole: tuple[int, ...]
    """The first turn that it holds as it was, from 0: earlier ones are removed, or rewritten."""
    fired: tuple[int, ...] = ()
    """The turns after which it removed messages, from 0."""
    removed: tuple[int, ...] = ()
    """Messages that it removed each time."""
    lost: tuple[tuple[int, ...], ...] = ()
    """A column for each field of LostRow: all that is gone after each time. Columns of numbers are read quickly."""

    @property
    def name(self) -> str:
        return NAMES[self.key]

    @property
    def is_strategy(self) -> bool:
        return self.key in (A, B)

    def values(self, unit: Unit) -> tuple[int, ...]:
        """Of each turn's largest request, in the unit."""
        if unit == "messages":
            return self.counts
        return self.sizes if unit == "bytes" else tuple(map(estimated_tokens, self.sizes))

    def turns_over(self, window: int) -> tuple[int, ...]:
        """Turns whose request has more tokens than the context window; none where it is 0."""
        return tuple(turn for turn, size in enumerate(self.sizes) if 0 < window < estimated_tokens(size))

    def lost_at(self, turn: int) -> LostRow:
        """What the request of a turn does not hold."""
        at = bisect_left(self.fired, turn) - 1
        return LostRow(*(column[at] for column in self.lost)) if at >= 0 else NOTHING_LOST


class SimulationRan(BaseModel):
    model_config = ConfigDict(frozen=True)

    turns: int
    lines: tuple[LineRan, ...]
    is_complete: bool = True


class Chosen(BaseModel):
    """What is simulated: strategies as JSON text, "" for none."""

    model_config = ConfigDict(frozen=True)

    a: str = ""
    b: str = ""
    summarize: bool = True
    redact: bool = True


def run_simulation(chain: StoredChain, chosen: Chosen, context: Context) -> SimulationRan:
    """Raises Refused where a strategy cannot be read, CompactionFailed where a compactor fails."""
    given = {A: chosen.a, B: chosen.b}
    strategies = {NAMES[key]: strategy_of({"strategy": text}, context) for key, text in given.items() if text}
    estimates = [NAMES[key] for key in (SUMMARIZE, REDACT) if getattr(chosen, key)]
    simulation = simulate(chain, simulation_lines(chain.shapes(), strategies, estimates), context)
    lines = tuple(_ran(simulation, KEYS[line.line.name], line) for line in simulation.lines)
    return SimulationRan(turns=len(simulation.turns), lines=lines, is_complete=simulation.is_complete)


def _ran(simulation: Simulation, key: str, line: Simulated) -> LineRan:
    # the last firing shows in no request
    shown = [each.turn + 1 for each in line.firings if each.turn + 1 < len(line.sizes)]
    rows = [_lost(simulation.lost(line, turn)) for turn in shown]
    rows += [NOTHING_LOST] * (len(line.firings) - len(rows))
    return LineRan(
        key=key,
        sizes=line.sizes,
        counts=line.counts,
        whole=simulation.whole_turns(line),
        fired=tuple(each.turn for each in line.firings),
        removed=tuple(each.removed for each in line.firings),
        lost=tuple(zip(*rows, strict=True)),
    )


def _lost(lost: Lost) -> LostRow:
    return LostRow(lost.turns, lost.messages, lost.results, lost.systems, lost.size)
