"""One run of a strategy on a stored chain, as the page shows it and as a job keeps it: values that are JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from time import perf_counter
from typing import Any

from pydantic import BaseModel, ConfigDict

from chainviz.chains.models import Chain
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Shape
from chainviz.core.errors import Refused
from chainviz.core.operations.compact import COMPACTORS, Boundary, Compact, Compacted, CompactOptions, Trial
from chainviz.core.operations.compact.compactor_types import FoldTools, Summarize
from chainviz.core.operations.compact.strategy import Strategy
from chainviz.core.operations.contract import Context
from chainviz.core.operations.execute import get_operation
from chainviz.core.operations.summarize.writers.contract import SummaryRequest, Unchanged, WriteSummaries
from chainviz.core.state.call import Usage, Window
from chainviz.core.usage.model_catalog import estimated_tokens, tokens_of
from chainviz.drafts.operations.compact.tree import Value
from chainviz.drafts.summaries.runs import endpoint_for
from chainviz.drafts.target import Target, target_of_job
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext, start_job
from chainviz.llm import Watch, Written, write_all, writer_named
from chainviz.store.content.chain import StoredChain

AROUND = 5
"""The number of messages that are shown on either side of a cut."""
BLOCKS = 400
"""The most blocks of the strip that shows the whole chain."""
LABELS = {each.type: each.label for each in COMPACTORS}


class Step(BaseModel):
    """The effect of one compactor or trigger."""

    model_config = ConfigDict(frozen=True)

    place: str
    label: str
    verdict: str
    reason: str
    depth: int


class Change(BaseModel):
    """Messages `start:stop` of the chain that are removed, and their replacement."""

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
        """Bytes, below 0 if the chain gets smaller."""
        return self.added_size - self.size


class Sizes(BaseModel):
    """The sizes of the stored messages."""

    model_config = ConfigDict(frozen=True)

    messages: int
    size: int
    turns: int
    tokens: int


class Block(BaseModel):
    """A range of the stored messages: its bytes, and whether it is removed."""

    model_config = ConfigDict(frozen=True)

    size: int
    is_gone: bool


class Cut(BaseModel):
    """The boundary at which the chain is cut, as places of stored messages, from 0."""

    model_config = ConfigDict(frozen=True)

    wanted: int
    at: int
    text: str
    around: tuple[tuple[int, str], ...]
    """The place and letter of the messages around it: A answer, C calls, T tool result, U user, S system."""


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
    """`recorded`, `given`, `o200k` or `estimated`. The tokens afterwards are always a count of the same kind or an
    estimate."""
    removes_everything: bool
    milliseconds: int
    texts: dict[str, str] = {}
    """The texts of a model, by the key of the piece. The step uses them, so that no model is called again."""

    @property
    def removed(self) -> int:
        return sum(change.removed for change in self.changes)


def run_strategy(chain: StoredChain, options: CompactOptions, context: Context) -> Ran:
    """Raise Refused if nothing is chosen, CompactionFailed where a compactor fails."""
    operation = get_operation("compact")
    assert isinstance(operation, Compact)
    begun = perf_counter()
    strategy, compacted = operation.compacted(chain, options, context)
    return _ran(chain, compacted, strategy, perf_counter() - begun)


def _ran(chain: StoredChain, compacted: Compacted, strategy: Strategy, seconds: float) -> Ran:
    request = compacted.request
    messages, leading, usage = request.messages, len(request.leading), request.usage
    changes = tuple(_changes(compacted, leading))
    size = messages.size - sum(change.size - change.added_size for change in changes)
    gone = sum(change.stop - change.start - change.added for change in changes)
    left = _tokens_left(chain, usage, changes, messages.size - size) if usage else 0
    turns = _turns_after(messages, compacted)
    return Ran(
        steps=tuple(_steps(compacted.trial)),
        leading=leading,
        leading_size=sum(message.size for message in request.leading),
        before=Sizes(messages=len(messages), size=messages.size, turns=messages.turns, tokens=usage.prompt_tokens if usage else 0),
        after=Sizes(messages=len(messages) - gone, size=size, turns=turns, tokens=left),
        changes=changes,
        cut=_cut(messages, compacted.boundary),
        blocks=tuple(_blocks(messages, changes, leading)),
        warnings=tuple(dict.fromkeys((*compacted.warnings(), *strategy.root.cautions()))),
        tokens_source=usage.source if usage else "",
        removes_everything=compacted.removes_everything,
        milliseconds=round(seconds * 1000),
    )


def _tokens_left(chain: StoredChain, usage: Usage, changes: Sequence[Change], saved: int) -> int:
    """Return the prompt tokens of the next call: counted by the tokenizer that counted the last call, else estimated by
    the bytes that are saved."""
    if usage.source == "o200k":
        gone = sum(tokens_of(chain.slice(change.start, change.stop)) for change in changes)
        return max(0, usage.prompt_tokens - gone + estimated_tokens(sum(change.added_size for change in changes)))
    if usage.source == "estimated":
        return estimated_tokens(max(0, usage.sent - saved))
    return usage.prompt_tokens - usage.prompt_tokens * min(saved, usage.sent) // usage.sent if usage.sent else usage.prompt_tokens


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
    """Count the complete turns that stay, without summaries."""
    ranges = [(splice.start, splice.start + splice.removed) for splice in compacted.splices]
    gone = sum(Window(messages.index, messages.start + start, messages.start + stop).turns for start, stop in ranges)
    return messages.turns - gone


def _cut(messages: Window, found: Boundary | None) -> Cut | None:
    if found is None:
        return None
    return Cut(wanted=found.wanted, at=found.cut, text=found.text, around=_around(messages, found.cut, found.wanted))


def _around(messages: Window, cut: int, wanted: int) -> tuple[tuple[int, str], ...]:
    """Return the messages around the cut and the place that the limit alone gives, or as many as fit around the cut."""
    stop = min(len(messages), cut + AROUND)
    start = max(0, min(wanted, cut) - AROUND, stop - 3 * AROUND)
    return tuple((place, letter(messages[place])) for place in range(start, stop))


def letter(message: Shape) -> str:
    if message.role == AI:
        return "C" if message.calls else "A"
    return {TOOL: "T", HUMAN: "U", SYSTEM: "S"}.get(message.role, "X")


def _blocks(messages: Window, changes: Sequence[Change], leading: int) -> Iterator[Block]:
    """Yield a block for each message, or for several messages if there would be more than BLOCKS blocks. No block is on
    both sides of a change."""
    edges = sorted({0, len(messages), *(place - leading for change in changes for place in (change.start, change.stop))})
    each = max(1, -(-len(messages) // BLOCKS))
    gone = {change.start - leading for change in changes}
    for start, stop in pairwise(edges):
        for place in range(start, stop, each):
            end = min(place + each, stop)
            yield Block(size=messages.size_before(end) - messages.size_before(place), is_gone=start in gone)


# A run of a strategy on a long chain as a job: nothing is written but its result.


FUNCTION = "run-strategy"
MESSAGES_AT_ONCE = 5_000
NEWEST = 20
"""The number of newest runs in which the one is searched that wrote the texts of a step."""
BYTES_AT_ONCE = 1_000_000
"""The most bytes that are read while the person waits: shapes of messages, and for summaries the messages themselves."""


SUMMARIZING = (Summarize.type, FoldTools.type)


def is_long(chain: StoredChain, tree: Value | None, counter: str = "") -> bool:
    reads_bodies = counter == "o200k" or _has(tree, lambda node: node.get("type") in SUMMARIZING)
    is_large = len(chain) > MESSAGES_AT_ONCE or (chain.snapshot.stored > BYTES_AT_ONCE and reads_bodies)
    return is_large or is_written_by_model(tree)


def is_written_by_model(tree: Value | None) -> bool:
    return _has(tree, lambda node: node.get("type") in SUMMARIZING and node.get("writer") == "model")


def _has(node: Any, is_wanted: Callable[[Value], bool]) -> bool:
    if isinstance(node, list):
        return any(_has(item, is_wanted) for item in node)
    if not isinstance(node, dict):
        return False
    return is_wanted(node) or any(_has(item, is_wanted) for item in node.values())


def start(target: Target, options: CompactOptions) -> Job:
    return start_job(FUNCTION, owner=target.person, **target.job_args, options=options.model_dump())


def find(target: Target, number: int) -> Job | None:
    jobs = Job.objects.about(target.chain).visible_to(target.person).filter(function=FUNCTION, pk=number)
    return next((job for job in jobs if job.args["seen"] == target.content), None)


def written_texts(target: Target, options: CompactOptions) -> dict[str, str] | None:
    """Return what a model wrote in the person's newest run of exactly these options; None if there was none."""
    jobs = Job.objects.about(target.chain).visible_to(target.person).filter(function=FUNCTION, state=Job.State.DONE)
    same = {"seen": target.content, "options": options.model_dump()}
    job = next((job for job in jobs.order_by("-pk")[:NEWEST] if same.items() <= job.args.items()), None)
    return Ran.model_validate(job.result).texts if job else None


def _model_writer(chain: Chain, texts: dict[str, str], context: JobContext) -> WriteSummaries:
    """Return a function that asks the model of the installation, and adds what it wrote to `texts`. Raises Refused if
    none is set up, or if the team does not allow one."""
    endpoint = endpoint_for(chain)
    if endpoint.problem:
        raise Refused(endpoint.problem)

    def write(requests: Sequence[SummaryRequest]) -> dict[str, str | Unchanged]:
        done = 0

        def count(written: Written) -> None:
            nonlocal done
            done += 1
            context.report(done / len(requests), f"{done:,} of {len(requests):,} summaries written")

        writer = writer_named("openai", endpoint)
        written = write_all(requests, writer, concurrency=endpoint.concurrency, watch=Watch(context.is_cancelled, count))
        texts.update({each.request.key: each.text for each in written if each.state == "done"})
        return {each.request.key: each.outcome for each in written}

    return write


def run_content(context: JobContext, **args: Any) -> dict[str, Any]:
    """Return the run as JSON."""
    target = target_of_job(context.job)
    context.report(0.0, "Reading sizes and roles")
    chosen = CompactOptions.model_validate(args["options"])
    texts: dict[str, str] = {}
    by_model = chosen.strategy and is_written_by_model(json.loads(chosen.strategy))
    write = _model_writer(target.chain, texts, context) if by_model else None
    ran = run_strategy(target.stored, chosen, Context(progress=context.report, cancelled=context.is_cancelled, write_summaries=write))
    if context.is_cancelled():
        raise Cancelled
    return ran.model_copy(update={"texts": texts}).model_dump(mode="json")
