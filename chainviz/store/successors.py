"""Map messages of one snapshot to their successors in another, from the steps between them (lineage.py)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.operations.compact import Compact
from chainviz.core.operations.summarize import SUMMARIZE
from chainviz.core.review import Successor
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.content.message_reader import StoredMessage, pieces_of
from chainviz.store.content.pieces import Piece, Places
from chainviz.store.lineage import Counterparts, changes_between, steps_between
from chainviz.store.models import Snapshot

FOLDING = {SUMMARIZE.name, Compact.name}
"""Operations that replace messages with summaries."""


class _Follower(NamedTuple):
    row: StoredMessage
    is_summary: bool = False


Followers = dict[Piece, list[_Follower]]
"""The messages that followed from each old message, by the old message's piece."""


def successors(old: Snapshot, new: Snapshot, messages: Iterable[StoredMessage]) -> dict[Piece, list[Successor]]:
    """Return the successors in `new` of each of these messages of `old`. No step is read for messages that stayed."""
    there = Places(pieces_of(new))
    followers = {row.piece: [_Follower(row)] for row in messages}
    changed = {piece: each for piece, each in followers.items() if there.index(*piece[:2]) < 0}
    if changed:
        followers |= _followed(old, new, changed)
    found = {}
    for piece, each in followers.items():
        known = [Successor(there.index(*one.row.piece[:2]), one.row.piece == piece, one.is_summary) for one in each]
        found[piece] = [one for one in known if one.index >= 0]
    return found


def _followed(old: Snapshot, new: Snapshot, followers: Followers) -> Followers:
    steps = steps_between(old, new)
    # neither snapshot follows from the other by steps: one is an earlier version, or a restored one
    for before, after in [(step.parent, step) for step in steps] or [(old, new)]:
        assert before is not None
        followers = _after(before, after, followers)
    return followers


def _after(before: Snapshot, after: Snapshot, followers: Followers) -> Followers:
    places = Places(pieces_of(after))
    if all(places.index(*each.row.piece[:2]) >= 0 for found in followers.values() for each in found):
        return followers
    change = _Change(before, after)

    def next_ones(each: _Follower) -> Sequence[_Follower]:
        return [each] if places.index(*each.row.piece[:2]) >= 0 else change.followers(each)

    return {piece: [one for each in found for one in next_ones(each)] for piece, found in followers.items()}


class _Change:
    """The replacements of messages by one step."""

    def __init__(self, before: Snapshot, after: Snapshot) -> None:
        self.counterparts = Counterparts(changes_between(before, after))
        self.is_folding = after.operation in FOLDING
        self.old, self.new = StoredChain(before), StoredChain(after)
        self.places = Places(pieces_of(before))
        rows = unpack(after.report) if after.operation == SUMMARIZE.name else ()
        self.folds = [row for row in rows if row.get("becomes")]

    def followers(self, each: _Follower) -> Sequence[_Follower]:
        summary = self._summary_of(each.row)
        if summary is not None:
            return [_Follower(summary, is_summary=True)]
        return [
            _Follower(row, each.is_summary or (self.is_folding and row.digest != each.row.digest)) for row in self.counterparts.of(each.row)
        ]

    def _summary_of(self, row: StoredMessage) -> StoredMessage | None:
        if not self.folds:
            return None
        path = self.old.outline.path_at(self.places.index(*row.piece[:2]))
        for fold in self.folds:
            becomes = parse_path(fold["becomes"])
            is_of_headers = becomes.pair == 0
            if (path.pair == 0) == is_of_headers and _is_between(path, fold["path"], fold.get("until") or fold["path"]):
                start = self.new.span(becomes).start
                return self.new.rows(start, start + 1)[0]
        return None


def _is_between(path: Path, first: str, last: str) -> bool:
    low, high = parse_path(first), parse_path(last)
    end = 1 << 60
    return (low.section, low.pair or 0) <= (path.section, path.pair or 0) <= (high.section, high.pair or end)
