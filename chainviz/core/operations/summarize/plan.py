"""The plan of a summary before any text is written: which pieces to fold, which nodes stay, and the pair that replaces messages."""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal

from chainviz.core.chain.build import SUMMARIZATION_ARGUMENTS, completion, human, tool_message
from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, Message, Part, Reasoning, Shape, Text, ToolCall, byte_size
from chainviz.core.chain.paths import Path
from chainviz.core.chain.reasoning import FAKE_SIGNATURE, contains_tool_call_reasoning, reasoning_message
from chainviz.core.chain.tool_ids import Template
from chainviz.core.chain.tree import SUMMARIZATION_TOOL, BodyPair, PairType, Section
from chainviz.core.formats.contract import Format
from chainviz.core.formats.stylist import written_size
from chainviz.core.operations.summarize.options import SummarizeOptions
from chainviz.core.operations.summarize.writers.contract import Case, SummaryRequest, Unchanged, instructions

PREFIX = "**summarized content:**\n"
"""The start of the text of a completion that is a summary."""
_MARK = PREFIX.rstrip()
CARRIED_CHARACTERS = 500
"""The most characters that are kept of a text beside carried reasoning, whose signature does not cover the text."""
_TRIES = 50


def is_summary(pair: BodyPair[Shape]) -> bool:
    """Return True if the pair already is a summary. If a message's body was not read, its preview is used."""
    if pair.type is not PairType.COMPLETION:
        return pair.type is PairType.SUMMARIZATION
    return pair.ai is not None and _opening(pair.ai).startswith(_MARK)


def is_marked_as_reference(pair: BodyPair[Message]) -> bool:
    """Return True if the reference recognises the pair as a summary: it checks only the first part, for the full prefix."""
    if pair.type is not PairType.COMPLETION or pair.ai is None:
        return pair.type is PairType.SUMMARIZATION
    first = pair.ai.parts[0] if pair.ai.parts else None
    return isinstance(first, Text) and first.text.startswith(PREFIX)


def _opening(message: Shape) -> str:
    if isinstance(message, Message):
        first = message.parts[0] if message.parts else None
        return first.text if isinstance(first, Text) else ""
    return str(getattr(message, "preview", ""))


def summary_type(types: Iterable[PairType]) -> PairType:
    """Return the type of the summary of pairs of these types: a tool call if all were one, else text."""
    return PairType.COMPLETION if all(type is PairType.COMPLETION for type in types) else PairType.SUMMARIZATION


def overhead(type: PairType, template: Template, format: Format) -> int:
    """Return the bytes of a summary pair beside its text, as the format writes it."""
    if type is PairType.COMPLETION:
        return len(PREFIX)
    return written_size(_called("", NewIds(template, random.Random(0)).take(), ()).messages, format)


@dataclass(frozen=True, slots=True)
class NewIds:
    """Generates call ids from a template."""

    template: Template
    source: random.Random
    used: Container[str] = ()
    """The ids that the chain already has."""

    def take(self) -> str:
        """Return a new id that the chain does not have, if the template allows one."""
        for _ in range(_TRIES):
            id = self.template.generate(self.source, SUMMARIZATION_TOOL)
            if id not in self.used:
                break
        return id


def summary_pair(text: str, type: PairType, ids: NewIds, *, carried: Sequence[Message] = (), shortened: bool = True) -> BodyPair[Message]:
    """Return a pair with this summary. It takes from `carried` what providers require: reasoning, and a mark in place of signatures.

    `shortened` cuts long texts beside that reasoning, because they would make every later summary large.
    """
    if type is PairType.COMPLETION:
        return completion(PREFIX + text)
    pair = _called(text, ids.take(), carried)
    if shortened and pair.ai is not None:
        pair = replace(pair, ai=replace(pair.ai, parts=tuple(map(_cut, pair.ai.parts))))
    return pair


def carried_size(messages: Sequence[Message]) -> int:
    """Return the bytes of the text that is kept beside carried reasoning."""
    reasoned = reasoning_message(messages)
    return sum(_cut(part).size for part in reasoned.parts) if reasoned is not None else 0


def _called(text: str, id: str, carried: Sequence[Message]) -> BodyPair[Message]:
    signed = Reasoning(signature=FAKE_SIGNATURE) if contains_tool_call_reasoning(carried) else None
    reasoned = reasoning_message(carried)
    before: tuple[Part, ...] = reasoned.parts if reasoned is not None else ()
    call = ToolCall(id, SUMMARIZATION_TOOL, SUMMARIZATION_ARGUMENTS, reasoning=signed)
    return BodyPair(Message(AI, (*before, call)), (tool_message(id, SUMMARIZATION_TOOL, text),))


def _cut(part: Part) -> Part:
    if isinstance(part, Text) and len(part.text) > CARRIED_CHARACTERS:
        return replace(part, text=f"{part.text[:CARRIED_CHARACTERS]}…")
    return part


Rule = Literal["section", "pair", "rotation", "qa", "qa-human"]
"""In this order: an old section, a large pair of a last section, the oldest pairs of a last section, joined old sections, and the
human messages of joined sections."""

STAGES: dict[Rule, int] = {"section": 0, "pair": 0, "rotation": 1, "qa": 2, "qa-human": 2}
"""The stage of each rule. The lengths of the texts of one stage decide which pieces the next stage needs."""


Texts = Mapping[str, str | Unchanged]
"""Texts, or reasons why there is none, by the key of the piece."""


@dataclass(frozen=True, slots=True)
class Material:
    """The messages that a piece folds, with their bodies."""

    humans: tuple[Message, ...]
    messages: tuple[Message, ...]
    places: tuple[Path, ...]
    """The path of each of `messages`, or of each of `humans` if only questions are folded."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbouring nodes that are replaced by one summary."""

    rule: Rule
    first: Path
    last: Path
    """The first and the last pair, or section if sections are joined; equal for a single one."""
    reason: str
    measure: int
    limit: int
    """The measured value and its limit: bytes, or a number of sections."""
    size: int
    """Size of the folded nodes in bytes."""
    type: PairType
    """The type of the summary pair."""
    target: int
    """The desired size of the text in bytes."""
    estimate: int
    """The estimated size of the replacement in bytes."""
    read: Callable[[], Material] = field(repr=False, compare=False)
    """Reads the folded messages."""
    after: int = -1
    """The size of the replacement in bytes, or -1 if there is no text yet."""
    left: str = ""
    """Why the piece is not folded although a text was requested."""
    continues: bool = False
    """True if the text continues the summary of the piece before, because both were too long for one prompt."""
    provisional: bool = False
    """True if the piece depends on texts that are not written yet, and may still change."""

    @property
    def key(self) -> str:
        return f"{self.rule}:{self.first}" if self.first == self.last else f"{self.rule}:{self.first}-{self.last}"

    @property
    def stage(self) -> int:
        return STAGES[self.rule]

    @property
    def expected(self) -> int:
        """The size of the replacement in bytes: the real one if it is known, else the estimate."""
        if self.left:
            return self.size
        return self.after if self.after >= 0 else self.estimate


@dataclass(frozen=True, slots=True)
class UnchangedNodes:
    """Neighbouring nodes that are not folded, with the reason."""

    first: Path
    last: Path
    why: str
    protected: bool = False
    """True if no setting can change this."""


@dataclass(frozen=True, slots=True)
class Plan:
    chain: Chain
    options: SummarizeOptions
    pieces: tuple[Piece, ...]
    """In the order of the chain."""
    kept: tuple[UnchangedNodes, ...]
    size_before: int
    size_after: int
    warnings: tuple[str, ...] = ()

    def request(self, piece: Piece) -> SummaryRequest:
        """Return the request that a writer would get; reads the bodies of this piece only."""
        material = piece.read()
        messages = () if piece.rule == "qa-human" else material.messages
        case: Case = 3 if not messages else 1 if material.humans else 2
        target = piece.target
        if piece.rule in ("pair", "rotation") and piece.type is PairType.SUMMARIZATION:
            target = max(1, min(target, piece.size - (piece.estimate - target) - carried_size(messages)))
        said = instructions(case, target)
        window, exact = self.options.context_window, self.options.preset == "pentagi"
        return SummaryRequest(piece.key, case, said, material.humans, messages, target, window=window, exact=exact)

    def requests(self, pieces: Sequence[Piece]) -> Sequence[SummaryRequest]:
        """Return the requests of pieces. The bodies of a piece are read each time its request is taken, so that they are never all in
        memory."""
        return _Requests(self, pieces)

    def waiting(self, texts: Texts) -> tuple[Piece, ...]:
        """Return the pieces to write now, or an empty tuple if all are written. Plan again with each new text."""
        unwritten = [piece for piece in self.pieces if piece.key not in texts and not piece.left]
        stage = min((piece.stage for piece in unwritten), default=0)
        return tuple(piece for piece in unwritten if piece.stage == stage)


@dataclass(frozen=True, slots=True)
class _Requests(Sequence[SummaryRequest]):
    plan: Plan
    pieces: Sequence[Piece]

    def __len__(self) -> int:
        return len(self.pieces)

    def __getitem__(self, place: Any) -> Any:
        return self.plan.request(self.pieces[place])


def target_bytes(size: int) -> int:
    """Return the target size of a summary of `size` bytes. It is a larger share of a short text than of a long one."""
    return min(size, 400 + size // 12, 4_000)


def joined(kept: Sequence[UnchangedNodes]) -> tuple[UnchangedNodes, ...]:
    """Join neighbouring entries that have the same reason."""
    result: list[UnchangedNodes] = []
    for each in kept:
        last = result[-1] if result else None
        if last is not None and (last.why, last.protected) == (each.why, each.protected) and _follows(last.last, each.first):
            result[-1] = UnchangedNodes(last.first, each.last, each.why, each.protected)
        else:
            result.append(each)
    return tuple(result)


def _follows(path: Path, next: Path) -> bool:
    if path.pair is None:
        return next.pair is None and next.section == path.section + 1
    return next.section == path.section and next.pair == path.pair + 1


class Reader:
    def __init__(self, chain: Chain) -> None:
        self.chain = chain

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(section) for section in self.chain.tree.sections), initial=0))

    def header(self, number: int) -> range:
        start = self._starts[number - 1]
        return range(start, start + len(self.chain.tree.sections[number - 1].header))

    def sections(self, first: Path, last: Path) -> range:
        return range(self._starts[first.section - 1], self._starts[last.section])

    def span(self, first: Path, last: Path) -> range:
        """Return the places of the messages of neighbouring pairs."""
        assert first.pair is not None and last.pair is not None
        body = self.chain.tree.sections[first.section - 1].body
        start = self.header(first.section).stop + _count(body[: first.pair - 1])
        return range(start, start + _count(body[first.pair - 1 : last.pair]))

    def pairs(self, first: Path, last: Path) -> Material:
        """Return pairs, or all pairs of sections, with the human messages that they answer."""
        if first.pair is None:
            return self._joined(first, last)
        header, span = self.header(first.section), self.span(first, last)
        messages = tuple(self.chain.slice(span.start, span.stop))
        places = tuple(_places(self.chain.tree.sections[first.section - 1], first.section, first.pair, last.pair))
        return Material(self._humans(header), messages, places)

    def questions(self, first: Path, last: Path) -> Material:
        """Return the messages of the person in these sections."""
        material = self._joined(first, last)
        places = tuple(
            Path(number, 0, m)
            for number in range(first.section, last.section + 1)
            for m, message in enumerate(self.chain.tree.sections[number - 1].header)
            if message.role == HUMAN
        )
        return Material(material.humans, (), places)

    def _joined(self, first: Path, last: Path) -> Material:
        span = self.sections(first, last)
        everything = self.chain.slice(span.start, span.stop)
        humans = tuple(message for message in everything if message.role == HUMAN)
        messages = tuple(message for message in everything if message.role not in (SYSTEM, HUMAN))
        places = tuple(
            place for number in range(first.section, last.section + 1) for place in _places(self.chain.tree.sections[number - 1], number)
        )
        return Material(humans, messages, places)

    def _humans(self, header: range) -> tuple[Message, ...]:
        return tuple(message for message in self.chain.slice(header.start, header.stop) if message.role == HUMAN)


def _count(body: tuple[BodyPair[Shape], ...]) -> int:
    return sum(len(pair.rest) + (pair.ai is not None) for pair in body)


def _places(section: Section[Shape], number: int, first: int = 1, last: int | None = None) -> Iterator[Path]:
    for p, pair in enumerate(section.body[first - 1 : last], first):
        ai = pair.ai is None  # m0 is reserved for the AI message even if there is none
        for m in range(ai, ai + len(pair.messages)):
            yield Path(number, p, int(m))


BETWEEN_TEXTS = "\n\n"
NOTHING_WRITTEN = "The summary is empty."


def settled(piece: Piece, options: SummarizeOptions, texts: Texts, format: Format) -> Piece:
    """Return the piece with the size of its written summary or with the reason why it is not folded. Without a text it is returned
    unchanged."""
    text = texts.get(piece.key)
    if text is None:
        return piece
    if isinstance(text, Unchanged):
        return replace(piece, left=text.reason)
    if not text.strip():
        return replace(piece, left=NOTHING_WRITTEN)
    if piece.continues:
        after = byte_size(BETWEEN_TEXTS + text)
    else:
        after = written_size(folded_into(piece, text, options, random.Random(0)), format)
    if after > piece.size and not options.allow_growth:
        return replace(piece, left=f"The summary would take {after:,} bytes in place of {piece.size:,}.")
    return replace(piece, after=after)


def folded_into(
    piece: Piece, text: str, options: SummarizeOptions, source: random.Random, used: Container[str] = ()
) -> tuple[Message, ...]:
    """Return the messages that replace the piece."""
    if piece.rule == "qa-human":
        return (human(text),)
    carried: Sequence[Message] = ()
    if piece.rule in ("pair", "rotation") and piece.type is PairType.SUMMARIZATION:
        carried = piece.read().messages
    return summary_pair(text, piece.type, NewIds(options.template, source, used), carried=carried).messages
