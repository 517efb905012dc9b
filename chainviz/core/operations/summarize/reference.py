"""Summarize exactly as the reference does, for users who must match PentAGI. Each step requests texts and continues with them.

Unlike our own folding, the reference summarizes marked completions and new summaries again, accepts summaries that are larger
than the nodes they replace, and fails for the whole chain if one section fails.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from chainviz.core.chain.build import completion, human
from chainviz.core.chain.messages import HUMAN, SYSTEM, Message, byte_size
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import BodyPair, PairType, parse
from chainviz.core.errors import Refused
from chainviz.core.formats import get_format
from chainviz.core.operations.summarize.options import (
    Reason,
    SummarizeOptions,
    exceeds_qa_limits,
    large_pair,
    large_section,
    old_section,
    pairs_to_keep,
    sections_to_keep,
    too_many_sections,
)
from chainviz.core.operations.summarize.plan import (
    PREFIX,
    Material,
    NewIds,
    Piece,
    Rule,
    Texts,
    is_marked_as_reference,
    overhead,
    summary_pair,
    summary_type,
    target_bytes,
)
from chainviz.core.operations.summarize.writers.contract import Unchanged
from chainviz.core.reference import parsed_by_reference


@dataclass(frozen=True, slots=True)
class _Pair:
    pair: BodyPair[Message]
    first: Path
    last: Path
    """The first and the last pair that this one replaces, or its own path twice if it was never folded."""


@dataclass(frozen=True, slots=True)
class _Section:
    header: tuple[Message, ...]
    body: tuple[_Pair, ...]

    @property
    def humans(self) -> tuple[Message, ...]:
        return tuple(message for message in self.header if message.role == HUMAN)

    @property
    def header_size(self) -> int:
        return sum(message.size for message in self.header)

    @property
    def size(self) -> int:
        return self.header_size + sum(each.pair.size for each in self.body)


Steps = Generator[list[Piece], Texts, tuple[Message, ...]]
Asking = Generator[list[Piece], Texts, None]


def reference_steps(messages: Sequence[Message], options: SummarizeOptions, source: random.Random) -> Steps:
    """Yield the requests that are made at the same time, take the answers, and return the new chain. Raises Refused if
    the reference fails."""
    try:
        tree = parse(parsed_by_reference(messages, force=True))
    except Refused as refused:
        raise Refused(f"failed to create ChainAST: {refused}") from None
    sections = [
        _Section(section.header, tuple(_Pair(pair, Path(s, p), Path(s, p)) for p, pair in enumerate(section.body, 1)))
        for s, section in enumerate(tree.sections, 1)
    ]
    reference = _Reference(sections, options, source)
    yield from reference.fold_sections()
    if options.preserve_last:
        yield from reference.fold_last_sections()
    if options.use_qa:
        yield from reference.join_sections()
    return tuple(
        message
        for section in reference.sections
        for message in (*section.header, *(m for each in section.body for m in each.pair.messages))
    )


def replayed(
    messages: Sequence[Message], options: SummarizeOptions, source: random.Random, texts: Texts
) -> tuple[tuple[Piece, ...], tuple[Message, ...]]:
    """Return the pieces that the reference asks for, and its new chain; a missing text becomes a placeholder of the
    usual length."""
    steps = reference_steps(messages, options, source)
    pieces: list[Piece] = []
    answers: dict[str, str | Unchanged] = {}
    guessing = False
    try:
        asked = next(steps)
        while True:
            answers = {piece.key: texts.get(piece.key, "·" * (piece.target // 2)) for piece in asked}
            pieces += [replace(piece, provisional=guessing, **_written(piece, texts.get(piece.key))) for piece in asked]
            guessing = guessing or any(piece.key not in texts for piece in asked)
            asked = steps.send(answers)
    except StopIteration as done:
        return tuple(pieces), done.value


def _written(piece: Piece, text: str | Unchanged | None) -> dict[str, Any]:
    if text is None:
        return {}
    if isinstance(text, Unchanged):
        return {"left": text.reason}
    return {"after": piece.estimate - piece.target + byte_size(text)}


class _Reference:
    def __init__(self, sections: list[_Section], options: SummarizeOptions, source: random.Random) -> None:
        self.sections = sections
        self.options = options
        self.source = source

    def fold_sections(self) -> Asking:
        asks: dict[int, Piece] = {}
        keep = self.options.keep_qa_sections
        for i, section in enumerate(self.sections[: max(0, len(self.sections) - keep)]):
            if section.body and not _is_one_summary(section.body):
                age = len(self.sections) - i
                asks[i] = self._ask("section", section.humans, section.body, (old_section(keep), age, keep))
        answers = yield list(asks.values())
        failures = [
            f"section {i} summary generation failed: {_failure(answer)}"
            for i, ask in asks.items()
            if isinstance(answer := answers[ask.key], Unchanged)
        ]
        if failures:
            raise Refused("failed to summarize sections: failed to summarize sections: " + "\n".join(failures))
        for i, ask in asks.items():
            summary = self._summary(ask, answers, carried=())
            self.sections[i] = replace(self.sections[i], body=(summary,))

    def fold_last_sections(self) -> Asking:
        for i in range(len(self.sections) - 1, len(self.sections) - 1 - self.options.keep_qa_sections, -1):
            if i >= 0:
                yield from self._fold_large_pairs(i)
                yield from self._rotate(i)

    def _fold_large_pairs(self, i: int) -> Asking:
        section = self.sections[i]
        asks: dict[int, Piece] = {}
        for p, each in enumerate(section.body[:-1]):
            if each.pair.size > self.options.max_bp_bytes and not is_marked_as_reference(each.pair):
                size, limit = each.pair.size, self.options.max_bp_bytes
                asks[p] = self._ask("pair", section.humans, (each,), (large_pair(size, limit), size, limit))
        answers = yield list(asks.values())
        body = list(section.body)
        for p, ask in asks.items():
            # the reference ignores this failure: the pair may still be folded with its section
            if not isinstance(answers[ask.key], Unchanged):
                body[p] = self._summary(ask, answers, carried=body[p].pair.messages)
        self.sections[i] = replace(section, body=tuple(body))

    def _rotate(self, i: int) -> Asking:
        section = self.sections[i]
        limit = self.options.last_sec_bytes
        if section.size <= limit:
            return
        pairs = [each.pair for each in section.body]
        cut = pairs_to_fold(pairs, section.header_size, limit, self.options.reserve_percent)
        folded = section.body[:cut]
        if not folded:
            return
        reason = large_section(section.size, limit)
        ask = self._ask("rotation", section.humans, folded, (reason, section.size, limit))
        answers = yield [ask]
        answer = answers[ask.key]
        if isinstance(answer, Unchanged):
            failed = f"last section summary generation failed: {_failure(answer)}"
            raise Refused(f"failed to summarize last section {i}: {failed}")
        carried = tuple(message for each in folded for message in each.pair.messages)
        self.sections[i] = replace(section, body=(self._summary(ask, answers, carried=carried), *section.body[cut:]))

    def join_sections(self) -> Asking:
        options = self.options
        sizes = [section.size for section in self.sections]
        if not exceeds_qa_limits(sizes, options.max_qa_sections, options.max_qa_bytes):
            return
        kept = sections_to_keep(sizes, options.max_qa_sections, options.max_qa_bytes, options.keep_qa_sections)
        old = self.sections[: len(sizes) - kept]
        if not old or (len(old) == 1 and _is_one_summary(old[0].body)):
            return
        humans = tuple(message for section in old for message in section.humans)
        pairs = tuple(each for section in old for each in section.body)
        if not humans and not pairs:
            return
        header = yield from self._joined_humans(old, humans, sizes)
        summary = yield from self._joined_pairs(old, humans, pairs, sizes)
        system = tuple(message for message in self.sections[0].header if message.role == SYSTEM)
        self.sections = [
            _Section((*system, *header), (summary,)),
            *(replace(section, header=section.humans) for section in self.sections[len(old) :]),
        ]

    def _joined_humans(
        self, old: Sequence[_Section], humans: tuple[Message, ...], sizes: Sequence[int]
    ) -> Generator[list[Piece], Texts, tuple[Message, ...]]:
        if not humans:
            return ()
        if not self.options.summ_human_in_qa:
            parts = tuple(replace(part, origin=-1) for message in humans for part in message.parts)
            return (Message(HUMAN, parts),)
        ask = self._ask_for_sections("qa-human", old, humans, (), sizes)
        text = (yield [ask])[ask.key]
        if isinstance(text, Unchanged):
            raise Refused(f"failed to summarize QA pairs: QA (human) summary generation failed: {_failure(text)}")
        return (human(text),)

    def _joined_pairs(
        self, old: Sequence[_Section], humans: tuple[Message, ...], pairs: tuple[_Pair, ...], sizes: Sequence[int]
    ) -> Generator[list[Piece], Texts, _Pair]:
        if not pairs:
            return _Pair(completion(PREFIX), Path(1), Path(len(old)))
        ask = self._ask_for_sections("qa", old, humans, pairs, sizes)
        answers = yield [ask]
        answer = answers[ask.key]
        if isinstance(answer, Unchanged):
            raise Refused(f"failed to summarize QA pairs: QA (ai) summary generation failed: {_failure(answer)}")
        return self._summary(ask, answers, carried=())

    def _ask(self, rule: Rule, humans: tuple[Message, ...], folded: Sequence[_Pair], why: Reason) -> Piece:
        return self._piece(rule, (folded[0].first, folded[-1].last), humans, folded, why)

    def _ask_for_sections(
        self, rule: Rule, old: Sequence[_Section], humans: tuple[Message, ...], pairs: Sequence[_Pair], sizes: Sequence[int]
    ) -> Piece:
        why = too_many_sections(sizes, self.options)
        return self._piece(rule, (Path(1), Path(len(old))), humans, pairs, why)

    def _piece(self, rule: Rule, ends: tuple[Path, Path], humans: tuple[Message, ...], pairs: Sequence[_Pair], why: Reason) -> Piece:
        type = summary_type(each.pair.type for each in pairs)
        size = sum(each.pair.size for each in pairs) or sum(message.size for message in humans)
        target = target_bytes(size)
        estimate = target if rule == "qa-human" else target + overhead(type, self.options.template, get_format("neutral"))
        first, last = ends
        return Piece(rule, first, last, *why, size, type, target, estimate, partial(_material, humans, pairs))

    def _summary(self, ask: Piece, answers: Texts, *, carried: Sequence[Message]) -> _Pair:
        text = answers[ask.key]
        assert isinstance(text, str)
        ids = NewIds(self.options.template, self.source)
        pair = summary_pair(text, ask.type, ids, carried=carried, shortened=False)
        return _Pair(pair, ask.first, ask.last)


def _material(humans: tuple[Message, ...], pairs: Sequence[_Pair]) -> Material:
    messages, places = [], []
    for each in pairs:
        fresh = each.first.pair is None or each.first != each.last
        for m, message in enumerate(each.pair.messages):
            messages.append(message)
            places.append(each.first if fresh else replace(each.first, message=m))
    return Material(humans, tuple(messages), tuple(places))


def pairs_to_fold(pairs: Sequence[BodyPair[Message]], header: int, limit: int, reserve_percent: int) -> int:
    """Return the number of first pairs to fold in a section that is too large; a single summary stays."""
    count = len(pairs) - pairs_to_keep([pair.size for pair in pairs], header, limit, reserve_percent)
    return 0 if count == 1 and pairs[0].type is PairType.SUMMARIZATION else count


def _is_one_summary(body: Sequence[_Pair]) -> bool:
    return len(body) == 1 and is_marked_as_reference(body[0].pair)


def _failure(answer: Unchanged) -> str:
    return f"summarization failed: {answer.reason}"
