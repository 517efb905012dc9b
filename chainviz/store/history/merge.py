"""Merge two snapshots with a common base. Changes of one side are taken; different changes of both sides are conflicts to decide.

A `MergeBase` is a snapshot in the form that core's merge needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

from chainviz.core import formats
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, Message
from chainviz.core.chain.paths import Path
from chainviz.core.diff.merge import three_way
from chainviz.core.diff.merge.items import CHOICES, SIDES, Choice, Entry, Keys, Merged, merge_items, merge_texts, settled
from chainviz.core.diff.merge.messages import Contents, Keyed, merge_messages
from chainviz.core.diff.merge.three_way import Change, Merge, Region
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.operations.edit import Edit
from chainviz.core.state.document import is_state, recorded_length, with_length
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import BodyReader, StoredMessage, pieces_of, read_rows
from chainviz.store.content.pieces import Piece, PieceSplice, Places, differences, join, splice, total
from chainviz.store.history.steps import differ_in_length_only
from chainviz.store.models import Snapshot
from chainviz.store.outline.reader import OutlineReader, RowBegins
from chainviz.store.transfer.document_context import context_of


@dataclass(frozen=True, slots=True)
class SurroundingsMerge:
    texts: tuple[Merged[str], ...]
    """The merge of each text around the messages; empty if the texts cannot be compared."""

    @property
    def has_conflicts(self) -> bool:
        return not self.texts or any(each.has_conflicts for each in self.texts)

    @property
    def choices(self) -> tuple[Choice, ...]:
        can_join = bool(self.texts) and all(each.both is not None for each in self.texts)
        return CHOICES if can_join else SIDES

    def context(self, parent: Snapshot, choice: Choice) -> DocumentContext | None:
        """Return the document of `parent` with the changes of both sides around its messages, and `choice` in conflicts; None if it
        does not change. Its processed_length stays."""
        merged = iter(self.texts)
        return context_of(parent).rewritten(lambda old: _same_length(parent, [old], next(merged).chosen(choice)))


def merge_surroundings(base: Snapshot, mine: Snapshot, theirs: Snapshot) -> SurroundingsMerge:
    """Merge the documents around the messages. Differences in processed_length are ignored."""
    like = context_of(theirs).texts()
    sides = [[_same_length(each, like, text) for text in context_of(each).texts()] for each in (base, mine)]
    if len({each.format for each in (base, mine, theirs)}) > 1 or any(len(side) != len(like) for side in sides):
        return SurroundingsMerge(())
    return SurroundingsMerge(tuple(map(merge_texts, *sides, like)))


def _same_length(state: Snapshot, like: list[str], text: str) -> str:
    """Return the text of a state document with the processed_length of `like`."""
    length = recorded_length(like) if is_state(formats.get_format(state.format)) else None
    return text if length is None else with_length(text, length)


Choices = Mapping[str, Choice]
"""The choice for each conflict, by the conflict's key."""


@dataclass(frozen=True, slots=True)
class Conflict:
    key: str
    """Identifies the conflict as long as neither side changes it."""
    side: three_way.Conflict[Piece] | SurroundingsMerge = field(repr=False)
    """The conflict to decide."""
    spans: tuple[tuple[int, int], ...] = ()
    """Ranges of messages in the base; an empty range is a gap. No ranges if the conflict is in the document around the messages."""
    path: Path | None = None
    """The path of its first row in the base, or of the row before a gap; None for the document around the messages."""

    def offers(self, choice: str | None) -> bool:
        return choice in SIDES or (choice is not None and choice in self.choices)

    @property
    def choices(self) -> tuple[Choice, ...]:
        return self.side.choices

    @property
    def is_joined(self) -> bool:
        """Whether the choice of both joins the changes in one node. Otherwise the node is kept twice, mine first."""
        return isinstance(self.side, SurroundingsMerge) or (self.side.resolution is not None and self.side.resolution.is_joined)

    @property
    def keeps_other_parts(self) -> bool:
        """Whether the choice of one side keeps the other side's changes elsewhere in the node."""
        return not isinstance(self.side, SurroundingsMerge) and self.side.keeps_other_parts


class SnapshotMerge:
    def __init__(self, base: Snapshot, mine: Snapshot, theirs: Snapshot) -> None:
        self.base, self.mine, self.theirs = base, mine, theirs

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        found = [self._described(each) for each in self._merge.conflicts]
        around = self.surroundings
        if around is not None and around.has_conflicts and not _same_around(self.mine, self.theirs):
            found.append(Conflict(_key([self.mine.template_id, self.theirs.template_id]), around))
        return tuple(found)

    @cached_property
    def settled(self) -> tuple[Conflict, ...]:
        """Rows in which the sides changed different parts: both changes are kept."""
        return tuple(self._described(each) for each in self._merge.shared if each.is_settled)

    def _described(self, conflict: three_way.Conflict[Piece]) -> Conflict:
        own = [self._merge.regions[place] for place in conflict.places]
        spans = tuple((region.start, region.stop) for region in own)
        first = next((span for span in spans if span[1] > span[0]), spans[0])
        return Conflict(_key(own), conflict, spans, None if self.is_whole else self._path(first))

    @property
    def merged(self) -> int:
        """The number of places that merge without a conflict."""
        return len(self._merge.regions) - sum(len(each.places) for each in self._merge.conflicts)

    def pieces(self, choices: Choices | None = None) -> list[Piece]:
        """Return the merged pieces. `choices` has one for each conflict; None keeps mine in every row that both changed. A piece of the run
        JOINED has no stored message yet; its start is an index in `joined`."""
        if choices is None:
            changes = self._merge.changes_of_mine()
        else:
            changes = self._merge.changes([choices[each.key] for each in self._of_messages])
        return splice(self._old, [PieceSplice(each.start, each.removed, each.items) for each in changes])

    @property
    def joined(self) -> Sequence[Message]:
        """The messages with the changes of both sides, as far as `pieces` needed them."""
        return self._base.joined_messages

    def choice_around(self, choices: Choices) -> Choice:
        """Return the choice for the document around the messages; mine if there is nothing to choose."""
        around = self.conflicts if self.is_whole else self.conflicts[len(self._of_messages) :]
        return next((choices[each.key] for each in around), "mine")

    @cached_property
    def is_whole(self) -> bool:
        """Whether a side was converted to another format, so that one document must be chosen as a whole."""
        is_converted = {self.mine.format, self.theirs.format} != {self.base.format}
        return is_converted and all(map(self._changes, (self.mine, self.theirs))) and self.mine.digest != self.theirs.digest

    @cached_property
    def surroundings(self) -> SurroundingsMerge | None:
        """The merged surroundings, or None if at most one side changed them or the document is chosen as a whole."""
        if self.is_whole or not all(map(self._changes_around, (self.mine, self.theirs))):
            return None
        return merge_surroundings(self.base, self.mine, self.theirs)

    @property
    def _of_messages(self) -> Sequence[Conflict]:
        return self.conflicts[: len(self._merge.conflicts)]

    @cached_property
    def _merge(self) -> Merge[Piece]:
        mine, theirs = (_changes(self._old, side) for side in (self.mine, self.theirs))
        if self.is_whole:
            whole = Region(0, total(self._old), tuple(mine), tuple(theirs))
            return Merge((whole,), (three_way.Conflict((0,)),))
        return three_way.merge(self._base, mine, theirs)

    @cached_property
    def _base(self) -> MergeBase:
        return MergeBase(self.base, self._outline)

    @cached_property
    def _outline(self) -> OutlineReader:
        return StoredChain(self.base).outline

    @cached_property
    def _old(self) -> tuple[Piece, ...]:
        return pieces_of(self.base)

    def _changes(self, side: Snapshot) -> bool:
        return side.digest != self.base.digest or self._changes_around(side)

    def _changes_around(self, side: Snapshot) -> bool:
        return side.template_id != self.base.template_id and not _same_around(self.base, side)

    def _path(self, span: tuple[int, int]) -> Path | None:
        start, stop = span
        place = start if stop > start else max(0, start - 1)
        return self._outline.path_at(place).node if self.base.messages else None


def _same_around(one: Snapshot, other: Snapshot) -> bool:
    return context_of(one).texts() == context_of(other).texts() or differ_in_length_only(one, other)


def _key(facts: Sequence[object]) -> str:
    return blake2b(repr(facts).encode(), digest_size=8).hexdigest()


def _changes(base: Sequence[Piece], side: Snapshot) -> list[Change[Piece]]:
    return [Change(each.start, each.removed, tuple(_single(each.pieces))) for each in differences(base, pieces_of(side))]


def _single(pieces: Sequence[Piece]) -> list[Piece]:
    return [Piece(run, start + i, 1) for run, start, length in pieces for i in range(length)]


JOINED = 0
"""The run of pieces that are not written yet: their starts are places in `MergeBase.joined_messages`."""


class MergeBase:
    """Its items are pieces of one message."""

    def __init__(self, snapshot: Snapshot, outline: OutlineReader) -> None:
        self._length = snapshot.messages
        self._format = snapshot.format
        self._begins = RowBegins(outline)
        self._places = Places(pieces_of(snapshot))
        self._held: dict[Piece, StoredMessage] = {}
        self._typed: dict[int, bool] = {}
        """By run: True if only edits wrote it."""
        self._bodies = BodyReader()
        self.joined_messages: list[Message] = []

    def __len__(self) -> int:
        return self._length

    def slice(self, start: int, stop: int) -> Sequence[Piece]:
        return self._places.at(range(start, stop))

    def span(self, place: int) -> tuple[int, int]:
        return self._begins.span(place)

    def continue_rows(self, items: Sequence[Piece]) -> Sequence[bool]:
        return [row.shape.role not in (SYSTEM, HUMAN, AI) for row in self._rows(items)]

    def keys(self, items: Sequence[Piece]) -> Sequence[bytes]:
        return [row.digest for row in self._rows(items)]

    def merged(self, stretch: Contents[Piece]) -> Merged[tuple[Piece, ...]] | None:
        """Messages of one row are merged one by one, as long as no call loses its result by that, or a result its call."""
        sides = stretch.base, stretch.mine, stretch.theirs
        if not stretch.base.items or not all(self.continue_rows(stretch.base.items[1:])):
            return None
        base, mine, theirs = (self._entries(each) for each in sides)
        found = merge_items(base, mine, theirs, self._joined)
        both = found.both if found.both is not None and self._holds(found.both, stretch) else None
        if both is not None and not found.has_conflicts:
            return found
        is_one_for_one = len({len(each.items) for each in sides}) == 1
        own, other = (
            made if is_one_for_one and self._holds(made, stretch) else side.items
            for made, side in ((found.mine, stretch.mine), (found.theirs, stretch.theirs))
        )
        return Merged(own, other, both, has_conflicts=True)

    def _entries(self, side: Keyed[Piece]) -> list[Entry[Piece]]:
        shapes = [row.shape for row in self._rows(side.items)]
        ids = [tuple(each.id for each in (*shape.calls, *shape.results)) for shape in shapes]
        return [
            Entry(piece, Keys(key, (shape.role, own) if own else key, shape.role))
            for piece, key, shape, own in zip(side.items, side.keys, shapes, ids, strict=True)
        ]

    def _joined(self, base: Piece, mine: Piece, theirs: Piece) -> Merged[tuple[Piece, ...]] | None:
        rows = self._rows([base, mine, theirs])
        may_repeat = self._has_calls(rows[1:]) and self._were_typed(rows[1:])
        was, own, other = self._bodies.messages(rows)
        found = merge_messages(was, own, other, formats.get_format(self._format), may_repeat=may_repeat)
        if found is None:
            return None
        if not found.has_conflicts:
            return settled((self._piece_of(found.mine),))
        both = None if found.both is None else (self._piece_of(found.both),)
        return Merged(
            (mine if found.mine is own else self._piece_of(found.mine),),
            (theirs if found.theirs is other else self._piece_of(found.theirs),),
            both,
            has_conflicts=True,
        )

    def _piece_of(self, message: Message) -> Piece:
        self.joined_messages.append(message)
        return Piece(JOINED, len(self.joined_messages) - 1, 1)

    def _holds(self, made: Sequence[Piece], stretch: Contents[Piece]) -> bool:
        """Return True if no call lacks its result, and no result its call, that had it on either side."""
        before = (self._unlinked(side.items) for side in (stretch.mine, stretch.theirs))
        return self._unlinked(made) <= set().union(*before)

    def _unlinked(self, pieces: Sequence[Piece]) -> set[str]:
        stored = iter(self._rows([piece for piece in pieces if piece.run != JOINED]))
        shapes = [self.joined_messages[piece.start] if piece.run == JOINED else next(stored).shape for piece in pieces]
        calls, results = ({each.id for shape in shapes for each in getattr(shape, name)} for name in ("calls", "results"))
        return calls ^ results

    def may_repeat(self, mine: Sequence[Piece], theirs: Sequence[Piece]) -> bool:
        """Return True if pieces may be repeated: they have no calls or results, and people wrote them."""
        rows = self._rows((*mine, *theirs))
        return not self._has_calls(rows) and self._were_typed(rows)

    def _were_typed(self, rows: Sequence[StoredMessage]) -> bool:
        """Return True if people wrote all the messages. Only these may be repeated: of two masked copies each could
        show the words that the other hides."""
        runs = {row.run for row in rows}
        if unknown := runs - self._typed.keys():
            made = set(Snapshot.objects.filter(run__in=unknown).exclude(operation=Edit.name).values_list("run", flat=True))
            self._typed |= {run: run not in made for run in unknown}
        return all(self._typed[run] for run in runs)

    def _has_calls(self, rows: Sequence[StoredMessage]) -> bool:
        return any(row.shape.calls or row.shape.results for row in rows)

    def _rows(self, items: Sequence[Piece]) -> list[StoredMessage]:
        missing = [piece for piece in dict.fromkeys(items) if piece not in self._held]
        self._held |= zip(missing, read_rows(join(missing)), strict=True)
        return [self._held[piece] for piece in items]
