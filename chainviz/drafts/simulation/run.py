"""A simulation as the page shows it and as a job keeps it: values that are JSON."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from chainviz.core.operations.compact.simulation import Lost, Simulated, Simulation, simulate, simulation_lines, strategy_of
from chainviz.core.operations.contract import Context
from chainviz.core.usage.model_catalog import estimated_tokens
from chainviz.drafts.target import Target, target_of_job
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext, start_job
from chainviz.store.content.chain import StoredChain

PLAIN, A, B, SUMMARIZE, REDACT = "plain", "a", "b", "summarize", "redact"
NAMES = {PLAIN: "No compaction", A: "Strategy A", B: "Strategy B", SUMMARIZE: "Summarize", REDACT: "Redact"}
KEYS = {name: key for key, name in NAMES.items()}


Unit = Literal["tokens", "bytes", "messages"]


class LostRow(NamedTuple):
    """The messages and parts that a strategy removed from the chain."""

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
    """The content bytes of each turn's largest request."""
    counts: tuple[int, ...]
    """The number of messages of that request."""
    whole: tuple[int, ...]
    """By turn: the first turn, from 0, that the request contains unchanged; earlier ones are removed or rewritten."""
    fired: tuple[int, ...] = ()
    """The turns after which it removed messages, from 0."""
    removed: tuple[int, ...] = ()
    """The number of messages that it removed each time."""
    lost: tuple[tuple[int, ...], ...] = ()
    """A column for each field of LostRow: everything that is lost after each time. Columns of numbers are read quickly."""

    @property
    def name(self) -> str:
        return NAMES[self.key]

    @property
    def is_strategy(self) -> bool:
        return self.key in (A, B)

    def values(self, unit: Unit) -> tuple[int, ...]:
        """Return the size of each turn's largest request, in the unit."""
        if unit == "messages":
            return self.counts
        return self.sizes if unit == "bytes" else tuple(map(estimated_tokens, self.sizes))

    def turns_over(self, window: int) -> tuple[int, ...]:
        """Return the turns whose request has more tokens than the context window; none if it is 0."""
        return tuple(turn for turn, size in enumerate(self.sizes) if 0 < window < estimated_tokens(size))

    def lost_at(self, turn: int) -> LostRow:
        """Return what the request of a turn leaves out."""
        at = bisect_left(self.fired, turn) - 1
        return LostRow(*(column[at] for column in self.lost)) if at >= 0 else NOTHING_LOST


class SimulationRan(BaseModel):
    model_config = ConfigDict(frozen=True)

    turns: int
    lines: tuple[LineRan, ...]
    is_complete: bool = True


class Chosen(BaseModel):
    """The simulated strategies as JSON text, "" for none."""

    model_config = ConfigDict(frozen=True)

    a: str = ""
    b: str = ""
    summarize: bool = True
    redact: bool = True


def run_simulation(chain: StoredChain, chosen: Chosen, context: Context) -> SimulationRan:
    """Raise Refused if a strategy cannot be read, CompactionFailed where a compactor fails."""
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


# A simulation over all turns of a long chain as a job: nothing is written but its result.


FUNCTION = "simulate-strategies"
MESSAGES_AT_ONCE = 3_000
EDITION = 3
"""The version of the form of the result; results of older versions are not found any more."""


def start(target: Target, chosen: Chosen) -> Job:
    return start_job(FUNCTION, owner=target.person, **target.job_args, chosen=chosen.model_dump(), edition=EDITION)


def find(target: Target, number: int) -> Job | None:
    jobs = Job.objects.about(target.chain).visible_to(target.person).filter(function=FUNCTION, pk=number)
    return next((job for job in jobs if job.args["seen"] == target.content and job.args.get("edition") == EDITION), None)


def simulate_content(context: JobContext, **args: Any) -> dict[str, Any]:
    """Return the simulation as JSON."""
    target = target_of_job(context.job)
    context.report(0.0, "Reading sizes and roles")
    chosen = Chosen.model_validate(args["chosen"])
    ran = run_simulation(target.stored, chosen, Context(progress=context.report, cancelled=context.is_cancelled))
    if not ran.is_complete:
        raise Cancelled
    return ran.model_dump(mode="json")
