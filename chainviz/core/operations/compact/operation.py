"""The operation Compact: remove old messages from a chain, as a compactor does after a call. A person chooses limits, or a whole strategy
as JSON, and may keep the first request."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pydantic import Field, field_validator

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import Message, Shape, ShapeInChain
from chainviz.core.chain.paths import Path
from chainviz.core.chain.surroundings import Surroundings
from chainviz.core.chain.tree import ChainAST, message_paths, parse, span
from chainviz.core.counts import count_text
from chainviz.core.errors import OptionsError, Refused
from chainviz.core.operations.compact.compactor_types import Composite, MessageLimit, TokenLimit
from chainviz.core.operations.compact.contract import REDUCTIONS, Compactor, NoBoundary, Reduction, Settings, Trial
from chainviz.core.operations.compact.strategy import Compacted, Strategy, as_value, parse_strategy
from chainviz.core.operations.contract import Badge, Context, Decision, Operation, Options, Outcome
from chainviz.core.state.call import COUNTERS, CompactionRequest, Counter, MessageIndex, Window, last_answer, leading_systems, usage_of
from chainviz.core.state.export import provider_of

_OFF = "0 is off."
NO_LIMIT = "Choose when to compact: a message limit, a token limit or a strategy."
USUAL_LIMITS = {"max_messages": 50, "max_tokens": 8_000}
"""The limits that a new form contains."""


class CompactOptions(Options):
    strategy: str = Field(
        "",
        title="Strategy",
        description="A tree of steps as JSON, such as a trigger with a strategy. Replaces the limits below.",
        json_schema_extra={"long": True},
    )
    max_messages: int = Field(
        0,
        ge=0,
        title="Message limit",
        description=f"Keep the last messages. {_OFF}",
        json_schema_extra={"group": "Limits", "unit": "messages"},
    )
    max_tokens: int = Field(
        0,
        ge=0,
        title="Token limit",
        description=f"Compact a state whose last call had more prompt tokens. {_OFF}",
        json_schema_extra={"group": "Limits", "unit": "tokens"},
    )
    target_tokens: int = Field(
        0,
        ge=0,
        title="Down to",
        description="Prompt tokens to compact down to; 0 is 75% of the limit.",
        json_schema_extra={"group": "Limits", "unit": "tokens"},
    )
    reduction: Reduction = Field(
        "to_target",
        title="Reduction",
        description="How token limits remove messages: down to the target, or one third of the messages.",
        json_schema_extra={"group": "Limits", "choices": {**REDUCTIONS}, "hint": "How token limits remove messages."},
    )
    if_no_user_boundary: NoBoundary = Field(
        "keep_last_turn",
        title="If no human message follows the cut",
        description="Keep the last turn, or remove everything.",
        json_schema_extra={
            "group": "Boundary",
            "choices": {"keep_last_turn": "Keep the last turn", "remove_all": "Remove everything"},
            "hint": "",
        },
    )
    keep_first_request: bool = Field(
        False,
        title="Keep the first request",
        description="The first human message stays, with the answer that ended its turn, when messages are removed.",
        json_schema_extra={"group": "Boundary"},
    )
    counter: Counter = Field(
        "recorded",
        title="Count tokens",
        description="recorded: as the transcript says, else bytes; o200k: with OpenAI's tokenizer; bytes: 4 bytes per token.",
        json_schema_extra={"group": "Last call", "choices": {**COUNTERS}},
    )
    prompt_tokens: int = Field(
        0, ge=0, title="Prompt tokens", description="Of the last call; 0 counts them.", json_schema_extra={"group": "Last call"}
    )

    @field_validator("strategy", mode="before")
    @classmethod
    def _as_text(cls, given: Any) -> Any:
        """Accept the strategy as an object too, for Python callers."""
        return json.dumps(given) if isinstance(given, dict) else given

    @field_validator("strategy")
    @classmethod
    def _readable(cls, text: str) -> str:
        if text.strip():
            try:
                parse_strategy(text)
            except OptionsError as refused:
                raise ValueError(str(refused).rstrip(".")) from None
        return text

    @property
    def compactor(self) -> Compactor | None:
        """The compactor that the options choose, or None if they set no limit."""
        if self.strategy.strip():
            return parse_strategy(self.strategy)
        limits: list[Compactor] = []
        if self.max_tokens:
            limits.append(TokenLimit(self.max_tokens, self.target_tokens))
        if self.max_messages:
            limits.append(MessageLimit(self.max_messages))
        return Composite(tuple(limits)) if len(limits) > 1 else next(iter(limits), None)


REMOVED, REWRITTEN = "removed", "rewritten"


class Compact:
    """Compacts a chain. Leading system messages stay, because every call sends them and no state stores them."""

    name = "compact"
    label = "Compact"
    doing = "Compacting"
    badge = Badge("Compacted", "compact", "changed")
    nothing = "No step of the strategy was triggered, so nothing changes."
    Options = CompactOptions

    def __init__(self, *strategies: Operation[Any]) -> None:
        """`strategies` are operations that a strategy may run instead of removing messages. The registry passes them in, because
        operations do not import one another."""
        self._operations = {operation.name: operation for operation in strategies}

    def run(self, chain: Chain, options: CompactOptions, context: Context) -> Outcome:
        strategy, compacted = self.compacted(chain, options, context)
        cautions = tuple(dict.fromkeys(strategy.root.cautions()))
        trace = tuple(_trace(compacted.trial))
        if not compacted.splices:
            why = " ".join(row.reason for row in trace)
            return Outcome((), trace, (f"Nothing changes. {why}", *cautions))
        start = len(compacted.request.leading)
        changes = tuple(replace(splice, start=splice.start + start) for splice in compacted.splices)
        report = (*trace, *_decisions(chain, compacted))
        return Outcome(changes, report, (*compacted.warnings(), *cautions), kept_options=_stored_options(options))

    def compacted(self, chain: Chain, options: CompactOptions, context: Context) -> tuple[Strategy, Compacted]:
        """Run the strategy on a chain, and return both. Raises Refused and CompactionFailed as `strategy` does."""
        strategy = self.strategy(options, context)
        found = strategy(request_for(chain, options.prompt_tokens, options.counter))
        return strategy, found.with_first_request() if options.keep_first_request else found

    def strategy(self, options: CompactOptions, context: Context) -> Strategy:
        """Return the strategy of the options, which `next_state` and the simulation also call. `strategy(request_for(chain))` returns a
        run with its trace, and raises CompactionFailed if a compactor fails.

        Raises Refused if no limit is chosen.
        """
        root = options.compactor
        if root is None:
            raise Refused(NO_LIMIT)
        settings = Settings(options.if_no_user_boundary, options.reduction, operations=self._operations, context=context)
        return Strategy(root, settings)


def _stored_options(options: CompactOptions) -> dict[str, Any]:
    """Return the options to store, with the strategy as an object, because a long text would be cut."""
    kept = options.model_dump(exclude_defaults=True)
    if options.strategy.strip():
        kept["strategy"] = as_value(parse_strategy(options.strategy))
    return kept


def request_for(chain: Chain, prompt_tokens: int = 0, counter: Counter = "recorded") -> CompactionRequest:
    """Return a chain as the state after its last call, which used `prompt_tokens`, or 0 to count them with `counter`.

    Reads shapes, and the body of the last AI message for its recorded usage. A tokenizer reads all bodies.
    """
    shapes = chain.shapes()
    start = leading_systems(shapes)
    stored = Window(MessageIndex(shapes), start, len(shapes))
    last = last_answer(shapes)
    return CompactionRequest(
        messages=stored,
        leading=shapes[:start],
        usage=usage_of(chain, prompt_tokens, counter),
        provider=provider_of(chain.format),
        processed_length=0 if last is None else last + 1 - start,
        chain=Tail(chain, start),
    )


def _trace(trial: Trial) -> Iterator[Decision]:
    """Yield a row for each compactor and trigger that contains no other."""
    for place, part in trial.walk():
        if not part.parts:
            yield Decision("", part.verdict, f"{place or part.type}: {part.reason}")


def _decisions(chain: Chain, compacted: Compacted) -> Iterator[Decision]:
    """Yield a row for each range of the chain that is removed or rewritten."""
    messages, start = compacted.request.messages, len(compacted.request.leading)
    ends = {place for splice in compacted.splices for place in (splice.start, splice.start + splice.removed - 1)}
    paths = {place - start: str(path) for place, path in enumerate(message_paths(chain.tree)) if place - start in ends}
    for splice in compacted.splices:
        stop = splice.start + splice.removed
        before = messages.size_before(stop) - messages.size_before(splice.start)
        after = sum(message.size for message in splice.messages)
        action, what = (REWRITTEN, "rewritten") if splice.messages else (REMOVED, "removed")
        reason = f"{count_text(splice.removed, 'message')} {what}"
        until = paths[stop - 1] if splice.removed > 1 else ""
        yield Decision(paths.get(splice.start, ""), action, reason, before, after, until=until)


@dataclass(frozen=True)
class Tail:
    """The messages of `chain` from `start` on, as a chain with its own indexes and paths."""

    chain: Chain
    start: int

    @property
    def format(self) -> str:
        return self.chain.format

    def __len__(self) -> int:
        return len(self.chain) - self.start

    def __getitem__(self, index: int) -> Message:
        return self.chain[self.start + index]

    def slice(self, start: int, stop: int) -> Sequence[Message]:
        return self.chain.slice(self.start + start, self.start + stop)

    def stream(self, start: int, stop: int) -> Iterator[Message]:
        return self.chain.stream(self.start + start, self.start + stop)

    def shapes(self) -> Sequence[Shape]:
        return self.chain.shapes()[self.start :]

    def shapes_in(self, start: int, stop: int) -> Sequence[ShapeInChain]:
        return self.chain.shapes_in(self.start + max(0, start), self.start + stop)

    @property
    def surroundings(self) -> Surroundings:
        return self.chain.surroundings

    @cached_property
    def tree(self) -> ChainAST[Shape]:
        return parse(self.shapes())

    def signed(self, start: int) -> Iterator[int]:
        return (place - self.start for place in self.chain.signed(self.start + start))

    def span(self, path: Path) -> range:
        return span(self.tree, path)
