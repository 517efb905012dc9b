"""The compactors: message and token limits, a sequence of compactors, a trigger with a separate strategy, and summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import ValidationError

from chainviz.core.chain.chain import Splice
from chainviz.core.counts import count_text
from chainviz.core.errors import ChainError, option_error
from chainviz.core.operations.compact.contract import (
    Boundary,
    Change,
    Compactor,
    CompositeTrigger,
    CountAtLeast,
    NoBoundary,
    Panic,
    Reduction,
    Settings,
    Titled,
    Trial,
    Trigger,
    Verdict,
    any_triggered,
)
from chainviz.core.operations.contract import Context
from chainviz.core.state.call import CompactionFailed, CompactionRequest, Usage, Window


def boundary(messages: Window, wanted: int, if_none: NoBoundary) -> Boundary:
    """Return where to cut a state that should lose its first `wanted` messages. A state must start at a human message."""
    after = messages.human_from(wanted)
    if after == wanted:
        return Boundary(wanted, wanted, "The next message is a human message: the state starts there.")
    if after is not None:
        moved = count_text(after - wanted, "message")
        return Boundary(wanted, after, f"A state starts at a human message, so the cut moves by {moved}.")
    none = f"No human message follows the first {count_text(wanted, 'message')}"
    if if_none == "remove_all":
        return Boundary(wanted, len(messages), f"{none}: everything is removed.")
    before = messages.human_before(wanted)
    if not before:
        why = "no message is a human message" if before is None else "there is only one turn"
        return Boundary(wanted, 0, f"{none}, and {why}: nothing is removed.")
    return Boundary(wanted, before, f"{none}: the last turn is kept.")


@dataclass(frozen=True, slots=True)
class MessageLimit(Compactor):
    """Keeps the last messages. Triggers above `max_messages`; 0 or less switches it off."""

    type = "message_limit"
    label = "Message limit"
    hint = "Keeps the last messages, starting with a human message."

    max_messages: Annotated[int, Titled("Keep the last", "messages")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        count = len(request.messages)
        if self.max_messages <= 0:
            return self._answer(False, f"A limit of {self.max_messages} is off.")
        return self._answer(count > self.max_messages, f"{count_text(count, 'message')}, limit {self.max_messages:,}.")

    def reduce(self, request: CompactionRequest, settings: Settings) -> Trial:
        """Cut the state to the limit. The boundary rule may remove more messages or, with keep_last_turn, fewer."""
        count = len(request.messages)
        asked = self.should_compact(request, settings)
        if not asked.is_triggered and not settings.reference:
            return self._unchanged(asked.reason)
        if count < self.max_messages:
            raise Panic(f"slice bounds out of range [{count - self.max_messages}:]")
        found = boundary(request.messages, count - self.max_messages, settings.if_no_user_boundary)
        if not found.cut and not settings.reference:
            return self._unchanged(found.text)
        kept = f"Messages kept: {count - found.cut:,} of {count:,}."
        return self._changed(Change((Splice(0, found.cut),), found), f"{found.text} {kept}")

    def cautions(self) -> Iterator[str]:
        if self.max_messages <= 0:
            yield f"A message limit of {self.max_messages} is off."


FEWEST = 2
"""The number of messages that are never removed."""
UNKNOWN = "The prompt tokens of the last call are unknown; a token limit does nothing without them."


@dataclass(frozen=True, slots=True)
class TokenLimit(Compactor):
    """Removes the oldest messages. Triggers above `max_tokens`; 0 or less switches it off. A target of 0 is 75% of the limit.

    goaitools always removes one third of the messages instead (the reduction `one_third`).
    """

    type = "token_limit"
    label = "Token limit"
    hint = "Removes messages from the front when the last call had too many prompt tokens."

    max_tokens: Annotated[int, Titled("Compact above", "tokens")]
    target_tokens: Annotated[int, Titled("Down to", "tokens")] = 0
    reduction: Annotated[Reduction | None, Titled("Reduction")] = None
    """The reduction, or None for the one in the settings of the run."""

    @property
    def target(self) -> int:
        return self.target_tokens if self.target_tokens > 0 else self.max_tokens * 3 // 4

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        if self.max_tokens <= 0:
            return self._answer(False, f"A limit of {self.max_tokens} is off.")
        usage = request.usage
        if usage is None:
            return self._answer(False, UNKNOWN)
        return self._answer(usage.prompt_tokens > self.max_tokens, f"{usage}, limit {self.max_tokens:,}.")

    def reduce(self, request: CompactionRequest, settings: Settings) -> Trial:
        usage = request.usage
        if usage is None:
            if settings.reference:
                raise Panic("invalid memory address or nil pointer dereference")
            return self._unchanged(UNKNOWN)
        if self.max_tokens <= 0 and not settings.reference:
            return self._unchanged(f"A limit of {self.max_tokens} is off.")
        if usage.prompt_tokens <= self.target:
            return self._unchanged(f"{usage}, already within the target of {self.target:,}.")
        count = len(request.messages)
        if count <= FEWEST:
            return self._unchanged(f"{FEWEST} messages or fewer are never removed.")
        wanted, how = self._excess(request, usage, settings)
        found = boundary(request.messages, wanted, settings.if_no_user_boundary)
        if not found.cut:
            return self._unchanged(f"{how} {found.text}")
        left = self._estimate(request, usage, found.cut)
        reason = f"{how} {found.text} The next request is estimated at {count_text(left, 'token')}."
        return self._changed(Change((Splice(0, found.cut),), found), reason)

    def _excess(self, request: CompactionRequest, usage: Usage, settings: Settings) -> tuple[int, str]:
        """Return the number of messages that the limit alone would remove, and the reason."""
        count = len(request.messages)
        if (self.reduction or settings.reduction) == "one_third":
            third = max(1, count // 3)
            return third, f"One third of {count_text(count, 'message')} is {third:,}."
        # each byte that was sent counts as an equal share of the prompt tokens
        surplus = -(-(usage.prompt_tokens - self.target) * usage.sent // usage.prompt_tokens)
        wanted = min(max(1, request.messages.first_over(surplus)), count - FEWEST)
        estimate = self._estimate(request, usage, wanted)
        how = "within" if estimate <= self.target else "still over"
        gone, left = count_text(wanted, "message"), count_text(estimate, "token")
        return wanted, f"Without the first {gone} the estimate is {left}, {how} the target of {self.target:,}."

    def _estimate(self, request: CompactionRequest, usage: Usage, removed: int) -> int:
        """Return the estimated prompt tokens without the first `removed` messages, rounded up."""
        gone = min(request.messages.size_before(removed), usage.sent)
        return usage.prompt_tokens - usage.prompt_tokens * gone // usage.sent if usage.sent else usage.prompt_tokens

    def cautions(self) -> Iterator[str]:
        if self.max_tokens <= 0:
            yield f"A token limit of {self.max_tokens} is off."
        elif self.target >= self.max_tokens:
            yield f"The target of {self.target:,} is not below the limit of {self.max_tokens:,}: little or nothing is removed."


@dataclass(frozen=True, slots=True)
class Composite(Compactor):
    """Runs compactors in order until one changes something. A compactor that triggers without effect does not end the run."""

    type = "composite"
    label = "Composite"
    hint = "Tried in order; the first step that changes something ends the run."

    compactors: Annotated[tuple[Compactor, ...], Titled("Step")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._answer(*any_triggered(self.compactors, "compactors", request, settings))

    def compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._first(lambda compactor: compactor.compact(request, settings))

    def reduce(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._first(lambda compactor: compactor.reduce(request, settings))

    def _first(self, run: Callable[[Compactor], Trial]) -> Trial:
        parts: list[tuple[str, Trial]] = []
        done: tuple[str, Trial] | None = None
        for number, compactor in enumerate(self.compactors):
            place = f"compactors[{number}]"
            if done is not None:
                parts.append((place, Trial(compactor.type, "not_run", f"Not run: {done[0]} changed the state.")))
                continue
            part = run(compactor)
            parts.append((place, part))
            done = (place, part) if part.did_compact else None
        if done is None:
            is_idle = bool(parts) and not any(part.is_triggered for _, part in parts)
            verdict: Verdict = "not_triggered" if is_idle else "no_change"
            return Trial(self.type, verdict, "No step changes anything.", tuple(parts))
        place, part = done
        return replace(part, type=self.type, reason=f"{place} changed the state.", parts=tuple(parts))

    def cautions(self) -> Iterator[str]:
        if not self.compactors:
            yield "A composite without steps never changes anything."
        for compactor in self.compactors:
            yield from compactor.cautions()


@dataclass(frozen=True, slots=True)
class Split(Compactor):
    """Runs a strategy if a trigger is true."""

    type = "split"
    label = "Split"
    hint = "The strategy runs only when the trigger is true."

    trigger: Annotated[Trigger, Titled("When")]
    strategy: Annotated[Compactor, Titled("Then")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        trigger = self.trigger.should_compact(request, settings)
        return self._answer(trigger.is_triggered, trigger.reason, (("trigger", trigger),))

    def reduce(self, request: CompactionRequest, settings: Settings) -> Trial:
        strategy = self.strategy.reduce(request, settings)
        return replace(strategy, type=self.type, parts=(("strategy", strategy),))

    def compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        asked = self.should_compact(request, settings)
        if not asked.is_triggered:
            not_run = Trial(self.strategy.type, "not_run", "Not run: the trigger is not true.")
            return replace(asked, parts=(*asked.parts, ("strategy", not_run)))
        reduced = self.reduce(request, settings)
        return replace(reduced, reason=f"{asked.reason} {reduced.reason}", parts=(*asked.parts, *reduced.parts))

    def cautions(self) -> Iterator[str]:
        yield from self.trigger.cautions()
        yield from self.strategy.cautions()
        limit = self.strategy.max_messages if isinstance(self.strategy, MessageLimit) else 0
        triggers = self.trigger.triggers if isinstance(self.trigger, CompositeTrigger) else (self.trigger,)
        fires = min((each.n for each in triggers if isinstance(each, CountAtLeast)), default=limit + 1)
        if 0 < fires <= limit:
            yield (
                f"The split removes nothing from {fires:,} to {count_text(limit, 'message')}: its trigger fires at {fires:,}, "
                f"its strategy acts above {limit:,}."
            )


SummaryAuthor = Literal["extract", "model"]
"""The author of a summary: an extract of the messages' own lines, or the caller's writer."""
NO_WRITER = "A model writes these summaries, and none is given: choose a writer, or set one up."


@dataclass(frozen=True, slots=True)
class Summarize(Compactor):
    """Folds old messages into summaries with the operation `summarize`. Its other members are the options of that operation."""

    type = "summarize"
    label = "Summarize"
    hint = "Folds old messages into summaries instead of removing them."

    writer: Annotated[SummaryAuthor, Titled("Written by")] = "extract"
    options: Annotated[Mapping[str, Any], Titled("Options as JSON")] = field(default_factory=dict)

    @property
    def chosen(self) -> dict[str, Any]:
        """The options of the operation `summarize`."""
        return dict(self.options)

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._answer(True, "Folds what its options select.")

    def reduce(self, request: CompactionRequest, settings: Settings) -> Trial:
        operation = settings.operations.get(Summarize.type)
        if operation is None or request.chain is None:
            return self._unchanged("Only sizes are known here, and a summary needs the messages.")
        try:
            options = operation.Options.model_validate(self.chosen)
            outcome = operation.run(request.chain, options, self._context(settings.context))
        except ValidationError as error:
            raise CompactionFailed(f"summarize: {option_error(error.errors()[0])}") from None
        except ChainError as refused:
            raise CompactionFailed(f"summarize: {refused}") from None
        if not outcome.changes:
            return self._unchanged("Nothing is old or large enough to be folded.")
        folded = sum(splice.removed for splice in outcome.changes)
        return self._changed(Change(outcome.changes, warnings=outcome.warnings), f"Folded into summaries: {count_text(folded, 'message')}.")

    def _context(self, context: Context) -> Context:
        """Return the context without the caller's writer, unless this step asks for it, because it may send messages to a model."""
        if self.writer == "extract":
            return replace(context, writer=None, write_summaries=None, summaries=None)
        if context.writer is None and context.write_summaries is None and context.summaries is None:
            raise CompactionFailed(NO_WRITER)
        return context


@dataclass(frozen=True, slots=True)
class FoldTools(Summarize):
    """Folds only tool exchanges into summaries. Requests, answers and the last pair stay."""

    type = "fold_tools"
    label = "Fold tool exchanges"
    hint = "Folds calls with their results into summaries; requests and answers stay."

    @property
    def chosen(self) -> dict[str, Any]:
        return {**self.options, "only_tools": True}
