"""The operation: removes old messages from a chain as a compactor does from a state after a call (seed 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.message_paths import message_paths
from chainviz.core.errors import Refused
from chainviz.core.operations.compact.compactors.contract import Settings, Trial, amount
from chainviz.core.operations.compact.options import NO_LIMIT, CompactOptions
from chainviz.core.operations.compact.protected_head import Tail
from chainviz.core.operations.compact.strategy import Compacted, Strategy
from chainviz.core.operations.compact.strategy_json import as_value, parse_strategy
from chainviz.core.operations.contract import Badge, Context, Decision, Operation, Outcome
from chainviz.core.state.compaction_request import CompactionRequest
from chainviz.core.state.export import provider_of
from chainviz.core.state.message_index import MessageIndex, Window, leading_systems
from chainviz.core.state.usage import last_answer, usage_of

REMOVED, REWRITTEN = "removed", "rewritten"


class Compact:
    """Leading system messages are sent with every call and never stored, so they stay as they are."""

    name = "compact"
    label = "Compact"
    doing = "Compacting"
    badge = Badge("Compacted", "compact", "changed")
    nothing = "No compactor of the strategy was triggered, so nothing changes."
    Options = CompactOptions

    def __init__(self, *strategies: Operation[Any]) -> None:
        """`strategies`: operations that a strategy may run instead of removing messages.

        Operations do not import one another, so the registry, which knows them all, passes them in.
        """
        self._operations = {operation.name: operation for operation in strategies}

    def run(self, chain: Chain, options: CompactOptions, context: Context) -> Outcome:
        strategy = self.strategy(options, context)
        compacted = strategy(request_for(chain, options.prompt_tokens))
        cautions = tuple(dict.fromkeys(strategy.root.cautions()))
        trace = tuple(_trace(compacted.trial))
        if not compacted.splices:
            why = " ".join(row.reason for row in trace)
            return Outcome((), trace, (f"Nothing changes. {why}", *cautions))
        start = len(compacted.request.leading)
        changes = tuple(replace(splice, start=splice.start + start) for splice in compacted.splices)
        report = (*trace, *_decisions(chain, compacted))
        return Outcome(changes, report, (*compacted.warnings(), *cautions), kept_options=_kept(options))

    def strategy(self, options: CompactOptions, context: Context) -> Strategy:
        """What `next_state` and the simulation call, too: `strategy(request_for(chain))` is a run with its trace.

        Refused where no limit is chosen; the call raises CompactionFailed where a compactor fails.
        """
        root = options.compactor
        if root is None:
            raise Refused(NO_LIMIT)
        settings = Settings(
            options.if_no_user_boundary, options.reduction, operations=self._operations, context=context
        )
        return Strategy(root, settings)


def _kept(options: CompactOptions) -> dict[str, Any]:
    """The strategy as an object: of a long text only the beginning would be kept."""
    kept = options.model_dump(exclude_defaults=True)
    if options.strategy.strip():
        kept["strategy"] = as_value(parse_strategy(options.strategy))
    return kept


def request_for(chain: Chain, prompt_tokens: int = 0) -> CompactionRequest:
    """A chain as the state after its last call; `prompt_tokens` of that call where they are more than 0.

    Reads shapes, and the body of the last AI message for the usage it may record.
    """
    shapes = chain.shapes()
    start = leading_systems(shapes)
    stored = Window(MessageIndex(shapes), start, len(shapes))
    last = last_answer(shapes)
    return CompactionRequest(
        messages=stored,
        leading=shapes[:start],
        usage=usage_of(chain, prompt_tokens),
        provider=provider_of(chain.format),
        processed_length=0 if last is None else last + 1 - start,
        chain=Tail(chain, start),
    )


def _trace(trial: Trial) -> Iterator[Decision]:
    """One row for each compactor and trigger that holds no other."""
    for place, part in trial.walk():
        if not part.parts:
            yield Decision("", part.verdict, f"{place or part.type}: {part.reason}")


def _decisions(chain: Chain, compacted: Compacted) -> Iterator[Decision]:
    """One row for each stretch of the chain that is removed or rewritten."""
    messages, start = compacted.request.messages, len(compacted.request.leading)
    ends = {place for splice in compacted.splices for place in (splice.start, splice.start + splice.removed - 1)}
    paths = {place - start: str(path) for place, path in enumerate(message_paths(chain.tree)) if place - start in ends}
    for splice in compacted.splices:
        stop = splice.start + splice.removed
        before = messages.size_before(stop) - messages.size_before(splice.start)
        after = sum(message.size for message in splice.messages)
        action, what = (REWRITTEN, "rewritten") if splice.messages else (REMOVED, "removed")
        reason = f"{amount(splice.removed, 'message')} {what}"
        until = paths[stop - 1] if splice.removed > 1 else ""
        yield Decision(paths.get(splice.start, ""), action, reason, before, after, until=until)
