"""Folds the pieces whose texts are there; pure. The report names every piece that stays, and why."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import HUMAN, SYSTEM, Message
from chainviz.core.chain.paths import Path
from chainviz.core.errors import Refused
from chainviz.core.operations.contract import Decision, Outcome
from chainviz.core.operations.summarize.piece_reader import Reader
from chainviz.core.operations.summarize.planning.choose import plan as plan_again
from chainviz.core.operations.summarize.planning.plan import Piece, Plan, Texts
from chainviz.core.operations.summarize.planning.reference import replayed
from chainviz.core.operations.summarize.replacement import BETWEEN_TEXTS, folded_into

NOT_WRITTEN = "No summary was written."
FOLDED, STAYS = "summarize", "left"


def fold(plan: Plan, texts: Texts, source: random.Random | None = None) -> Outcome:
    """The outcome with these texts. The plan is made again with their real sizes first; `source` makes tool-call ids."""
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
    """The pieces that can be folded; sections are joined only if every part of them has its text."""
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
    """All system messages as they were, then one human message: the summary of them all, or all their parts."""
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
    """The place of the summary in the changed chain."""
    if piece.rule == "qa-human":
        headers = (message for section in chain.tree.sections[: piece.last.section] for message in section.header)
        return Path(1, 0, sum(message.role == SYSTEM for message in headers))
    if piece.rule == "qa":
        return Path(1, 1)
    assert piece.first.pair is not None
    joined_sections = max((each.last.section for each in folds if each.rule == "qa"), default=1)
    rotated_pairs = max(
        (
            each.last.pair or 1
            for each in folds
            if each.rule == "rotation" and each.first.section == piece.first.section
        ),
        default=1,
    )
    gone = rotated_pairs - 1 if piece.rule != "rotation" else 0
    return Path(piece.first.section - joined_sections + 1, piece.first.pair - gone)


def _warnings(plan: Plan, folds: dict[str, Piece]) -> Iterator[str]:
    yield from plan.warnings
    for piece in plan.pieces:
        if piece.key not in folds:
            stays = "They are not folded into one." if piece.rule in ("qa", "rotation") else "It is unchanged."
            yield f"{_named(piece)}: {piece.left or NOT_WRITTEN} {stays}"


def _named(piece: Piece) -> str:
    if piece.rule == "qa-human":
        return f"Questions of {piece.first} to {piece.last}"
    return str(piece.first) if piece.first == piece.last else f"{piece.first} to {piece.last}"


def _as_reference(plan: Plan, texts: Texts, source: random.Random) -> Outcome:
    before = plan.chain.slice(0, len(plan.chain))
    pieces, after = replayed(before, plan.options, source, texts)
    missing = next((piece for piece in pieces if piece.key not in texts), None)
    if missing is not None:
        raise Refused(f"The reference needs every text, and there is none for {_named(missing)}.")
    rows = []
    for piece in pieces:
        text = texts[piece.key]
        written = isinstance(text, str)
        until = str(piece.last) if piece.last != piece.first else ""
        size = piece.size if not written else piece.after
        rows.append(
            Decision(str(piece.first), FOLDED if written else STAYS, piece.reason, piece.size, size, until=until)
        )
    return Outcome(tuple(_differences(before, after)), tuple(rows))


def _differences(before: Sequence[Message], after: Sequence[Message]) -> Iterator[Splice]:
    """Splices around the messages that are the same objects and still in order, all others new."""
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
