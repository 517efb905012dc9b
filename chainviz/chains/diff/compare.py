"""Compares two snapshots of a chain through their outlines: stretches that lie in the same place of the store are equal
without looking, and bodies are read only where something changed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache

from chainviz.chains.diff.equal_stretches import equal_stretches
from chainviz.chains.diff.stored_rows import StoredRows
from chainviz.core.chain.chain import Chain
from chainviz.core.diff.chains import ChainDiff, Group, Keys, diff_chains
from chainviz.core.diff.rows import Measure
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import StoredMessage, pieces_of
from chainviz.store.models import Snapshot

SCATTERED = 100
"""From so many common stretches on, messages are read ahead …"""
AHEAD = 500
"""… so many at a time."""
WINDOWS_KEPT = 4


class ReadAhead(StoredChain):
    """A chain whose messages are read one by one, in order, all over it: rows are read some hundreds at a time."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__(snapshot)
        self._windows: dict[int, Sequence[StoredMessage]] = {}

    def rows(self, start: int, stop: int) -> Sequence[StoredMessage]:
        start, stop = max(0, start), min(stop, len(self))
        if stop - start > AHEAD:
            return super().rows(start, stop)
        found: list[StoredMessage] = []
        for number in range(start // AHEAD, -(-stop // AHEAD)):
            first = number * AHEAD
            found += self._window(number)[max(0, start - first) : stop - first]
        return found

    def _window(self, number: int) -> Sequence[StoredMessage]:
        if number not in self._windows:
            if len(self._windows) >= WINDOWS_KEPT:
                del self._windows[next(iter(self._windows))]
            self._windows[number] = super().rows(number * AHEAD, (number + 1) * AHEAD)
        return self._windows[number]


def _digests(chain: Chain, start: int, stop: int) -> Sequence[Hashable]:
    assert isinstance(chain, StoredChain)
    return [message.digest for message in chain.rows(start, stop)]


@lru_cache(maxsize=64)
def _groups(
    old_id: int, new_id: int, old_digest: bytes, new_digest: bytes
) -> tuple[tuple[Group, ...], Measure, Measure, tuple[str, ...]]:
    """Only places and sizes are kept, no content. The digests are part of the key: a number may be used again."""
    old, new = (Snapshot.objects.get(pk=pk) for pk in (old_id, new_id))
    # between two formats the same message is spelled differently, so there its content is compared
    keys: Keys | None = _digests if old.format == new.format else None
    stretches = equal_stretches(pieces_of(old), pieces_of(new))
    chain_of = ReadAhead if len(stretches) >= SCATTERED else StoredChain
    diff = diff_chains(
        chain_of(old),
        chain_of(new),
        stretches,
        rows=lambda chain: StoredRows(chain),  # type: ignore[arg-type]
        keys=keys,
    )
    return diff.groups, diff.before, diff.after, diff.notes


def compare(old: StoredChain, new: StoredChain) -> ChainDiff:
    a, b = old.snapshot, new.snapshot
    groups, before, after, notes = _groups(a.pk, b.pk, bytes(a.digest), bytes(b.digest))
    return ChainDiff(groups, before, after, notes, _old=old, _new=new)
