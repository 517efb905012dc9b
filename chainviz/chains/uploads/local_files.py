"""Files of this machine into the library, with nobody to ask: every chain of a file, in the likeliest format, its earlier
states as its first versions. A file that was read before gives its chains a new version.

A file is copied first: an agent may write it while it is read.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import IO

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from chainviz.accounts.models import Membership
from chainviz.chains.models import Chain, LocalFile, WorkingCopy
from chainviz.chains.uploads import staging
from chainviz.chains.uploads.imports import folded, import_offer, key_of, known_chain, list_of
from chainviz.chains.versions import heads
from chainviz.core.counts import count_text
from chainviz.core.databases.snapshot import database_copy, is_database
from chainviz.core.databases.text import session_at, sessions_with_messages
from chainviz.core.documents import event_logs
from chainviz.core.documents.event_logs import FileState, conversation_of
from chainviz.core.documents.packed_files import is_archive, members
from chainviz.core.documents.source import CHUNK, Source
from chainviz.core.errors import DocumentError
from chainviz.core.formats.offers import Offer, offers_of
from chainviz.core.state.faults import with_state_notes
from chainviz.jobs.lease import storable
from chainviz.sessions_index.models import Session
from chainviz.store.errors import Conflict
from chainviz.store.history.drafts import head_of
from chainviz.store.models import History, Snapshot, Version
from chainviz.store.transfer.imports import Difference, compare, grow, last_file_state

# A chain and the present state of the file that it came from: what is new becomes its next version.


class Outcome(Enum):
    ADDED = "added"
    SAME = "same"
    """The library already has this state of the file."""
    GREW = "grew"
    EDITED = "edited"
    """The newest version was edited: a person decides how to continue with the new messages."""


@dataclass(frozen=True, slots=True)
class Followed:
    chain: Chain
    outcome: Outcome
    new: int = 0
    """The number of new messages."""


def follow(member: Membership, source: Source, offer: Offer, chain: Chain, *, over_edits: bool = False) -> Followed:
    """Import what is new in the file as the next version of its chain. With `over_edits` even if the newest version is
    not the file's; that one stays in the history."""
    before = last_file_state(chain.history)
    if before is None or chain.is_in_bin:
        return Followed(chain, Outcome.SAME)
    difference = compare(before, list_of(source, replace(offer.read_as(before.format), earlier=())))
    head = head_of(History.objects.get(pk=chain.history))
    is_edited = head.snapshot_id != before.pk
    if difference.is_none and not (is_edited and over_edits):
        return Followed(chain, Outcome.SAME)
    if is_edited and not over_edits:
        return Followed(chain, Outcome.EDITED)

    def arrived(version: Version) -> None:
        heads.head_moved(chain, version, member.user)

    try:
        author = heads.store_name(member.user)
        version = grow(head, difference, author=author, note=_note(source, difference), arrived=arrived)
    except Conflict:
        # another page read the file at the same moment
        chain.refresh_from_db()
        return Followed(chain, Outcome.SAME)
    return Followed(chain, Outcome.GREW, version.snapshot.messages - before.messages)


def remember(source: Source, offer: Offer, chain: Chain) -> None:
    """Let a later upload of the same bytes find this chain, unless another chain came from them already."""
    place = {"team": chain.team_id, "sha256": source.sha256, "pointer": key_of(offer)}
    if not Chain.objects.filter(**place, is_branch=False).exclude(pk=chain.pk).exists():
        Chain.objects.filter(pk=chain.pk).update(sha256=source.sha256, pointer=key_of(offer))


def _note(source: Source, difference: Difference) -> str:
    new = -1 if difference.new is None else len(difference.new) - difference.removed
    if difference.removed and not begins_with(source, difference.before):
        kept = count_text(difference.kept, "message is", "messages are")
        return f"The file was rewritten: the first {kept} the same"
    if new > 0:
        return f"The file grew: {count_text(new, 'new message')}"
    return "The file grew" if new < 0 else "The file grew: its last message is longer"


def begins_with(source: Source, before: Snapshot) -> bool:
    """Return True if the file still begins with its old content."""
    upload = before.template.run.upload if before.template is not None else None
    if upload is None or upload.encoding != source.encoding or source.size < upload.length:
        return False
    digest = sha256()
    for start in range(0, upload.length, CHUNK):
        digest.update(source.read(start, min(start + CHUNK, upload.length)))
    return digest.hexdigest() == upload.sha256


@dataclass(frozen=True, slots=True)
class TakenFile:
    """The result of importing a file."""

    followed: tuple[Followed, ...]
    notes: tuple[str, ...] = ()
    """Notes for the person about the file, each once."""

    @property
    def chains(self) -> tuple[Chain, ...]:
        return tuple(each.chain for each in self.followed)

    @property
    def fresh(self) -> int:
        """Chains that were not in the library before."""
        return sum(each.outcome is Outcome.ADDED for each in self.followed)

    def describe(self, site: str) -> str:
        """Half a sentence that leads on."""
        if len(self.followed) > 1:
            known = len(self.followed) - self.fresh
            here = f", {known} of them already uploaded" if known else ""
            return f"{len(self.followed)} chains{here}: {site}"
        only = self.followed[0]
        if only.chain.is_in_bin:
            return f"in the bin: {site}{reverse('chains:bin')[1:]}"
        place = f"{site}{reverse('chains:chain', args=[only.chain.pk])[1:]}"
        return {
            Outcome.ADDED: place,
            Outcome.SAME: f"already uploaded, now at version {only.chain.version}: {place}",
            Outcome.GREW: f"version {only.chain.version}, {count_text(max(0, only.new), 'new message')}: {place}",
            Outcome.EDITED: f"it grew, but version {only.chain.version} was edited; choose how to continue: {place}",
        }[only.outcome]


def one_name(path: Path) -> Path:
    """Absolute and without `..`, unless a link makes that another file: a file is known again by its name."""
    if session := session_at(path):
        return Path(f"{one_name(session[0])}#{session[1]}")
    plain = Path(os.path.normpath(path.absolute()))
    return plain if plain.exists() and plain.samefile(path) else path.absolute()


def take_file(member: Membership, path: Path, format: str = "", *, over_edits: bool = False) -> TakenFile:
    """Take in a file, a session of a database (`opencode.db#ses_1`), or each session of a database or file of a ZIP archive.

    Raises DocumentError, naming the file.
    """
    path = one_name(path)
    take = partial(_take, member, format=format, over_edits=over_edits)
    if is_database(path):
        with database_copy(path) as copy:
            return _take_all(path, ((Path(f"{path}#{id}"), Path(f"{copy}#{id}")) for id in sessions_with_messages(copy)), take)
    if is_zip(path):
        with path.open("rb") as file:
            return _take_all(path, _unpacked(path, file), take)
    return take(path, path)


def _take_all(path: Path, parts: Iterable[tuple[Path, Path]], take: Callable[[Path, Path], TakenFile]) -> TakenFile:
    """Take in the parts of a file: what each is called, and where its bytes are. One that cannot be read becomes a note."""
    followed, notes = list[Followed](), list[str]()
    try:
        for part, origin in parts:
            try:
                taken = take(part, origin)
            except DocumentError as error:
                notes.append(str(error))
                continue
            followed += taken.followed
            notes += taken.notes
    except DocumentError as error:
        raise _with_path(path, error) from None
    if not followed:
        raise DocumentError(notes[0] if notes else f"{path} holds no sessions with messages.")
    return TakenFile(tuple(followed), tuple(dict.fromkeys(notes)))


def is_zip(path: Path) -> bool:
    """Return whether a path is that of a ZIP archive of files."""
    if path.suffix.lower() != ".zip" or not path.is_file():
        return False
    with path.open("rb") as file:
        return is_archive(file)


def _unpacked(path: Path, file: IO[bytes]) -> Iterator[tuple[Path, Path]]:
    with tempfile.TemporaryDirectory(prefix="chainviz-") as folder:
        for number, each in enumerate(members(file, settings.CHAINVIZ.max_upload_mb * 1_000_000)):
            copy = Path(folder, f"{number}{Path(each.name).suffix}")
            with copy.open("wb") as target:
                shutil.copyfileobj(each.file, target)
            yield path / each.name, copy
            copy.unlink()


def _take(member: Membership, path: Path, origin: Path, format: str, *, over_edits: bool) -> TakenFile:
    """Take in what `origin` holds as what is at `path`, which may be in an archive."""
    began = time.monotonic()
    if str(path) != storable(str(path)):
        raise DocumentError(f"The name of {storable(str(path))} is not valid UTF-8; rename the file.")
    try:
        state = state_of(path if path.parent.is_dir() else origin)
        copy = staging.copy(origin)
    except OSError as error:
        raise DocumentError(f"{path} cannot be opened: {error.strerror or error}.") from None
    try:
        with staging.open_waiting(copy) as source:
            offers = with_state_notes(source, folded(source, offers_of(source, format)))
            followed = _followed(member, source, offers, path, over_edits)
    except DocumentError as error:
        raise _with_path(path, error) from None
    finally:
        staging.forget(copy)
    note_reading(path, followed, state, time.monotonic() - began)
    return TakenFile(followed, tuple(dict.fromkeys(note for offer in offers for note in offer.found.warnings)))


def chains_from(member: Membership, path: Path) -> list[Chain]:
    """Return the chains of the library that came from a file of this machine."""
    return list(Chain.objects.visible_to(member).filter(local_file__path=str(path)).order_by("pk"))


def _followed(member: Membership, source: Source, offers: Sequence[Offer], path: Path, over_edits: bool) -> tuple[Followed, ...]:
    known = {chain.pointer: chain for chain in chains_from(member, path)}
    found: list[Followed] = []
    for offer in offers:
        # what was the last state of a log of requests is an earlier one now
        keys = [key_of(offer), *(key_of(each) for each in reversed(offer.earlier))]
        chain = next((known.pop(key) for key in keys if key in known), None)
        if chain is not None:
            found.append(follow(member, source, offer, chain, over_edits=over_edits))
        else:
            is_new = known_chain(member, source, offer) is None
            chain = import_offer(member, source, offer, file_name=name_of(path))
            found.append(Followed(chain, Outcome.ADDED if is_new else Outcome.SAME))
    if any(each.outcome is not Outcome.SAME for each in found):
        for offer, each in zip(offers, found, strict=True):
            if each.outcome is not Outcome.EDITED:
                remember(source, offer, each.chain)
    return tuple(found)


def note_reading(path: Path, followed: Sequence[Followed], state: FileState, took: float = 0) -> None:
    for each in followed:
        facts = {
            "path": str(path),
            "size": state[0],
            "modified": state[1],
            "read_at": timezone.now(),
            "took": took,
            "is_behind": each.outcome is Outcome.EDITED,
            "sentence": "",
        }
        LocalFile.objects.update_or_create(chain=each.chain, defaults=facts)
        if each.chain.project is None and settings.CHAINVIZ.mode == "local":
            each.chain.project = storable(str(Path(conversation_of(str(path))).parent))[:500]
            each.chain.save(update_fields=["project"])


def note_copies(session: int | None, chains: Sequence[Chain]) -> None:
    """Record the chains that were created by opening a session of the index, in the project of that session; with None, chains that a
    person wants to keep."""
    now = timezone.now()
    project = Session.objects.values_list("project", flat=True).get(pk=session) if session is not None else ""
    if project:
        Chain.objects.filter(pk__in=[chain.pk for chain in chains]).update(project=project)
    copies = [WorkingCopy(chain=chain, session_id=session, opened_at=now) for chain in chains if session is not None]
    WorkingCopy.objects.bulk_create(copies, ignore_conflicts=True)


def note_failure(path: Path, sentence: str) -> None:
    """Record that the present file could not be read: it is not tried again before it changes."""
    with suppress(OSError):
        size, modified = state_of(path)
        read = LocalFile.objects.filter(path=str(path))
        read.update(size=size, modified=modified, read_at=timezone.now(), sentence=storable(sentence))


def state_of(path: Path) -> FileState:
    """Return the state of a file or folder, or of the database of a session, including its log. Raises OSError."""
    session = session_at(path)
    file = session[0] if session else path
    size, modified = event_logs.state_of(file)
    with suppress(OSError):
        log = file.with_name(f"{file.name}-wal").stat()
        return size + log.st_size, max(modified, log.st_mtime_ns)
    return size, modified


def name_of(path: Path) -> str:
    """Name the file of a chain: a folder of events after its conversation, one of a database after the session."""
    if session := session_at(path):
        return f"{session[1]}.json"
    return f"{path.parent.name}.jsonl" if path.is_dir() else path.name


def _with_path(path: Path, error: DocumentError) -> DocumentError:
    text = " ".join(str(error).split())
    return DocumentError(text if str(path) in text else f"{path}: {text}", error.fault, raw=error.raw)
