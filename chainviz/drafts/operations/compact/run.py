"""One run of a strategy on a stored chain, as the page shows it and as a job keeps it: values that are JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from time import perf_counter

from pydantic import BaseModel, ConfigDict

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Shape
from chainviz.core.operations.compact import (
    COMPACTORS,
    Boundary,
    Compacted,
    CompactOptions,
    Trial,
    request_for,
)
from chainviz.core.operations.compact.strategy import Strategy
from chainviz.core.operations.contract import Context
from chainviz.core.operations.strategies import strategy_of
from chainviz.core.state.message_index import Window
from chainviz.store.content.chain import StoredChain

AROUND = 5
"""Messages shown on either side of a cut."""
BLOCKS = 400
"""Most blocks of the strip that shows the chain from first to last."""
LABELS = {each.type: each.label for each in COMPACTORS}


class Step(BaseModel):
    """What one compactor or trigger did."""

    model_config = ConfigDict(frozen=True)

    place: str
    label: str
    verdict: str
    reason: str
    depth: int


class Change(BaseModel):
    """Messages `start:stop` of the chain that go, and what comes in their place."""

    model_config = ConfigDict(frozen=True)

    start: int
    stop: int
    size: int
    added: int = 0
    added_size: int = 0

    @property
    def removed(self) -> int:
        return self.stop - self.start

    @property
    def delta(self) -> int:
        """Bytes, below 0 where the chain gets smaller."""
        return self.added_size - self.size


class Sizes(BaseModel):
    """Of the stored messages."""

    model_config = ConfigDict(frozen=True)

    messages: int
    size: int
    turns: int
    tokens: int


class Block(BaseModel):
    """A stretch of the stored messages: its bytes, and whether it goes."""

    model_config = ConfigDict(frozen=True)

    size: int
    is_gone: bool


class Cut(BaseModel):
    """Where the chain is cut: places of stored messages, from 0."""

    model_config = ConfigDict(frozen=True)

    wanted: int
    at: int
    text: str
    around: tuple[tuple[int, str], ...]
    """Place and letter of the messages around it: A answer, C calls, T tool result, U user, S system."""


class Ran(BaseModel):
    model_config = ConfigDict(frozen=True)

    steps: tuple[Step, ...]
    leading: int
    """Leading system messages, which are never compacted."""
    leading_size: int
    before: Sizes
    after: Sizes
    changes: tuple[Change, ...]
    cut: Cut | None
    blocks: tuple[Block, ...]
    warnings: tuple[str, ...]
    tokens_source: str
    """recorded, given or estimated."""
    removes_everything: bool
    milliseconds: int

    @property
    def removed(self) -> int:
        return sum(change.removed for change in self.changes)


def run_strategy(chain: StoredChain, options: CompactOptions, context: Context) -> Ran:
    """Raises Refused where nothing is chosen, CompactionFailed where a compactor fails."""
    strategy = strategy_of(options, context)
    begun = perf_counter()
    compacted = strategy(request_for(chain, options.prompt_tokens))
    return _ran(compacted, strategy, perf_counter() - begun)


def _ran(compacted: Compacted, strategy: Strategy, seconds: float) -> Ran:
    request = compacted.request
    messages, leading, usage = request.messages, len(request.leading), request.usage
    changes = tuple(_changes(compacted, leading))
    size = messages.size - sum(change.size - change.added_size for change in changes)
    gone = sum(change.stop - change.start - change.added for change in changes)
    tokens, sent = (usage.prompt_tokens, usage.sent) if usage else (0, 0)
    left = tokens - tokens * min(messages.size - size, sent) // sent if sent else tokens
    turns = _turns_after(messages, compacted)
    return Ran(
        steps=tuple(_steps(compacted.trial)),
        leading=leading,
        leading_size=sum(message.size for message in request.leading),
        before=Sizes(messages=len(messages), size=messages.size, turns=messages.turns, tokens=tokens),
        after=Sizes(messages=len(messages) - gone, size=size, turns=turns, tokens=left),
        changes=changes,
        cut=_cut(messages, compacted.boundary),
        blocks=tuple(_blocks(messages, changes, leading)),
        warnings=tuple(dict.fromkeys((*compacted.warnings(), *strategy.root.cautions()))),
        tokens_source=usage.source if usage else "",
        removes_everything=compacted.removes_everything,
        milliseconds=round(seconds * 1000),
    )


def _steps(trial: Trial) -> Iterator[Step]:
    for place, part in trial.walk():
        label = LABELS.get(part.type, part.type)
        yield Step(place=place, label=label, verdict=part.verdict, reason=part.reason, depth=place.count(".") + 1 if place else 0)


def _changes(compacted: Compacted, leading: int) -> Iterator[Change]:
    messages = compacted.request.messages
    for splice in compacted.splices:
        stop = splice.start + splice.removed
        yield Change(
            start=leading + splice.start,
            stop=leading + stop,
            size=messages.size_before(stop) - messages.size_before(splice.start),
            added=len(splice.messages),
            added_size=sum(message.size for message in splice.messages),
        )


def _turns_after(messages: Window, compacted: Compacted) -> int:
    """Complete turns that stay; a summary is none."""
    ranges = [(splice.start, splice.start + splice.removed) for splice in compacted.splices]
    gone = sum(Window(messages.index, messages.start + start, messages.start + stop).turns for start, stop in ranges)
    return messages.turns - gone


def _cut(messages: Window, found: Boundary | None) -> Cut | None:
    if found is None:
        return None
    return Cut(wanted=found.wanted, at=found.cut, text=found.text, around=_around(messages, found.cut, found.wanted))


def _around(messages: Window, cut: int, wanted: int) -> tuple[tuple[int, str], ...]:
    """From before the place that the limit alone gives to behind the cut, or as much of that as fits beside the cut."""
    stop = min(len(messages), cut + AROUND)
    start = max(0, min(wanted, cut) - AROUND, stop - 3 * AROUND)
    return tuple((place, letter(messages[place])) for place in range(start, stop))


def letter(message: Shape) -> str:
    if message.role == AI:
        return "C" if message.calls else "A"
    return {TOOL: "T", HUMAN: "U", SYSTEM: "S"}.get(message.role, "X")


def _blocks(messages: Window, changes: Sequence[Change], leading: int) -> Iterator[Block]:
    """A block a message, or as many messages as make no more than BLOCKS blocks; none is on both sides of a change."""
    edges = sorted({0, len(messages), *(place - leading for change in changes for place in (change.start, change.stop))})
    each = max(1, -(-len(messages) // BLOCKS))
    gone = {change.start - leading for change in changes}
    for start, stop in pairwise(edges):
        for place in range(start, stop, each):
            end = min(place + each, stop)
            yield Block(size=messages.size_before(end) - messages.size_before(place), is_gone=start in gone)
