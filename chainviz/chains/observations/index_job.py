"""Find the results of a content: at once for a short chain, by a job for a long one, whose result is stored."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any

from chainviz.accounts.models import User
from chainviz.chains.explorer.subject import Subject
from chainviz.core.chain.chain import Chain
from chainviz.core.observations.index import GroupRow, MediumRow, NumberTable, ObservationIndex, ResultRow, Suspect, index_observations
from chainviz.core.observations.reader import Recognition, called_tools
from chainviz.core.progress import Progress, ignore_progress
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Snapshot

READING = "read-observations"
EDITION = 1
"""Increase this if the recognition or the form of the index changes, so that older indexes are not used any more."""
MESSAGES_AT_ONCE, BYTES_AT_ONCE = 1_000, 2_000_000
"""The most messages and bytes that are read while the person waits, which takes about 0.2 seconds of CPU time."""


def is_long(chain: StoredChain) -> bool:
    return len(chain) > MESSAGES_AT_ONCE or chain.snapshot.stored > BYTES_AT_ONCE


def read_index(chain: Chain, names: Sequence[str], progress: Progress = ignore_progress) -> ObservationIndex:
    """Read the index. `names` are tools that the chain does not call but has results of."""
    progress(0, "Reading calls")
    tools = called_tools(chain).union(names)
    return index_observations(chain, Recognition(tools), progress)


def read_by_job(context: JobContext, **args: Any) -> dict[str, Any]:
    """Read the results by a job with the arguments of `_args`."""
    snapshot = Snapshot.objects.get(pk=args["snapshot"])
    return _packed(read_index(StoredChain(snapshot), args["names"], context.report))


def reading_job(subject: Subject, names: Sequence[str], user: User) -> Job:
    """Return the person's last reading of this content, or begin one. It stores only facts of the chain."""
    jobs = Job.objects.visible_to(user).filter(function=READING, args=_args(subject, names))
    return jobs.order_by("-pk").first() or start_reading(subject, names, user)


def start_reading(subject: Subject, names: Sequence[str], user: User) -> Job:
    return start_job(READING, owner=user, **_args(subject, names))


def _args(subject: Subject, names: Sequence[str]) -> dict[str, Any]:
    snapshot = subject.snapshot
    return {
        "chain": subject.chain.pk,
        "snapshot": snapshot.pk,
        # a purge changes the edition of the history: what was read before is not used any more
        "history": snapshot.history.edition,
        "edition": EDITION,
        "names": sorted(names),
    }


def _packed(index: ObservationIndex) -> dict[str, Any]:
    return {
        "tools": index.tools,
        "conventions": index.conventions,
        "suspects": index.suspects,
        "results": b64encode(index.results.pack()).decode("ascii"),
        "groups": b64encode(index.groups.pack()).decode("ascii"),
        "media": b64encode(index.media.pack()).decode("ascii"),
    }


def index_of(job: Job) -> ObservationIndex:
    """Return the results that a finished job found."""
    found = job.result
    return ObservationIndex(
        found["tools"],
        found["conventions"],
        [Suspect(message, tuple(names)) for message, names in found["suspects"]],
        NumberTable.unpack(ResultRow, b64decode(found["results"])),
        NumberTable.unpack(GroupRow, b64decode(found["groups"])),
        NumberTable.unpack(MediumRow, b64decode(found["media"])),
    )
