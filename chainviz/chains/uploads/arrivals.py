"""A file on its way into the library: received, looked into, imported, offered for a choice, or refused in one sentence."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import PurePath
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from chainviz.chains.models import Arrival
from chainviz.chains.uploads import staging
from chainviz.chains.uploads.imports import (
    Offer,
    import_offer,
    known_chain,
    offers_of,
    raw_offer,
    row_of,
    salvaged_offers,
)
from chainviz.chains.uploads.source_lines import excerpt
from chainviz.core.documents.source import Source, open_source
from chainviz.core.documents.unit_reader import RAW_LIMIT
from chainviz.core.errors import DocumentError
from chainviz.core.progress import Progress
from chainviz.jobs import lease, tasks
from chainviz.jobs.tasks import JobContext, start_job

log = logging.getLogger(__name__)

BIG = 8_000_000
"""Bytes from which a file is imported by a job instead of while the person waits."""
KEPT_FOR = timedelta(days=1)

How = dict[str, Any]
State = Arrival.State


def receive(owner: Any, upload: UploadedFile[bytes], *, format: str = "") -> Arrival:
    """Takes a file in as far as it goes at once; what is left is told by the arrival's state."""
    forget_old(owner)
    arrival = Arrival.objects.create(
        owner=owner,
        name=_short_name(upload.name or "pasted.json"),
        size=upload.size or 0,
        created_at=timezone.now(),
        waiting=staging.keep(upload),
        format=format,
    )
    take_in(arrival, {})
    return arrival


def take_in(arrival: Arrival, how: How) -> None:
    """Imports now, or by a job where that takes long. `how` says what a person decided: picks, text or salvage."""
    arrival.state = State.IMPORTING
    arrival.failure = {}
    if arrival.size <= BIG:
        _work_at_once(arrival, how)
        return
    arrival.save()
    job = start_job("import-file", owner=arrival.owner, arrival_id=arrival.pk, how=how)
    Arrival.objects.filter(pk=arrival.pk).update(job=job)
    arrival.job = job


def take_in_job(context: JobContext, arrival_id: int, how: How) -> None:
    arrival = Arrival.objects.filter(pk=arrival_id).first()
    if arrival is None or not arrival.waiting:
        raise tasks.Cancelled
    work_on(arrival, how)


def _work_at_once(arrival: Arrival, how: How) -> None:
    """One file that finds a fault of ours must not take the others of the same upload with it."""
    try:
        work_on(arrival, how)
    except tasks.Cancelled:
        pass
    except Exception as error:
        log.exception("%s could not be taken in", arrival)
        text = (
            f"This is a fault of chainviz, not of your file ({type(error).__name__}); the log of the server says more."
        )
        _fail(arrival, DocumentError(text), None)
        Arrival.objects.filter(pk=arrival.pk).update(state=arrival.state, failure=arrival.failure)


def work_on(arrival: Arrival, how: How) -> None:
    """Raises Cancelled where the person took the file away meanwhile."""
    try:
        with open_source(staging.path_of(arrival.waiting)) as source:
            try:
                _import(arrival, source, how)
            except DocumentError as error:
                _fail(arrival, error, source)
    except DocumentError as error:
        _fail(arrival, error, None)
    # An update, not a save: whoever cancelled in the meantime has deleted the row.
    Arrival.objects.filter(pk=arrival.pk).update(
        state=arrival.state, failure=arrival.failure, found=arrival.found, made=arrival.made, chain=arrival.chain
    )
    if arrival.state in (State.DONE, State.KNOWN):
        let_go(arrival)


def _import(arrival: Arrival, source: Source, how: How) -> None:
    offers = _wanted(arrival, source, how)
    arrival.made = 0
    for number, offer in enumerate(offers):
        arrival.chain = import_offer(
            arrival.owner,
            source,
            offer,
            file_name=arrival.name,
            progress=_progress(arrival, number, len(offers)),
        )
        arrival.made = number + 1
        arrival.state = State.DONE
    if len(offers) > 1:
        arrival.chain = None


def _is_gone(arrival: Arrival) -> bool:
    """The person took the file away, or purged what it holds."""
    return not (staging.is_there(arrival.waiting) and Arrival.objects.filter(pk=arrival.pk).exists())


def _progress(arrival: Arrival, number: int, count: int) -> Progress:
    """Raises Cancelled where the person took the file away."""
    which = f"chain {number + 1} of {count}, " if count > 1 else ""

    def report(share: float, message: str) -> None:
        if _is_gone(arrival):
            raise tasks.Cancelled
        staging.note_progress(arrival.waiting, (number + share) / count, f"{which}{message[:1].lower()}{message[1:]}")

    return report


def _wanted(arrival: Arrival, source: Source, how: How) -> list[Offer]:
    """What is to be imported now; nothing where the library has it already or a person has to choose."""
    if how.get("as") == "text":
        return [raw_offer(source)]
    if how.get("as") == "salvage":
        return salvaged_offers(source, arrival.format)
    offers = offers_of(source, arrival.format)
    if "picks" in how:
        picked = set(how["picks"])
        return [offer.read_as(how.get("format", "")) for offer in offers if offer.key in picked]
    known = [known_chain(arrival.owner, source, offer) for offer in offers]
    if len(offers) == 1 and known[0] is not None:
        arrival.state, arrival.chain = State.KNOWN, known[0]
        return []
    if len(offers) == 1 and offers[0].is_certain:
        return offers
    arrival.state = State.CHOOSING
    arrival.found = [row_of(source, offer, chain, arrival.name) for offer, chain in zip(offers, known, strict=True)]
    return []


def _fail(arrival: Arrival, error: DocumentError, source: Source | None) -> None:
    arrival.state = State.FAILED
    arrival.failure = {
        "sentence": str(error),
        "lines": excerpt(source.read, error.offset, error.line) if source is not None else [],
        "salvage": error.salvage,
        "as_text": error.raw and arrival.size <= RAW_LIMIT,
    }
    if not (error.salvage or arrival.failure["as_text"]):
        let_go(arrival)


def forget(arrival: Arrival) -> None:
    """Also stops an import that is under way: it ends when it finds its bytes gone."""
    staging.forget(arrival.waiting)
    if arrival.job is not None and not arrival.job.is_finished:
        lease.cancel(arrival.job)
    let_go(arrival)
    arrival.delete()


def let_go(arrival: Arrival) -> None:
    staging.forget(arrival.waiting)
    arrival.waiting = ""
    Arrival.objects.filter(pk=arrival.pk).update(waiting="")


def forget_old(owner: Any) -> None:
    for arrival in Arrival.objects.visible_to(owner).filter(created_at__lt=timezone.now() - KEPT_FOR):
        forget(arrival)


def _short_name(name: str) -> str:
    clean = lease.storable(PurePath(name.replace("\\", "/")).name) or "upload"
    return clean if len(clean) <= 120 else f"{clean[:80]}…{clean[-30:]}"
