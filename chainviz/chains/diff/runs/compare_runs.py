"""Compares two chains that share nothing in the store, such as two runs of one task. All of both is read: for long chains
by a job, once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from chainviz.chains.diff.compare import MOST_COMPARED, ReadAhead, from_job
from chainviz.chains.diff.packed import LAYOUT, Groups, groups_in, pack_groups
from chainviz.chains.diff.stored_rows import StoredRows
from chainviz.chains.page_jobs import COMPARE_RUNS, JobNeeded
from chainviz.core.diff.chains import ChainDiff, diff_chains
from chainviz.core.diff.runs.align_runs import are_runs, diff_runs
from chainviz.jobs.tasks import JobContext
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Snapshot


def compare_runs(one: StoredChain, other: StoredChain) -> ChainDiff:
    """Raises JobNeeded on a page of long chains that nobody has compared yet."""
    a, b = one.snapshot, other.snapshot
    return ChainDiff(*_kept(a.pk, b.pk, bytes(a.digest), bytes(b.digest)), _old=one, _new=other)


@lru_cache(maxsize=16)
def _kept(one_id: int, other_id: int, one_digest: bytes, other_digest: bytes) -> Groups:
    """The digests are part of the key: a number may be used again."""
    one, other = (Snapshot.objects.get(pk=pk) for pk in (one_id, other_id))
    if one.messages + other.messages <= MOST_COMPARED:
        return _groups(one, other)
    digests = one_digest.hex() + other_digest.hex()
    needed = JobNeeded(COMPARE_RUNS, other.history_id, before=one_id, after=other_id, digests=digests, layout=LAYOUT)
    return from_job(needed) or _groups(one, other)


def _groups(one: Snapshot, other: Snapshot) -> Groups:
    a, b = ReadAhead(one), ReadAhead(other)
    compared = diff_runs if are_runs(a, b) else diff_chains
    diff = compared(a, b, rows=lambda chain: StoredRows(chain))  # type: ignore[arg-type]
    return groups_in(diff)


def compare_runs_by_job(context: JobContext, *, before: int, after: int, digests: str, **key: Any) -> list[Any] | None:
    """`key`: whose job this is and how its result is packed. None where a purge took one of them meanwhile."""
    one, other = (Snapshot.objects.filter(pk=pk).first() for pk in (before, after))
    if one is None or other is None or (bytes(one.digest) + bytes(other.digest)).hex() != digests:
        return None
    return pack_groups(_groups(one, other))
