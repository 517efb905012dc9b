"""The contracts of compactors, triggers and strategies, the trace of a run, and the triggers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

from chainviz.core.chain.chain import Splice
from chainviz.core.counts import count_text
from chainviz.core.operations.contract import Context, Operation
from chainviz.core.state.call import CompactionFailed, CompactionRequest

Reduction = Literal["to_target", "one_third"]
"""How a token limit reduces: until the estimate reaches the target, or by one third of the messages, as goaitools does."""
REDUCTIONS: dict[str, str] = {"to_target": "Down to the target", "one_third": "One third of the messages"}
NoBoundary = Literal["keep_last_turn", "remove_all"]
"""If no human message follows a cut: start at the last human message before it, or remove everything, as goaitools does."""


@dataclass(frozen=True)
class Settings:
    """Settings that apply to every compactor of a run."""

    if_no_user_boundary: NoBoundary = "keep_last_turn"
    reduction: Reduction = "to_target"
    """The reduction of token limits that name none."""
    reference: bool = False
    """Behave like goaitools, including its panics and its empty changes."""
    operations: Mapping[str, Operation[Any]] = field(default_factory=dict)
    """Operations that a strategy may run, by name. Operations do not import one another; the registry passes these in."""
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
    """The changes, by index of the stored messages."""
    boundary: Boundary | None = None
    """The place at which the state was cut, or None if messages were rewritten."""
    warnings: tuple[str, ...] = ()
    """The warnings of the operation that rewrote messages."""


class Panic(CompactionFailed):
    """Raised where goaitools would crash, if its behaviour was chosen. chainviz reports the crash and changes nothing."""

    def __init__(self, what: str) -> None:
        super().__init__(f"runtime error: {what}")


Verdict = Literal["not_run", "not_triggered", "triggered", "no_change", "changed"]


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of one compactor, trigger or strategy in a run."""

    type: str
    verdict: Verdict
    reason: str
    """A sentence with the numbers that were compared."""
    parts: tuple[tuple[str, Trial], ...] = ()
    """The results of nested compactors and triggers, each with its place in the JSON: `compactors[0]`, `trigger`."""
    change: Change | None = None
    did_compact: bool = False
    """With goaitools' behaviour, also True for some runs that change nothing."""

    @property
    def is_triggered(self) -> bool:
        return self.verdict not in ("not_run", "not_triggered")

    def walk(self, place: str = "") -> Iterator[tuple[str, Trial]]:
        """Yield this result and all nested ones, each with its full place in the JSON."""
        yield place, self
        for inner, part in self.parts:
            yield from part.walk(f"{place}.{inner}" if place else inner)


@dataclass(frozen=True, slots=True)
class Titled:
    """The title and the unit of a compactor's member in a form."""

    title: str
    unit: str = ""


class Trigger(ABC):
    """Decides when to compact. Its fields are the members of its JSON."""

    type: ClassVar[str]
    label: ClassVar[str]
    hint: ClassVar[str] = ""
    """One sentence for a person about what the trigger does."""

    @abstractmethod
    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        """Return a result with the verdict `triggered` or `not_triggered`."""

    def cautions(self) -> Iterator[str]:
        """Yield a sentence for each reason why the trigger can never act with its settings."""
        return iter(())

    def _answer(self, is_triggered: bool, reason: str, parts: tuple[tuple[str, Trial], ...] = ()) -> Trial:
        return Trial(self.type, "triggered" if is_triggered else "not_triggered", reason, parts)


def any_triggered(
    triggers: Sequence[Trigger], name: str, request: CompactionRequest, settings: Settings
) -> tuple[bool, str, tuple[tuple[str, Trial], ...]]:
    """Return whether one of the triggers is true, a sentence, and the results. Triggers after the first true one are not checked."""
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
    """Decides when to compact, and compacts. Every compactor can also be used as only a trigger or only a strategy."""

    @abstractmethod
    def reduce(self, request: CompactionRequest, settings: Settings) -> Trial:
        """Reduce the state, even if the trigger is not true. The verdict is `changed` or `no_change`."""

    def compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        trigger = self.should_compact(request, settings)
        if not trigger.is_triggered:
            return trigger
        reduced = self.reduce(request, settings)
        return replace(reduced, reason=f"{trigger.reason} {reduced.reason}")

    def _unchanged(self, reason: str) -> Trial:
        return Trial(self.type, "no_change", reason)

    def _changed(self, change: Change, reason: str) -> Trial:
        return Trial(self.type, "changed", reason, change=change, did_compact=True)


@dataclass(frozen=True, slots=True)
class CountAtLeast(Trigger):
    type = "count_at_least"
    label = "At least n messages"
    hint = "True with this many stored messages or more."

    n: Annotated[int, Titled("At least", "messages")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        count = len(request.messages)
        return self._answer(count >= self.n, f"{count_text(count, 'message')}, at least {self.n:,} needed.")


@dataclass(frozen=True, slots=True)
class TurnsAtLeast(Trigger):
    """Turns that are complete: AI messages without calls."""

    type = "turns_at_least"
    label = "At least n turns"
    hint = "True with this many complete turns or more. A turn ends at an answer without calls."

    n: Annotated[int, Titled("At least", "turns")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        turns = request.messages.turns
        return self._answer(turns >= self.n, f"{count_text(turns, 'turn')}, at least {self.n:,} needed.")


@dataclass(frozen=True, slots=True)
class BytesAtLeast(Trigger):
    """Content bytes of the stored messages."""

    type = "bytes_at_least"
    label = "At least n bytes"
    hint = "True with this many content bytes or more."

    n: Annotated[int, Titled("At least", "bytes")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        size = request.messages.size
        return self._answer(size >= self.n, f"{count_text(size, 'byte')}, at least {self.n:,} needed.")


@dataclass(frozen=True, slots=True)
class TokensOver(Trigger):
    """Prompt tokens of the last call; unknown ones are over nothing."""

    type = "tokens_over"
    label = "More than n tokens"
    hint = "True when the last call had more prompt tokens."

    n: Annotated[int, Titled("More than", "tokens")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        usage = request.usage
        if usage is None:
            return self._answer(False, "The prompt tokens of the last call are unknown.")
        return self._answer(usage.prompt_tokens > self.n, f"{usage}, more than {self.n:,} needed.")


@dataclass(frozen=True, slots=True)
class Always(Trigger):
    type = "always"
    label = "Always"
    hint = "True after every call."

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._answer(True, "It always triggers.")


@dataclass(frozen=True, slots=True)
class Never(Trigger):
    type = "never"
    label = "Never"
    hint = "Never true."

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._answer(False, "It never triggers.")


@dataclass(frozen=True, slots=True)
class CompositeTrigger(Trigger):
    """Checked in order until one is true. Never true without a trigger."""

    type = "composite_trigger"
    label = "Any of"
    hint = "Checked in order until one is true. Never true without a trigger."

    triggers: Annotated[tuple[Trigger, ...], Titled("Trigger")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._answer(*any_triggered(self.triggers, "triggers", request, settings))

    def cautions(self) -> Iterator[str]:
        if not self.triggers:
            yield "A trigger without other triggers never fires."
        for trigger in self.triggers:
            yield from trigger.cautions()
