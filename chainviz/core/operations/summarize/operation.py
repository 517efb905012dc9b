"""The summarize operation: make a plan, request a text for each piece, and replace the pieces that have one. If a piece fails,
its messages are kept, and the report gives the reason."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import HUMAN, SYSTEM, Message
from chainviz.core.chain.paths import Path
from chainviz.core.errors import Refused
from chainviz.core.operations.contract import Badge, Context, Decision, Outcome
from chainviz.core.operations.summarize.folding import plan
from chainviz.core.operations.summarize.folding import plan as plan_again
from chainviz.core.operations.summarize.options import SummarizeOptions
from chainviz.core.operations.summarize.plan import BETWEEN_TEXTS, Piece, Plan, Reader, Texts, folded_into
from chainviz.core.operations.summarize.reference import replayed
from chainviz.core.operations.summarize.writers.contract import Summary, SummaryRequest, Unchanged, Writer, WriterError, WriteSummaries
from chainviz.core.operations.summarize.writers.extractive import Extractive

CANCELLED = Unchanged("It was cancelled.")


class Summarize:
    name = "summarize"
    label = "Summarize"
    doing = "Summarizing"
    badge = Badge("Summarized", "summary", "summarised")
    nothing = "Nothing is old or large enough to be summarized."
    Options = SummarizeOptions

    def run(self, chain: Chain, options: SummarizeOptions, context: Context) -> Outcome:
        """Write the pieces one after the other, unless the context writes several at once or already has the texts."""
        if context.summaries is not None:
            return fold(plan(chain, options, context.summaries), context.summaries, context.random)
        if context.write_summaries is not None:
            return summarized(chain, options, context.write_summaries, context.random)
        writer = context.writer or Extractive()

        def ask(requests: Sequence[SummaryRequest]) -> dict[str, str | Unchanged]:
            texts = {}
            for done, request in enumerate(requests):
                context.progress(done / len(requests), request.key)
                texts[request.key] = _written(request, writer, context)
            return texts

        return summarized(chain, options, ask, context.random)


def summarized(chain: Chain, options: SummarizeOptions, ask: WriteSummaries, source: random.Random) -> Outcome:
    """Request the texts that the plan needs, stage by stage. Raises Refused if every piece failed."""
    texts: dict[str, str | Unchanged] = {}
    planned = plan(chain, options)
    while waiting := planned.waiting(texts):
        texts.update(ask(planned.requests(waiting)))
        planned = plan(chain, options, texts)
    failures = [text for text in texts.values() if isinstance(text, Unchanged)]
    if failures and len(failures) == len(texts) and options.preset != "pentagi":
        raise Refused(f"Every summary failed. {failures[0].reason}")
    return fold(planned, texts, source)


def _written(request: SummaryRequest, writer: Writer, context: Context) -> str | Unchanged:
    if context.cancelled():
        return CANCELLED
    try:
        written = writer.write(request, cancelled=context.cancelled)
        return written.text if isinstance(written, Summary) else written
    except WriterError as failed:
        return Unchanged(str(failed))


NOT_WRITTEN = "No summary was written."
FOLDED, STAYS = "summarize", "left"


def fold(plan: Plan, texts: Texts, source: random.Random | None = None) -> Outcome:
    """Return the outcome with these texts, after planning again with their real sizes. `source` generates tool-call ids."""
    source = source or random.Random(0)
    plan = plan_again(plan.chain, plan.options, texts)
    if plan.options.preset == "pentagi":
        return _as_reference(plan, texts, source)
    used = {call.id for _, pair in plan.chain.tree.pairs() if pair.ai is not None for call in pair.ai.calls}
    folds = {piece.key: piece for piece in _ready(plan)}
    made: dict[str, tuple[Message, ...]] = {}
    for key, piece in folds.items():
        if not piece.continues:
            text = BETWEEN_TEXTS.join(str(texts[part.key]) for part in _with_its_parts(piece, plan))
            made[key] = folded_into(piece, text, plan.options, source, used)
            used |= {call.id for message in made[key] for call in message.calls}
    splices = tuple(_splices(plan.chain, list(folds.values()), made))
    rows = tuple(_rows(plan, folds))
    return Outcome(splices, rows, tuple(_warnings(plan, folds)))


def _ready(plan: Plan) -> list[Piece]:
    """Return the pieces that can be folded. Sections are joined only if every part of them has a text."""
    joins = all(piece.after >= 0 for piece in plan.pieces if piece.rule == "qa")
    return [piece for piece in plan.pieces if piece.after >= 0 and (joins or piece.rule not in ("qa", "qa-human"))]


def _with_its_parts(piece: Piece, plan: Plan) -> list[Piece]:
    return [part for part in plan.pieces if part is piece or (piece.rule == "qa" and part.continues)]


def _splices(chain: Chain, folds: Sequence[Piece], made: dict[str, tuple[Message, ...]]) -> Iterator[Splice]:
    reader = Reader(chain)
    questions = next((made[piece.key] for piece in folds if piece.rule == "qa-human"), None)
    joined = [piece for piece in folds if piece.rule == "qa"]
    for piece in folds:
        if piece.rule not in ("qa", "qa-human"):
            span = reader.span(piece.first, piece.last)
            yield Splice(span.start, len(span), made[piece.key])
        elif piece is joined[0]:
            span = reader.sections(joined[0].first, joined[-1].last)
            header = _joined_header(chain.slice(span.start, span.stop), questions)
            yield Splice(span.start, len(span), (*header, *made[piece.key]))


def _joined_header(messages: Sequence[Message], questions: tuple[Message, ...] | None) -> tuple[Message, ...]:
    """Return all system messages unchanged, then one human message: the summary of the human messages, or all their parts."""
    systems = tuple(message for message in messages if message.role == SYSTEM)
    humans = [message for message in messages if message.role == HUMAN]
    if questions is not None:
        return (*systems, *questions)
    if len(humans) < 2:
        return (*systems, *humans)
    parts = tuple(replace(part, origin=-1) for message in humans for part in message.parts)
    return (*systems, Message(HUMAN, parts))


def _rows(plan: Plan, folds: dict[str, Piece]) -> Iterator[Decision]:
    for piece in plan.pieces:
        first, until = str(piece.first), str(piece.last) if piece.last != piece.first else ""
        if piece.key in folds:
            becomes = str(_new_path(piece, list(folds.values()), plan.chain))
            yield Decision(first, FOLDED, piece.reason, piece.size, piece.after, until=until, becomes=becomes)
        else:
            reason = f"{piece.left or NOT_WRITTEN} {piece.reason}"
            yield Decision(first, STAYS, reason, piece.size, piece.size, until=until)


def _new_path(piece: Piece, folds: Sequence[Piece], chain: Chain) -> Path:
    """Return the path of the summary in the changed chain."""
    if piece.rule == "qa-human":
        headers = (message for section in chain.tree.sections[: piece.last.section] for message in section.header)
        return Path(1, 0, sum(message.role == SYSTEM for message in headers))
    if piece.rule == "qa":
        return Path(1, 1)
    assert piece.first.pair is not None
    joined_sections = max((each.last.section for each in folds if each.rule == "qa"), default=1)
    rotated_pairs = max(
        (each.last.pair or 1 for each in folds if each.rule == "rotation" and each.first.section == piece.first.section), default=1
    )
    gone = rotated_pairs - 1 if piece.rule != "rotation" else 0
    return Path(piece.first.section - joined_sections + 1, piece.first.pair - gone)


def _warnings(plan: Plan, folds: dict[str, Piece]) -> Iterator[str]:
    yield from plan.warnings
    for piece in plan.pieces:
        if piece.key not in folds:
            stays = "They are not folded into one." if piece.rule in ("qa", "rotation") else "It is unchanged."
            yield f"{_piece_title(piece)}: {piece.left or NOT_WRITTEN} {stays}"


def _piece_title(piece: Piece) -> str:
    if piece.rule == "qa-human":
        return f"Questions of {piece.first} to {piece.last}"
    return str(piece.first) if piece.first == piece.last else f"{piece.first} to {piece.last}"


def _as_reference(plan: Plan, texts: Texts, source: random.Random) -> Outcome:
    before = plan.chain.slice(0, len(plan.chain))
    pieces, after = replayed(before, plan.options, source, texts)
    missing = next((piece for piece in pieces if piece.key not in texts), None)
    if missing is not None:
        raise Refused(f"The reference needs every text, and there is none for {_piece_title(missing)}.")
    rows = []
    for piece in pieces:
        text = texts[piece.key]
        written = isinstance(text, str)
        until = str(piece.last) if piece.last != piece.first else ""
        size = piece.size if not written else piece.after
        rows.append(Decision(str(piece.first), FOLDED if written else STAYS, piece.reason, piece.size, size, until=until))
    return Outcome(tuple(_differences(before, after)), tuple(rows))


def _differences(before: Sequence[Message], after: Sequence[Message]) -> Iterator[Splice]:
    """Yield splices that replace every message that is not the same object in the same order."""
    places = {id(message): i for i, message in enumerate(before)}
    start = 0
    new: list[Message] = []
    for message in after:
        place = places.get(id(message), -1)
        if place < start:
            new.append(message)
            continue
        if new or place > start:
            yield Splice(start, place - start, tuple(new))
        start, new = place + 1, []
    if new or start < len(before):
        yield Splice(start, len(before) - start, tuple(new))
