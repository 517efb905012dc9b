"""Plan which neighbouring nodes are each replaced by one summary. Follows the reference's rules, but not its faults.

Nothing is summarized twice in a run: joined sections and rotated large pairs are read from their originals. The size of a
text that is not written yet is estimated. The plan is made again with each new text, so that the thresholds apply to real
sizes. Reads only shapes, and the bodies of pieces that have a text.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby, pairwise
from types import MappingProxyType

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import HUMAN, Shape
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import BodyPair, PairType, Section
from chainviz.core.formats import get_format
from chainviz.core.operations.summarize import options as reasons
from chainviz.core.operations.summarize.options import Reason, SummarizeOptions, exceeds_qa_limits, pairs_to_keep, sections_to_keep
from chainviz.core.operations.summarize.plan import (
    BETWEEN_TEXTS,
    Piece,
    Plan,
    Reader,
    Rule,
    Texts,
    UnchangedNodes,
    is_summary,
    joined,
    overhead,
    settled,
    summary_type,
    target_bytes,
)
from chainviz.core.operations.summarize.reference import replayed
from chainviz.core.operations.summarize.writers.contract import Unchanged

Shapes = Section[Shape]

MOST_IN_A_PROMPT, WORTH_A_PROMPT = 200_000, 20_000
"""The most bytes of joined sections in one prompt, and the fewest that get a separate prompt."""


WORTH_FOLDING = 10
"""The fewest bytes of text that make a summary worthwhile."""


def plan_folding(chain: Chain, options: SummarizeOptions, texts: Texts) -> Plan:
    folding = _Folding(chain, options, texts)
    if options.only_tools:
        folding.fold_tool_exchanges()
        return folding.plan()
    folding.fold_old_sections()
    folding.fold_last_sections()
    if options.use_qa:
        folding.join_old_sections()
    return folding.plan()


class _Folding:
    def __init__(self, chain: Chain, options: SummarizeOptions, texts: Texts) -> None:
        self.chain, self.options, self.texts = chain, options, texts
        self.format = get_format(chain.format)
        self.sections: Sequence[Shapes] = chain.tree.sections
        self.reader = Reader(chain)
        self.sizes = [section.size for section in self.sections]
        """The sizes of the sections after folding."""
        self.pieces: list[list[Piece]] = [[] for _ in self.sections]
        self.kept: list[list[UnchangedNodes]] = [[] for _ in self.sections]
        self.joined: list[Piece] = []
        self.first_last = max(0, len(self.sections) - options.keep_qa_sections)
        """Index of the first active section."""

    @cached_property
    def overheads(self) -> dict[PairType, int]:
        types = (PairType.COMPLETION, PairType.SUMMARIZATION)
        return {type: overhead(type, self.options.template, self.format) for type in types}

    def fold_old_sections(self) -> None:
        keep = self.options.keep_qa_sections
        for i in range(self.first_last):
            section = self.sections[i]
            why = self._why_kept(section.body)
            if why:
                self.kept[i].append(UnchangedNodes(Path(i + 1), Path(i + 1), why))
                continue
            first, last = Path(i + 1, 1), Path(i + 1, len(section.body))
            piece = self._piece("section", first, last, (reasons.old_section(keep), len(self.sections) - i, keep))
            self._take(i, piece)

    def _why_kept(self, body: Sequence[BodyPair[Shape]]) -> str:
        if not body:
            return reasons.NO_BODY
        if len(body) == 1 and is_summary(body[0]):
            return reasons.ONE_SUMMARY
        return "" if self._can_shrink(body) else reasons.TOO_SMALL

    def _can_shrink(self, pairs: Sequence[BodyPair[Shape]]) -> bool:
        type = summary_type(pair.type for pair in pairs)
        return self.options.allow_growth or sum([pair.size for pair in pairs]) >= self.overheads[type] + WORTH_FOLDING

    def fold_tool_exchanges(self) -> None:
        """Fold each run of pairs with calls; the last pair of the chain stays."""
        for i, section in enumerate(self.sections):
            is_last = i == len(self.sections) - 1
            body = section.body[: len(section.body) - is_last]
            start = 0
            for has_calls, run in groupby(body, lambda pair: pair.type is PairType.REQUEST_RESPONSE):
                pairs = list(run)
                first, last = Path(i + 1, start + 1), Path(i + 1, start + len(pairs))
                start += len(pairs)
                why = self._why_kept(pairs) if has_calls else reasons.NO_TOOLS
                if why:
                    self.kept[i].append(UnchangedNodes(first, last, why))
                else:
                    self._take(i, self._piece("pair", first, last, reasons.tool_exchanges(len(pairs))))
            if is_last and section.body:
                path = Path(i + 1, len(section.body))
                self.kept[i].append(UnchangedNodes(path, path, reasons.LAST_PAIR, protected=True))

    def fold_last_sections(self) -> None:
        for i in range(self.first_last, len(self.sections)):
            if not self.sections[i].body:
                self.kept[i].append(UnchangedNodes(Path(i + 1), Path(i + 1), reasons.NO_BODY, protected=True))
            elif not self.options.preserve_last:
                self.kept[i].append(UnchangedNodes(Path(i + 1), Path(i + 1), reasons.AS_IT_IS))
            else:
                self._fold_last_section(i)

    def _fold_last_section(self, i: int) -> None:
        section, options = self.sections[i], self.options
        large = self._large_pairs(i)
        sizes = [large[p].expected if p in large else pair.size for p, pair in enumerate(section.body)]
        size = section.header_size + sum(sizes)
        cut = 0
        if size > options.last_sec_bytes:
            kept = pairs_to_keep(sizes, section.header_size, options.last_sec_bytes, options.reserve_percent)
            cut = len(sizes) - kept
        rotated = section.body[:cut]
        if self._why_kept(rotated):
            cut = 0
        if cut:
            why = reasons.large_section(size, options.last_sec_bytes), size, options.last_sec_bytes
            piece = self._piece("rotation", Path(i + 1, 1), Path(i + 1, cut), why)
            unwritten = any(p >= cut and large[p].key not in self.texts for p in large)
            self._take(i, replace(piece, provisional=unwritten))
            if self._gives_way(piece):
                cut = 0
        for p, piece in large.items():
            if p >= cut:
                self._take(i, piece)
        self._keep_pairs(i, cut, large, rotation=size > options.last_sec_bytes)

    def _large_pairs(self, i: int) -> dict[int, Piece]:
        limit = self.options.max_bp_bytes
        found = {}
        for p, pair in enumerate(self.sections[i].body[:-1]):
            if pair.size > limit and not self._why_kept((pair,)):
                path = Path(i + 1, p + 1)
                found[p] = self._piece("pair", path, path, (reasons.large_pair(pair.size, limit), pair.size, limit))
        return found

    def _keep_pairs(self, i: int, cut: int, large: dict[int, Piece], *, rotation: bool) -> None:
        why = reasons.fits(self.options) if rotation else reasons.SMALL_ENOUGH
        last = len(self.sections[i].body)
        self.kept[i] += [UnchangedNodes(path, path, why) for p in range(cut, last - 1) if p not in large and (path := Path(i + 1, p + 1))]
        self.kept[i].append(UnchangedNodes(Path(i + 1, last), Path(i + 1, last), reasons.LAST_PAIR, protected=True))

    def join_old_sections(self) -> None:
        options, limits = self.options, (self.options.max_qa_sections, self.options.max_qa_bytes)
        if not exceeds_qa_limits(self.sizes, *limits):
            return
        count = len(self.sizes) - sections_to_keep(self.sizes, *limits, options.keep_qa_sections)
        pairs = [pair for section in self.sections[:count] for pair in section.body]
        if count < 2 or not self._can_shrink(pairs):
            return
        why = reasons.too_many_sections(self.sizes, options)
        parts = self._parts(count, summary_type(pair.type for pair in pairs), why)
        self.joined = [part for part in parts if self._gives_way(part)]
        if self.joined:
            return
        self.pieces[:count] = [[] for _ in range(count)]
        self.kept[:count] = [[] for _ in range(count)]
        if any(part.left for part in parts):
            self.joined = [replace(part, left=part.left or reasons.ONLY_TOGETHER) for part in parts]
            self.sizes[:count] = [section.size for section in self.sections[:count]]
            return
        questions = self._questions(count, why)
        self.joined = parts if questions is None else [*parts, questions]
        if any(piece.key not in self.texts for pieces in self.pieces[count:] for piece in pieces):
            self.joined = [replace(piece, provisional=True) for piece in self.joined]
        header = sum(section.header_size for section in self.sections[:count])
        saved = questions.size - questions.expected if questions is not None else 0
        self.sizes[:count] = [header - saved + sum(part.expected for part in parts)]

    def _parts(self, count: int, type: PairType, why: Reason) -> list[Piece]:
        """Split the first sections into as few pieces as the prompt length allows; their texts form one summary."""
        bodies = [section.size - section.header_size for section in self.sections[:count]]
        cuts, filled = [0], 0
        for i, size in enumerate(bodies):
            if filled and filled + size > MOST_IN_A_PROMPT and sum(bodies[i:]) > WORTH_A_PROMPT:
                cuts.append(i)
                filled = 0
            filled += size
        parts = []
        for first, end in pairwise([*cuts, count]):
            extra = len(BETWEEN_TEXTS) if first else self.overheads[type]
            size = sum(bodies[first:end])
            target = min(_target(size, extra), max(200, target_bytes(sum(bodies)) // len(cuts)))
            start, last = Path(first + 1), Path(end)
            read = partial(self.reader.pairs, start, last)
            piece = Piece("qa", start, last, *why, size, type, target, target + extra, read, continues=first > 0)
            parts.append(settled(piece, self.options, self.texts, self.format))
        return parts

    def _questions(self, count: int, why: Reason) -> Piece | None:
        """Return the piece that folds the person's messages in joined sections, if that is wanted and there are any."""
        humans = [m for section in self.sections[:count] for m in section.header if m.role == HUMAN]
        if not self.options.summ_human_in_qa or len(humans) < 2 or not sum(message.size for message in humans):
            return None
        size = sum(message.size for message in humans)
        first, last = Path(1), Path(count)
        target = target_bytes(size)
        read = partial(self.reader.questions, first, last)
        piece = Piece("qa-human", first, last, *why, size, PairType.COMPLETION, target, target, read)
        return settled(piece, self.options, self.texts, self.format)

    def _gives_way(self, piece: Piece) -> bool:
        """Return True if smaller pieces replace this one, because its text was not written. A text that is too large does not count.

        Otherwise the next run would request the piece again, with its nodes changed, and might get a text that is small enough.
        """
        return isinstance(self.texts.get(piece.key), Unchanged)

    def _take(self, i: int, piece: Piece) -> None:
        self.pieces[i].append(piece)
        self.sizes[i] += piece.expected - piece.size

    def _piece(self, rule: Rule, first: Path, last: Path, why: Reason) -> Piece:
        """Return a piece of neighbouring pairs of one section."""
        assert first.pair is not None and last.pair is not None
        pairs = self.sections[first.section - 1].body[first.pair - 1 : last.pair]
        type = summary_type(pair.type for pair in pairs)
        size, extra = sum([pair.size for pair in pairs]), self.overheads[type]
        target = _target(size, extra)
        read = partial(self.reader.pairs, first, last)
        return settled(Piece(rule, first, last, *why, size, type, target, target + extra, read), self.options, self.texts, self.format)

    def plan(self) -> Plan:
        pieces = [*self.joined, *(piece for found in self.pieces for piece in sorted(found, key=lambda each: each.first))]
        kept = joined([each for found in self.kept for each in found])
        return Plan(self.chain, self.options, tuple(pieces), kept, self.chain.tree.size, sum(self.sizes))


def _target(size: int, overhead: int) -> int:
    """Return the target size of a text that replaces `size` bytes: at most half of a small size, so that the summary saves space."""
    return max(1, min(target_bytes(size), (size - overhead) // 2))


NO_TEXTS: Mapping[str, str | Unchanged] = MappingProxyType({})


def plan(chain: Chain, options: SummarizeOptions, texts: Texts = NO_TEXTS) -> Plan:
    """Plan a summary, without calling a model. With the preset `pentagi`, raises Refused if the reference would refuse the chain
    or fail because a piece has no text."""
    if options.preset == "pentagi" and len(chain):
        return _plan_as_reference(chain, options, texts)
    return plan_folding(chain, options, texts)


def _plan_as_reference(chain: Chain, options: SummarizeOptions, texts: Texts) -> Plan:
    messages = chain.slice(0, len(chain))
    pieces, after = replayed(messages, options, random.Random(0), texts)
    size = sum(message.size for message in messages)
    return Plan(chain, options, pieces, (), size, sum(message.size for message in after))
