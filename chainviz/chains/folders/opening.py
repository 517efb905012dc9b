"""A file of a folder into the library, and its chains again when it has grown: at once where that is quick, else by a job."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.utils import timezone

from chainviz.accounts.models import Membership
from chainviz.chains.folders.following import may_read
from chainviz.chains.models import Arrival, Chain, LocalFile
from chainviz.chains.uploads import arrivals
from chainviz.chains.uploads.local_files import chains_from, note_failure, state_of, take_file
from chainviz.core.documents.compressed import holds_more
from chainviz.core.errors import DocumentError
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job

JOB = "read-local-file"
PAUSE = timedelta(seconds=4)
"""Between two readings of a file that grows …"""
REST = 20
"""… or so many times as long as the last one took."""
AT_ONCE = 1.0
"""Seconds that one request reads files that have grown."""

@dataclass(frozen=True, slots=True)
class Opened:
    chains: tuple[Chain, ...] = ()
    arrival: Arrival | None = None
    """A large file that is imported by a job."""
    is_reading: bool = False
    """A large file of which a job reads what is new."""
    fresh: int = 0


def open_file(member: Membership, path: Path) -> Opened:
    """Raises DocumentError, naming the file."""
    known = chains_from(member, path)
    if known and not has_changed(known[0].local_file, path):
        return Opened(tuple(known))
    if not _is_big(path):
        taken = take_file(member, path)
        return Opened(taken.chains, fresh=taken.fresh)
    if known:
        read_by_job(member, known[0])
        return Opened(tuple(known), is_reading=True)
    arrival = arrivals.receive_local(member, path)
    return Opened(arrival=arrival)


def has_changed(file: LocalFile, path: Path) -> bool:
    """Since it was read."""
    try:
        return state_of(path) != (file.size, file.modified)
    except OSError:
        return False


def read_grown(member: Membership, chains: Iterable[Chain]) -> int:
    """Reads the files of chains that have grown, as far as one request may; the others are read by the next one. Returns
    how many it read."""
    until, count = time.monotonic() + AT_ONCE, 0
    for chain in chains:
        path = Path(chain.local_file.path)
        if time.monotonic() > until:
            break
        if not is_due(chain.local_file) or not has_changed(chain.local_file, path) or not may_read(chain.local_file):
            continue
        count += 1
        if _is_big(path):
            read_by_job(member, chain)
        else:
            read(member, path)
    return count


def is_due(file: LocalFile) -> bool:
    """A file that takes long to read is read less often. One with messages that an edited chain lacks waits for its person."""
    pause = max(PAUSE, timedelta(seconds=REST * file.took))
    return not file.is_behind and (file.read_at is None or timezone.now() - file.read_at > pause)


def read(member: Membership, path: Path) -> None:
    """A file that cannot be read is left alone until it changes again."""
    try:
        take_file(member, path)
    except DocumentError as error:
        note_failure(path, str(error))


def read_by_job(member: Membership, chain: Chain) -> None:
    """Unless a job does so already."""
    if not Job.objects.unfinished().filter(function=JOB).about(chain).exists():
        start_job(JOB, owner=member.user, chain=chain.pk, team=member.team_id)


def read_job(context: JobContext, chain: int, team: int) -> None:
    file = LocalFile.objects.filter(chain=chain).first()
    member = Membership.objects.active().select_related("team", "user").filter(team=team, user=context.job.owner).first()
    if file is not None and member is not None:
        read(member, Path(file.path))


def _is_big(path: Path) -> bool:
    try:
        return state_of(path)[0] > arrivals.BIG or (path.is_file() and holds_more(path, arrivals.BIG))
    except OSError:
        return False
