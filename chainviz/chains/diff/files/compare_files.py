"""Compares the files of two snapshots, as they would be exported, line by line: long ones by a job, once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from chainviz.chains.diff.compare import from_job_result
from chainviz.chains.page_jobs import COMPARE_FILES, JobNeeded
from chainviz.core.diff.align import Equal
from chainviz.core.diff.files.document_lines import Mark
from chainviz.core.diff.files.documents import Document, DocumentDiff, compare_documents
from chainviz.jobs.tasks import JobContext
from chainviz.store.models import Snapshot
from chainviz.store.transfer.exports import export_utf8

MOST_COMPARED = 4 << 20
"""Bytes of the messages of both; files of more are compared by a job."""


def document_of(snapshot: Snapshot) -> Document:
    return lambda: export_utf8(snapshot)


def compare_files(old: Snapshot, new: Snapshot) -> DocumentDiff:
    """Raises JobNeeded on a page of long files that nobody has compared yet."""
    return _kept(old.pk, new.pk, bytes(old.digest), bytes(new.digest))


@lru_cache(maxsize=16)
def _kept(old_id: int, new_id: int, old_digest: bytes, new_digest: bytes) -> DocumentDiff:
    """Only places of lines are kept, no content. The digests are part of the key: a number may be used again."""
    old, new = (Snapshot.objects.get(pk=pk) for pk in (old_id, new_id))
    if old.stored + new.stored <= MOST_COMPARED:
        return compare_documents(document_of(old), document_of(new))
    digests = old_digest.hex() + new_digest.hex()
    needed = JobNeeded(COMPARE_FILES, new.history_id, before=old_id, after=new_id, digests=digests)
    packed = from_job_result(needed)
    return compare_documents(document_of(old), document_of(new)) if packed is None else _unpacked(packed)


def compare_files_by_job(context: JobContext, *, before: int, after: int, digests: str, chain: int | None) -> list[Any] | None:
    """`chain` says whose job this is. None where a purge took one of them meanwhile."""
    old, new = (Snapshot.objects.filter(pk=pk).first() for pk in (before, after))
    if old is None or new is None or (bytes(old.digest) + bytes(new.digest)).hex() != digests:
        return None
    found = compare_documents(document_of(old), document_of(new))
    return [found.equal, found.old_lines, found.new_lines, found.is_coarse, found.old_marks, found.new_marks]


def _unpacked(packed: list[Any]) -> DocumentDiff:
    equal, old_lines, new_lines, is_coarse, old_marks, new_marks = packed
    marks = (tuple(Mark(*each) for each in some) for some in (old_marks, new_marks))
    return DocumentDiff(tuple(Equal(*each) for each in equal), old_lines, new_lines, is_coarse, *marks)
