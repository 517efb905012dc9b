"""The contracts of compactors, triggers and strategies, and the trace that each leaves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from chainviz.core.chain.chain import Splice
from chainviz.core.operations.contract import Context, Operation
from chainviz.core.state.call import CompactionFailed, CompactionRequest

Reduction = Literal["to_target", "one_third"]
"""How a token limit removes: until its estimate reaches the target, or the reference's third of the messages."""
REDUCTIONS: dict[str, str] = {"to_target": "Down to the target", "one_third": "One third of the messages"}
NoBoundary = Literal["keep_last_turn", "remove_all"]
"""Where no human message follows a cut: start at the one before it, or remove everything, as the reference does."""


@dataclass(frozen=True)
class Settings:
    """Settings that apply to every compactor of a run."""

    if_no_user_boundary: NoBoundary = "keep_last_turn"
    reduction: Reduction = "to_target"
    """Of token limits that name none."""
    reference: bool = False
    """As goaitools, its panics and its changes that change nothing included."""
    operations: Mapping[str, Operation[Any]] = field(default_factory=dict)
    """Operations that can be strategies, by name. Operations do not know one another; the registry passes these in."""
    context: Context = field(default_factory=Context)


REFERENCE = Settings("remove_all", "one_third", reference=True)


@dataclass(frozen=True, slots=True)
class Boundary:
    """The boundary at which a state is cut, and the one that the limit alone would choose. Both count removed messages."""

    wanted: int
    cut: int
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    splices: tuple[Splice, ...]
    """In places of the stored messages."""
    boundary: Boundary | None = None
    """Of a cut from the front; None where messages were rewritten."""
    warnings: tuple[str, ...] = ()
    """Of the operation that rewrote them."""


class Panic(CompactionFailed):
    """A crash of the reference, which this product reports without changing anything. Raised only if the reference's
    behaviour was chosen."""

    def __init__(self, what: str) -> None:
        super().__init__(f"runtime error: {what}")


Verdict = Literal["not_run", "not_triggered", "triggered", "no_change", "changed"]


@dataclass(frozen=True, slots=True)
class Trial:
    """What one compactor, trigger or strategy did in a run."""

    type: str
    verdict: Verdict
    reason: str
    """A sentence with the numbers that were compared."""
    parts: tuple[tuple[str, Trial], ...] = ()
    """Those it holds, each with its place in the JSON: `compactors[0]`, `trigger`."""
    change: Change | None = None
    was_compacted: bool = False
    """The reference says so of some runs that change nothing, too."""

    @property
    def is_triggered(self) -> bool:
        return self.verdict not in ("not_run", "not_triggered")

    def walk(self, place: str = "") -> Iterator[tuple[str, Trial]]:
        """This trial and all below it, each with its whole place in the JSON."""
        yield place, self
        for inner, part in self.parts:
            yield from part.walk(f"{place}.{inner}" if place else inner)


@dataclass(frozen=True, slots=True)
class Titled:
    """What a form calls a member of a compactor, and counts it in."""

    title: str
    unit: str = ""


class Trigger(ABC):
    """Decides when to compact. Its fields are the members of its JSON."""

    type: ClassVar[str]
    label: ClassVar[str]
    hint: ClassVar[str] = ""
    """What it does, in one sentence for a person."""

    @abstractmethod
    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        """`triggered` or `not_triggered`."""

    def cautions(self) -> Iterator[str]:
        """Yield the reasons why it can never act with its settings, a sentence each."""
        return iter(())

    def _answer(self, is_triggered: bool, reason: str, parts: tuple[tuple[str, Trial], ...] = ()) -> Trial:
        return Trial(self.type, "triggered" if is_triggered else "not_triggered", reason, parts)


def any_triggered(
    triggers: Sequence[Trigger], name: str, request: CompactionRequest, settings: Settings
) -> tuple[bool, str, tuple[tuple[str, Trial], ...]]:
    """Whether one of them is true, the sentence, and the trials; nothing after the first true one is checked."""
    trials: list[tuple[str, Trial]] = []
    fired = ""
    for number, trigger in enumerate(triggers):
        place = f"{name}[{number}]"
        if fired:
            trials.append((place, Trial(trigger.type, "not_run", f"Not checked: {fired} is true.")))
            continue
        trial = trigger.should_compact(request, settings)
        trials.append((place, trial))
        fired = place if trial.is_triggered else ""
    return bool(fired), f"{fired} is true." if fired else "None of them is true.", tuple(trials)


class Compactor(Trigger):
    """Decides when to compact, and compacts: every compactor can also be a trigger or a strategy alone."""

    @abstractmethod
    def reduce(self, request: CompactionRequest, settings: Settings) -> Trial:
        """Reduce as a strategy, even if the trigger does not fire: the outcome is `changed` or `no_change`."""

    def compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        trigger = self.should_compact(request, settings)
        if not trigger.is_triggered:
            return trigger
        reduced = self.reduce(request, settings)
        return replace(reduced, reason=f"{trigger.reason} {reduced.reason}")

    def _unchanged(self, reason: str) -> Trial:
        return Trial(self.type, "no_change", reason)

    def _changed(self, change: Change, reason: str) -> Trial:
        return Trial(self.type, "changed", reason, change=change, was_compacted=True)
