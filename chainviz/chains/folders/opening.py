"""List the files of a folder without reading them, import one into the library, and update its chains when the file grows."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from chainviz.accounts.audit import leave_unrecorded
from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.folders.choose_folders import Watched, may_choose
from chainviz.chains.models import Arrival, Chain, LocalFile
from chainviz.chains.uploads import arrivals
from chainviz.chains.uploads.local_files import Outcome, chains_from, note_copies, note_failure, state_of, take_file
from chainviz.core.documents.packed_files import holds_more
from chainviz.core.errors import DocumentError
from chainviz.core.sources.folder_files import LEADS_OUT, FoundFile, SessionFolder, files_of, fits, is_hidden, is_inside
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.history.drafts import head_of
from chainviz.store.models import History
from chainviz.store.transfer.imports import last_file_state
from chainviz.web.http import see_other, small_number, wants_fragment

MOST_FILES = 20_000
SECONDS = 2.0
"""The seconds for which a scan counts as fresh …"""
REST = 20
"""… or this many times its duration."""
HELD = 32
RUNNING = 60.0
"""Seconds since a file's last change during which its session counts as running."""


@dataclass(frozen=True, slots=True)
class Scan:
    files: tuple[FoundFile, ...]
    """The files, most recently changed first."""
    is_cut: bool
    """True if there are more than MOST_FILES."""
    sentence: str
    """The reason why there are none."""
    began: float
    took: float

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self.began < max(SECONDS, REST * self.took)


_scans: dict[Watched, Scan] = {}
_lock = threading.Lock()


def scan(folder: Watched) -> Scan:
    with _lock:
        found = _scans.get(folder)
        if found is None or not found.is_fresh:
            if len(_scans) >= HELD:
                _scans.clear()
            _scans[folder] = found = _scan(folder)
        return found


def path_in(folder: Watched, name: str) -> Path:
    """Return the path of a listed file. Raises DocumentError, in a sentence, for a name that leads elsewhere."""
    path = folder.path / name
    parts = PurePosixPath(name).parts
    if not name or "\0" in name or PurePosixPath(name).is_absolute() or ".." in parts or any(map(is_hidden, parts)):
        raise DocumentError("There is no such file in this folder.")
    if not is_inside(path, folder.path):
        raise DocumentError(f"{parts[-1]}: {LEADS_OUT}")
    if not fits(folder.pattern, name):
        raise DocumentError("There is no such file in this folder.")
    return path


def _scan(folder: Watched) -> Scan:
    began = time.monotonic()
    try:
        os.scandir(folder.path).close()
    except OSError as error:
        return Scan((), False, f"{folder.path} cannot be read: {error.strerror or error}.", began, 0)
    files: list[FoundFile] = []
    for each in files_of(SessionFolder(folder.path, folder.pattern, settings.CHAINVIZ.data)):
        files.append(each)
        if len(files) > MOST_FILES:
            break
    shown = sorted(files[:MOST_FILES], key=lambda each: (-each.modified, each.name))
    return Scan(tuple(shown), len(files) > MOST_FILES, "", began, time.monotonic() - began)


def is_running(modified: int) -> bool:
    """Return True if the session is running. `modified` is the time of the file's last change in nanoseconds."""
    return time.time() - modified / 1e9 < RUNNING


JOB = "read-local-file"
PAUSE = timedelta(seconds=4)
"""The pause between two readings of a growing file …"""
"""… or this many times the duration of the last one."""
AT_ONCE = 1.0
"""The seconds that one request spends on reading files that have grown."""


@dataclass(frozen=True, slots=True)
class Opened:
    chains: tuple[Chain, ...] = ()
    arrival: Arrival | None = None
    """The import of a large file, by a job."""
    is_reading: bool = False
    """True if a job reads the new content of a large file."""
    fresh: int = 0


def open_file(member: Membership, path: Path, session: int | None = None) -> Opened:
    """Open a file. `session` is the key of its session in the index; new chains become its working copies. Raises
    DocumentError, naming the file."""
    known = chains_from(member, path)
    if known and not has_changed(known[0].local_file, path):
        return Opened(tuple(known))
    if not _is_big(path):
        taken = take_file(member, path)
        note_copies(session, [each.chain for each in taken.followed if each.outcome is Outcome.ADDED])
        return Opened(taken.chains, fresh=taken.fresh)
    if known:
        read_by_job(member, known[0])
        return Opened(tuple(known), is_reading=True)
    arrival = arrivals.receive_local(member, path, session)
    return Opened(arrival=arrival)


def has_changed(file: LocalFile, path: Path) -> bool:
    """Since it was read."""
    try:
        return state_of(path) != (file.size, file.modified)
    except OSError:
        return False


def read_grown(member: Membership, chains: Iterable[Chain]) -> int:
    """Read the files of chains that have grown, as far as one request may; the others are read by the next one. Returns
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
    """Return True if the file is to be read now. Files that take long are read less often, and a file with messages
    that an edited chain lacks waits for the person."""
    pause = max(PAUSE, timedelta(seconds=REST * file.took))
    return not file.is_behind and (file.read_at is None or timezone.now() - file.read_at > pause)


def read(member: Membership, path: Path) -> None:
    """Read a file. One that cannot be read is skipped until it changes again."""
    try:
        take_file(member, path)
    except DocumentError as error:
        note_failure(path, str(error))


def read_by_job(member: Membership, chain: Chain) -> None:
    """Read the file by a job, unless one already does."""
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


# What the head of a chain says of the file that it came from.


@dataclass(frozen=True, slots=True)
class Following:
    chain: Chain
    number: int
    """The version that the page shows."""
    file: LocalFile
    is_running: bool
    has_changed: bool

    @property
    def address(self) -> str:
        return reverse("chains:follow", args=[self.chain.pk])

    @property
    def newer(self) -> str:
        """The address of a newer version."""
        return reverse("chains:chain", args=[self.chain.pk]) if 0 < self.number < self.chain.version else ""

    @property
    def newest(self) -> str:
        """The address of the newest version."""
        return reverse("chains:version", args=[self.chain.pk, self.chain.version])

    @property
    def is_grown(self) -> bool:
        """True if the newest version is the content of the file, and not somebody's edit."""
        head, state = head_of(History.objects.get(pk=self.chain.history)), last_file_state(self.chain.history)
        return state is not None and head.snapshot_id == state.pk


def following(chain: Chain, number: int) -> Following | None:
    """Return the state of the file; None for a chain that came from no file of this machine, or from a deleted one."""
    file: LocalFile | None = getattr(chain, "local_file", None)
    if file is None or file.modified is None or not may_read(file):
        return None
    try:
        size, modified = state_of(Path(file.path))
    except OSError:
        return None
    changed = (size, modified) != (file.size, file.modified)
    return Following(chain, number, file, is_running(modified), changed)


def may_read(file: LocalFile) -> bool:
    """Return True if the file may be opened: in team mode only those in folders that the settings of the server name."""
    return may_choose() or any(is_inside(Path(file.path), folder) for folder in settings.CHAINVIZ.folder_paths)


# A chain whose file grows while it is open. The open page asks for new messages, as does a button without JavaScript.


@requires("files")
@require_POST
def follow(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Read the file of a chain if it has grown. `over_edits`: even if the newest version was edited."""
    chain, member = chain_for(request, chain_id), member_of(request)
    file: LocalFile | None = getattr(chain, "local_file", None)
    if file is None or not may_read(file):
        raise Http404("This chain has no file on this machine.")
    if wants_fragment(request):
        if not read_grown(member, [chain]):
            leave_unrecorded(request)
        number = small_number(request.POST.get("v", "")) or chain.version
        return render(request, "chains/folders/_following.html", {"following": following(chain_for(request, chain_id), number)})
    try:
        if "over_edits" in request.POST:
            take_file(member, Path(file.path), over_edits=True)
        else:
            open_file(member, Path(file.path))
    except DocumentError as error:
        messages.warning(request, str(error))
    return see_other("chains:chain", chain_id)
