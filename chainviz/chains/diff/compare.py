"""Compares two snapshots of a chain through their outlines: stretches that lie in the same place of the store are equal
without looking, and bodies are read only where something changed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any

from chainviz.chains.diff.equal_stretches import equal_stretches
from chainviz.chains.diff.packed import LAYOUT, Groups, groups_in, pack_groups, unpack_groups
from chainviz.chains.diff.stored_rows import StoredRows
from chainviz.chains.page_jobs import COMPARE, JobNeeded
from chainviz.core.chain.chain import Chain
from chainviz.core.diff.chains import ChainDiff, Keys, diff_chains
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import StoredMessage, pieces_of
from chainviz.store.models import Snapshot
from chainviz.store.quick_only import must_be_quick

SCATTERED = 100
"""From so many common stretches on, messages are read ahead …"""
AHEAD = 500
"""… so many at a time."""
WINDOWS_KEPT = 4
MOST_STRETCHES = 500
MOST_COMPARED = 4_000
"""Messages outside of equal stretches; more of either are compared by a job."""


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


def compare(old: StoredChain, new: StoredChain) -> ChainDiff:
    """Raises JobNeeded on a page that nobody has compared these for yet, where that takes long."""
    a, b = old.snapshot, new.snapshot
    return ChainDiff(*_kept(a.pk, b.pk, bytes(a.digest), bytes(b.digest)), _old=old, _new=new)


@lru_cache(maxsize=64)
def _kept(old_id: int, new_id: int, old_digest: bytes, new_digest: bytes) -> Groups:
    """Only places and sizes are kept, no content. The digests are part of the key: a number may be used again."""
    old, new = (Snapshot.objects.get(pk=pk) for pk in (old_id, new_id))
    stretches = equal_stretches(pieces_of(old), pieces_of(new))
    if not _takes_long(old, new, stretches):
        return _groups(old, new, stretches)
    digests = old_digest.hex() + new_digest.hex()
    needed = JobNeeded(COMPARE, new.history_id, before=old_id, after=new_id, digests=digests, layout=LAYOUT)
    return from_job(needed) or _groups(old, new, stretches)


def from_job(needed: JobNeeded) -> Groups | None:
    packed = from_job_result(needed)
    return None if packed is None else unpack_groups(packed)


def from_job_result(needed: JobNeeded) -> Any:
    """Returns what the job found; where none did it yet, None, or on a page JobNeeded is raised."""
    done = needed.jobs.filter(state=Job.State.DONE).order_by("-pk").first()
    if done is not None and done.result is not None:
        return done.result
    if must_be_quick():
        raise needed
    return None


def _takes_long(old: Snapshot, new: Snapshot, stretches: Sequence[tuple[int, int, int]]) -> bool:
    others = old.messages + new.messages - 2 * sum(length for _, _, length in stretches)
    return len(stretches) > MOST_STRETCHES or others > MOST_COMPARED


def _groups(old: Snapshot, new: Snapshot, stretches: Sequence[tuple[int, int, int]]) -> Groups:
    # between two formats the same message is spelled differently, so there its content is compared
    keys: Keys | None = _digests if old.format == new.format else None
    chain_of = ReadAhead if len(stretches) >= SCATTERED else StoredChain
    diff = diff_chains(
        chain_of(old),
        chain_of(new),
        stretches,
        rows=lambda chain: StoredRows(chain),  # type: ignore[arg-type]
        keys=keys,
    )
    return groups_in(diff)


def compare_by_job(context: JobContext, *, before: int, after: int, digests: str, **key: Any) -> list[Any] | None:
    """`key`: whose job this is and how its result is packed. None where a purge took the versions meanwhile."""
    found = [Snapshot.objects.filter(pk=pk).first() for pk in (before, after)]
    old, new = found
    if old is None or new is None or (bytes(old.digest) + bytes(new.digest)).hex() != digests:
        return None
    return pack_groups(_groups(old, new, equal_stretches(pieces_of(old), pieces_of(new))))
