"""Import a file into the library: receive it, read it, then import it, offer a choice of chains, or refuse it with a
sentence."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, TypedDict

from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from chainviz.accounts.models import Membership
from chainviz.chains.models import Arrival
from chainviz.chains.render.visible_text import marks
from chainviz.chains.uploads import staging, state_files
from chainviz.chains.uploads.imports import import_offer, key_of, known_chain, raw_offer, rows_of, with_earlier_states
from chainviz.chains.uploads.local_files import Followed, Outcome, name_of, note_copies, note_reading, state_of
from chainviz.core.chain.messages import ROLE_NAMES
from chainviz.core.documents.packed_files import beginning
from chainviz.core.documents.source import Source, open_source
from chainviz.core.documents.unit_reader import RAW_LIMIT
from chainviz.core.errors import DocumentError
from chainviz.core.formats.offers import Offer, offers_of
from chainviz.core.formats.reader import read_chain
from chainviz.core.progress import Progress
from chainviz.core.state.faults import with_state_notes
from chainviz.jobs import lease, tasks
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.content.message_shapes import clean, preview
from chainviz.store.errors import is_disk_full

log = logging.getLogger(__name__)

BIG = 8_000_000
"""The size in bytes from which a job imports a file while the person does not wait."""
MANY = 40_000
"""The number of JSON objects or lines of text from which a job imports even a small file: 100,000 tiny messages take as
long as 100 MB."""
_OBJECT = re.compile(rb"""\{\s*["']""")
"""The beginning of an object; inside a string a backslash precedes the quotation mark."""
MANY_CHAINS = 40
"""The number of picked chains from which a job imports them, since each is a separate transaction."""
KEPT_FOR = timedelta(days=1)
UNCLAIMED_FOR = timedelta(minutes=10)
"""A file that is being received is written to continuously, and its row follows at once."""

How = dict[str, Any]
State = Arrival.State


def receive(member: Membership, upload: UploadedFile[bytes], *, format: str = "", how: How | None = None) -> Arrival:
    """Receive a file, and do what can be done at once; the arrival's state tells what is left."""
    arrival = _arrived(member, upload, format)
    take_in(arrival, how or {})
    return arrival


def receive_local(member: Membership, path: Path, session: int | None = None) -> Arrival:
    """Import a file of this machine with all its chains. `session` is the session that they are working copies of.
    Raises DocumentError if it cannot be opened."""
    forget_old(member)
    try:
        size, modified = state_of(path)
        waiting = staging.copy(path)
    except OSError as error:
        raise DocumentError(f"{path} cannot be opened: {error.strerror or error}.") from None
    arrival = _new(member, name_of(path), size, waiting)
    take_in(arrival, {"as": "all", "path": str(path), "state": [size, modified], "session": session})
    return arrival


def receive_refused(member: Membership, upload: UploadedFile[bytes], error: DocumentError) -> Arrival:
    """Keep a file that was refused before it became a chain, with the options that a person still has."""
    arrival = _arrived(member, upload, "")
    try:
        with staging.open_waiting(arrival.waiting) as source:
            _fail(arrival, error, source)
    except DocumentError:  # an archive, which is no source
        _fail(arrival, error, None)
    arrival.save(update_fields=["state", "failure"])
    return arrival


def _arrived(member: Membership, upload: UploadedFile[bytes], format: str) -> Arrival:
    forget_old(member)
    return _new(member, upload.name or "pasted.json", upload.size or 0, staging.keep(upload), format)


def _new(member: Membership, name: str, size: int, waiting: str, format: str = "") -> Arrival:
    return Arrival.objects.create(
        team=member.team, owner=member.user, name=_short_name(name), size=size, created_at=timezone.now(), waiting=waiting, format=format
    )


def take_in(arrival: Arrival, how: How) -> None:
    """Import now, or in a job if that takes long. `how` contains a person's decisions: picks, versions, text, salvage,
    state, or all chains without a question."""
    arrival.state = State.IMPORTING
    arrival.failure = {}
    if not _is_long(arrival, how):
        _work_at_once(arrival, how)
        return
    arrival.save()
    if not how:
        _note_beginning(arrival)
    job = start_job("import-file", owner=arrival.owner, arrival_id=arrival.pk, how=how)
    Arrival.objects.filter(pk=arrival.pk).update(job=job)
    arrival.job = job


def retry(arrival: Arrival, format: str = "") -> None:
    """Import a failed file again, with the same decisions, or in a format that a person chose."""
    stopped = arrival.job if arrival.has_stopped else None
    if format:
        arrival.format = format
        arrival.save(update_fields=["format"])
    take_in(arrival, stopped.args["how"] if stopped is not None else {})


def _is_long(arrival: Arrival, how: How) -> bool:
    if arrival.size > BIG or len(how.get("picks", ())) > MANY_CHAINS:
        return True
    content = beginning(staging.path_of(arrival.waiting), BIG + 1)
    if len(content) > BIG:
        return True
    is_json = content[:1000].lstrip().startswith((b"{", b"["))
    return (sum(1 for _ in _OBJECT.finditer(content)) if is_json else content.count(b"\n")) > MANY


def take_in_job(context: JobContext, arrival_id: int, how: How) -> None:
    arrival = Arrival.objects.filter(pk=arrival_id).first()
    if arrival is None or not arrival.waiting:
        raise tasks.Cancelled
    work_on(arrival, how)


def _work_at_once(arrival: Arrival, how: How) -> None:
    """Import one file. A bug that it triggers must not affect the other files of the upload."""
    try:
        work_on(arrival, how)
    except tasks.Cancelled:
        pass
    except Exception as error:
        if is_disk_full(error):
            raise
        log.exception("%s could not be imported", arrival)
        text = f"This is a bug in chainviz, not in your file ({type(error).__name__}); the server's log says more."
        _fail(arrival, DocumentError(text), None, keeps_bytes=True)
        Arrival.objects.filter(pk=arrival.pk).update(state=arrival.state, failure=arrival.failure)


def work_on(arrival: Arrival, how: How) -> None:
    """Raise Cancelled if the person removed the file meanwhile."""
    try:
        with staging.open_waiting(arrival.waiting) as source:
            try:
                _import(arrival, source, how)
            except DocumentError as error:
                _fail(arrival, error, source)
    except DocumentError as error:
        _fail(arrival, error, None)
    # An update, not a save: a cancelled arrival has no row any more.
    Arrival.objects.filter(pk=arrival.pk).update(
        state=arrival.state, failure=arrival.failure, found=arrival.found, made=arrival.made, added=arrival.added, chain=arrival.chain
    )
    if arrival.state in (State.DONE, State.KNOWN):
        let_go(arrival)


def _import(arrival: Arrival, source: Source, how: How) -> None:
    offers = _offers_to_import(arrival, source, how)
    if arrival.state == State.KNOWN:
        _link(arrival, how)
    arrival.made, arrival.added = 0, []
    if offers and arrival.size > BIG:
        _note_first_messages(arrival, source, offers[0])
    member = _member(arrival)
    for number, offer in enumerate(offers):
        is_new = known_chain(member, source, offer) is None
        arrival.chain = import_offer(member, source, offer, file_name=arrival.name, progress=_progress(arrival, number, len(offers)))
        arrival.made = number + 1
        arrival.added += [arrival.chain.pk] if is_new else []
        arrival.state = State.DONE
        _link(arrival, how)
        note_copies(how.get("session"), [arrival.chain] if is_new else [])
    if offers:
        # its content is in the library now, where a purge finds it
        arrival.found = []
    if len(offers) > 1:
        arrival.chain = None


FIRST = 12
"""The number of messages that are shown while a long import runs."""
BEGINNING = 1 << 18
"""The number of bytes in which they are found before the import has begun."""


def _note_beginning(arrival: Arrival) -> None:
    """Keep the first messages of a file before its job has begun, so that the page after the upload shows them already."""
    with suppress(DocumentError), open_source(beginning(staging.path_of(arrival.waiting), BEGINNING)) as source:
        _note_first_messages(arrival, source, offers_of(source, arrival.format, salvage=True)[0])


def _note_first_messages(arrival: Arrival, source: Source, offer: Offer) -> None:
    """Keep the first messages of a big file, so that its person can read them before the file is stored and checked."""
    found = list[staging.FirstMessage]()
    with suppress(DocumentError):  # the import reports it
        for message in islice(read_chain(source, offer.found, offer.formats[0], salvage=offer.salvage), FIRST):
            found.append(staging.FirstMessage(ROLE_NAMES.get(message.role, clean(message.role[:40])), message.size, preview(message)))
    staging.note_first_messages(arrival.waiting, found)


def _link(arrival: Arrival, how: How) -> None:
    """Let the chain follow its file, if that is on this machine."""
    if "path" in how and arrival.chain is not None:
        size, modified = how["state"]
        note_reading(Path(how["path"]), [Followed(arrival.chain, Outcome.ADDED)], (size, modified))


def _member(arrival: Arrival) -> Membership:
    return Membership.objects.select_related("team", "user").get(team=arrival.team_id, user=arrival.owner_id)


def _is_gone(arrival: Arrival) -> bool:
    """Return True if the person removed the file, or purged its content."""
    return not (staging.is_there(arrival.waiting) and Arrival.objects.filter(pk=arrival.pk).exists())


def _progress(arrival: Arrival, number: int, count: int) -> Progress:
    """Raise Cancelled if the person removed the file."""
    which = f"chain {number + 1} of {count}, " if count > 1 else ""

    def report(share: float, message: str) -> None:
        if _is_gone(arrival):
            raise tasks.Cancelled
        staging.note_progress(arrival.waiting, (number + share) / count, f"{which}{message[:1].lower()}{message[1:]}")

    return report


def _offers_to_import(arrival: Arrival, source: Source, how: How) -> list[Offer]:
    """Return the offers to import now. Empty if the library already has the chains or a person has to choose."""
    if how.get("as") == "text":
        return [raw_offer(source)]
    if how.get("as") == "salvage":
        return offers_of(source, arrival.format, salvage=True)
    offers = offers_of(source, arrival.format)
    if how.get("as") == "state":
        return with_state_notes(source, offers)
    if "picks" in how:
        picked = set(how["picks"])
        read = [offer.read_as(how.get("format", "")) for offer in offers]
        read = with_earlier_states(read, arrival.found) if how.get("versions") else read
        return [offer for offer in read if key_of(offer) in picked]
    member = _member(arrival)
    known = [known_chain(member, source, offer) for offer in offers]
    if len(offers) == 1 and known[0] is not None:
        arrival.state, arrival.chain = State.KNOWN, known[0]
        return []
    state_files.check_state(source, offers)
    if len(offers) == 1 and offers[0].is_certain:
        return offers
    arrival.found = rows_of(source, offers, known, arrival.name)
    if how.get("as") == "all":
        finals = {row["key"] for row in arrival.found if not row["final"]}
        return [offer for offer in with_earlier_states(offers, arrival.found) if key_of(offer) in finals]
    arrival.state = State.CHOOSING
    return []


def _fail(arrival: Arrival, error: DocumentError, source: Source | None, *, keeps_bytes: bool = False) -> None:
    arrival.state = State.FAILED
    arrival.failure = {
        "sentence": str(error),
        "lines": excerpt(source.read, error.fault.offset, error.fault.line) if source is not None else [],
        "salvage": error.salvage,
        "as_text": error.raw and arrival.size <= RAW_LIMIT,
        **state_files.failure_of(error, source),
    }
    if not (keeps_bytes or error.salvage or arrival.failure["as_text"] or arrival.failure["checks"]):
        let_go(arrival)


def forget(arrival: Arrival) -> None:
    """Delete an arrival, and stop its import, which ends when its bytes are missing."""
    staging.forget(arrival.waiting)
    if arrival.job is not None and not arrival.job.is_finished:
        lease.cancel(arrival.job)
    let_go(arrival)
    arrival.delete()


def let_go(arrival: Arrival) -> None:
    staging.forget(arrival.waiting)
    arrival.waiting = ""
    Arrival.objects.filter(pk=arrival.pk).update(waiting="")


def forget_old(member: Membership) -> None:
    for arrival in Arrival.objects.visible_to(member).filter(created_at__lt=timezone.now() - KEPT_FOR):
        forget(arrival)


def _short_name(name: str) -> str:
    clean = lease.storable(PurePath(name.replace("\\", "/")).name) or "upload"
    return clean if len(clean) <= 120 else f"{clean[:80]}…{clean[-30:]}"


def clear_orphans(age: timedelta = UNCLAIMED_FOR) -> None:
    """Delete waiting bytes that no arrival names and that nobody has written to for `age`: a chore of the worker, and of a
    server that starts."""
    staging.delete_orphans(set(Arrival.objects.exclude(waiting="").values_list("waiting", flat=True)), age)


# The source lines around a place in a broken file, short enough to show, with the place marked.


BEFORE, AFTER = 1200, 300
"""The number of bytes that are read before and after the place."""
LEFT, WIDTH = 30, 110
"""The most characters that are shown before the place in its line, few enough for a phone, and of a line in total."""


class SourceLine(TypedDict):
    number: int
    text: str
    mark: int
    """The number of characters before the place in the marked line; -1 in other lines."""


def excerpt(read: Callable[[int, int], bytes], offset: int, line: int) -> list[SourceLine]:
    """Return up to three lines that end with the one of the place; none if there is no place."""
    if line < 1:
        return []
    before = _text(read(max(0, offset - BEFORE), offset)).split("\n")
    after = _text(read(offset, offset + AFTER)).split("\n")[0]
    start = before[-1]
    cut = max(0, len(start) - LEFT)
    shown = ("…" if cut else "") + start[cut:]
    lines: list[SourceLine] = [
        {"number": line - back, "text": _clip(before[-1 - back]), "mark": -1} for back in (2, 1) if back < len(before) and line - back > 0
    ]
    lines.append({"number": line, "text": _clip(shown + after), "mark": len(shown)})
    return lines


def _text(content: bytes) -> str:
    # A tab is one character for the mark below it, so it must be one wide.
    return marks(content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\t", " "))


def _clip(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
