"""Hits of a search in the chains of a page of the library: what stands around them, and where they are."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import urlencode

from django.urls import reverse

from chainviz.chains.library.search.search_text import Term
from chainviz.chains.models import Chain
from chainviz.chains.render.visible_text import marks
from chainviz.core.chain.messages import ROLE_NAMES, Message, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.store.content.message_reader import BodyReader, StoredMessage, pieces_of, read_rows
from chainviz.store.content.message_shapes import clean
from chainviz.store.content.pieces import Piece, Places
from chainviz.store.content.spans import stored_bytes
from chainviz.store.models import SearchState, Snapshot
from chainviz.store.outline.build import OutlineMissing, outline_of
from chainviz.store.outline.reader import OutlineReader, read_ahead
from chainviz.store.query.find import part_texts
from chainviz.store.search.excerpts import Excerpt, excerpt, pattern_of
from chainviz.store.search.lookup import Phrase, blocks_with

SHOWN = 3
READ = 2
"""Blocks of a chain that are read for hits, one after the other while there are fewer than are shown."""
COUNTED = 4
"""Phrases by which the blocks of a chain are chosen where none has all phrases."""
LONGEST = 1_000_000
"""A message of more bytes is not read for its hit."""


@dataclass(frozen=True, slots=True)
class HitView:
    path: str
    number: str
    """The node's place, as in 2.7."""
    role: str
    who: str
    """The role in words, or the tool."""
    url: str
    pieces: Excerpt
    """Empty where the message is too long to be read for a page."""


@dataclass
class ChainHits:
    shown: list[HitView] = field(default_factory=list)
    more: int = 0
    has_more: bool = False
    """There are others than those that were counted."""
    more_url: str = ""


Found = tuple[StoredMessage, int | None, Excerpt, str]


@dataclass(slots=True)
class Matched:
    """Blocks of a chain that hold a phrase, the ones with most phrases first."""

    chain: Chain
    snapshot: Snapshot
    places: Places
    pieces: list[Piece]
    read: int = 0
    """How many of them were read, and what was found there."""
    found: list[Found] = field(default_factory=list)
    outline: OutlineReader | None = None
    """None where nothing was found, or a job is rebuilding it."""

    @property
    def shown(self) -> list[Found]:
        return self.found[:SHOWN]

    def index_of(self, row: StoredMessage) -> int:
        return self.places.index(row.run, row.position)


def hits_of(chains: Sequence[Chain], terms: Collection[Term]) -> dict[int, ChainHits]:
    """By the key of the chain; those found by their titles only are left out."""
    phrases = [term.phrase for term in terms if term.is_indexed and not term.is_excluded]
    if not phrases or not chains:
        return {}
    matched = list(_matched(chains, phrases))
    pattern = pattern_of(phrases)
    for _ in range(READ):
        _read_next([each for each in matched if len(each.found) < SHOWN and each.read < len(each.pieces)], pattern)
    text = next(term.text for term in terms if term.is_indexed and not term.is_excluded)
    for each in matched:
        each.outline = _outline(each.snapshot) if each.found else None
    read_ahead((each.outline, each.index_of(row)) for each in matched if each.outline for row, *_ in each.shown)
    return {each.chain.pk: _hits(each, text) for each in matched}


def _outline(snapshot: Snapshot) -> OutlineReader | None:
    try:
        return OutlineReader.of(snapshot, outline_of(snapshot))
    except OutlineMissing:
        return None  # a job is rebuilding it; the chain itself says so


def _counted(histories: Collection[int], phrases: Sequence[Phrase]) -> dict[int, dict[Piece, int]]:
    """By chain: its blocks, each with how many of the phrases it has. Where more blocks than are read have all of them, the
    others are not looked for: of frequent words there are very many. Otherwise only the longest phrases are counted, which are
    usually the rarest ones."""
    counts: dict[int, dict[Piece, int]] = {}
    for history, piece in blocks_with(phrases, histories, READ):
        counts.setdefault(history, {})[piece] = len(phrases)
    few = [history for history in histories if len(counts.get(history, ())) <= READ]
    if few and len(phrases) > 1:
        counts |= {history: {} for history in few}
        for phrase in sorted(phrases, key=lambda each: -len("".join(each.words)))[:COUNTED]:
            for history, piece in blocks_with([phrase], few, READ):
                counts[history][piece] = counts[history].get(piece, 0) + 1
    return {history: found for history, found in counts.items() if found}


def _matched(chains: Sequence[Chain], phrases: Sequence[Phrase]) -> Iterator[Matched]:
    counts = _counted([chain.history for chain in chains], phrases)
    states = SearchState.objects.filter(history__in=list(counts)).select_related("snapshot__outline")
    snapshots = {state.history_id: state.snapshot for state in states}
    for chain in chains:
        if (snapshot := snapshots.get(chain.history)) is not None:
            places, found = Places(pieces_of(snapshot)), counts[chain.history]
            order = {piece: (-found[piece], places.index(piece.run, piece.start)) for piece in found}
            yield Matched(chain, snapshot, places, sorted((p for p in order if order[p][1] >= 0), key=order.__getitem__))


def _read_next(matched: Sequence[Matched], pattern: re.Pattern[str]) -> None:
    """Looks through the next block of each, all in one read."""
    pieces = [each.pieces[each.read] for each in matched]
    rows = list(read_rows(pieces))
    messages, each_row = _messages(rows), iter(rows)
    for each, piece in zip(matched, pieces, strict=True):
        for row in islice(each_row, piece.length):
            each.found += _in_message(row, messages.get((row.run, row.position)), pattern)
        each.read += 1


def _messages(rows: Sequence[StoredMessage]) -> dict[tuple[int, int], Message]:
    short = [row for row in rows if stored_bytes(row.source) <= LONGEST]
    read = BodyReader().messages(short)
    return {(row.run, row.position): message for row, message in zip(short, read, strict=True)}


def _hits(matched: Matched, text: str) -> ChainHits:
    base = reverse("chains:version", args=[matched.chain.pk, matched.chain.version])
    hits = ChainHits(more=max(0, len(matched.found) - SHOWN), has_more=len(matched.pieces) > matched.read)
    hits.more_url = f"{base}find?{urlencode({'q': text})}"
    for row, part, pieces, who in matched.shown if matched.outline else ():
        node = matched.outline.path_at(matched.index_of(row))  # type: ignore[union-attr]
        path = Path(node.section, node.pair, node.message, part)
        role = row.shape.role
        url = f"{base}at/{path}{_find(pieces)}"
        hits.shown.append(HitView(str(path), path.number, role, who or ROLE_NAMES.get(role, role), url, pieces))
    return hits


def _find(pieces: Excerpt) -> str:
    """The query by which the explorer goes to the first place of the words."""
    return next((f"?{urlencode({'find': words})}" for words, is_hit in pieces if is_hit), "")


def _in_message(row: StoredMessage, message: Message | None, pattern: re.Pattern[str]) -> Iterator[Found]:
    """The parts that hold a phrase; of a message that is too long to be read, the message."""
    if message is None:
        yield row, None, (), ""
        return
    for number, part in enumerate(message.parts):
        for text in part_texts(part):
            pieces = excerpt(text, pattern)
            if pieces:
                shown = tuple((marks(clean(words)), is_hit) for words, is_hit in pieces)
                yield row, number, shown, part.name if isinstance(part, ToolCall | ToolResult) else ""
                break
