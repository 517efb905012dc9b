"""Checks threads and comments against their checksums, and that none is missing."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.review.models import Comment, Discussion, Thread
from chainviz.store.fsck.findings import Finding, guarded
from chainviz.store.fsck.rows import changed_rows


def fsck_review() -> Iterator[Finding]:
    yield from changed_rows((Discussion, Thread, Comment))
    yield from guarded("The threads", _without_discussion())


def _without_discussion() -> Iterator[Finding]:
    for key in Thread.objects.filter(chain__discussion=None).order_by("pk").values_list("pk", flat=True):
        yield Finding("error", f"Thread {key} belongs to no discussion of a chain.")
