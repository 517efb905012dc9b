"""Purging values: their bytes go from the upload, from every version, draft and step of every chain that came from it.

What stands there afterwards is as long, so versions, drafts, paths and places stay; digests are taken anew and the old
ones leave keyed tombstones. Other chains of the same file share its bytes, so they are part of it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice

from chainviz.core.documents.sources import written
from chainviz.core.errors import ChainError, Refused
from chainviz.core.messages import PART_KINDS
from chainviz.store.blanking import Blanks
from chainviz.store.contents import BodyReader, StoredMessage, forget, pieces_of, read_rows
from chainviz.store.models import (
    Body,
    Draft,
    History,
    Message,
    Outline,
    OutlineBlock,
    Run,
    Snapshot,
    Template,
    Upload,
    UploadChunk,
    Version,
)
from chainviz.store.outline.hashes import BASE, PRIME, concatenate, to_bytes
from chainviz.store.packed import pack, pack_body, unpack, unpack_body
from chainviz.store.pieces import Piece
from chainviz.store.purge import bury, purging, remove
from chainviz.store.skeletons import clean, pack_skeleton, preview
from chainviz.store.sources import message_digest
from chainviz.store.uploads import CHUNK, UploadReader

GROUP = 200
STRUCTURE = "One of these values is part of what makes the messages readable, such as a key; nothing was purged."


@dataclass(frozen=True, slots=True)
class Reach:
    """What a purge touches."""

    histories: frozenset[int]
    uploads: frozenset[int]
    places: int
    """In uploads and in what versions and drafts wrote."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """An upload's digest before and after."""

    old: str
    new: str


def reach(history: int, values: Iterable[str]) -> Reach:
    """Looks only."""
    histories, uploads = _related(history)
    blanks = Blanks(values)
    places = 0
    for upload in uploads:
        chunks = UploadReader(upload).chunks()
        places += blanks.count(b"".join(content for _, content in chunks))
    for body in Body.objects.filter(run__history__in=histories).values_list("content", flat=True).iterator(500):
        places += blanks.count(unpack_body(body))
    return Reach(frozenset(histories), frozenset(uploads), places)


def _related(history: int) -> tuple[set[int], set[int]]:
    histories, uploads = {history}, set[int]()
    while True:
        found = set(Run.objects.filter(history__in=histories, upload__isnull=False).values_list("upload", flat=True))
        others = histories | set(Run.objects.filter(upload__in=found).values_list("history", flat=True))
        if others == histories and found == uploads:
            return histories, {upload for upload in uploads if upload is not None}
        histories, uploads = others, {upload for upload in found if upload is not None}


def purge_values(history: int, values: Iterable[str], *, reason: str) -> tuple[Reach, tuple[Renamed, ...]]:
    """Refused, with nothing changed, where a value is part of what makes a message readable."""
    values = tuple(values)
    found = reach(history, values)
    blanks = Blanks(values)
    with purging(reason):
        renamed = tuple(each for pk in sorted(found.uploads) if (each := _upload(pk, blanks, history, reason)))
        for number in sorted(found.histories):
            _history(number, blanks, reason)
    forget()
    return found, renamed


def _upload(pk: int, blanks: Blanks, history: int, reason: str) -> Renamed | None:
    upload = Upload.objects.get(pk=pk)
    old = dict(UploadReader(pk).chunks())
    changed = False
    for index, content in enumerate(_chunked(blanks.stream(old.values()))):
        if content != old[index]:
            changed = True
            UploadChunk.objects.filter(upload=pk, index=index).update(content=content)
    name = clean(blanks.text(upload.filename))
    if not changed:
        Upload.objects.filter(pk=pk).update(filename=name)
        return None
    digest, size = sha256(), 0
    for piece in written((content for _, content in UploadReader(pk).chunks()), upload.encoding):
        digest.update(piece)
        size += len(piece)
    bury(history, "upload", bytes.fromhex(upload.sha256), reason)
    Upload.objects.filter(pk=pk).update(sha256=digest.hexdigest(), size=size, filename=name)
    return Renamed(upload.sha256, digest.hexdigest())


def _chunked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    held = b""
    for piece in pieces:
        held += piece
        while len(held) >= CHUNK:
            yield held[:CHUNK]
            held = held[CHUNK:]
    if held:
        yield held


def _history(number: int, blanks: Blanks, reason: str) -> None:
    runs = list(Run.objects.filter(history=number).order_by("pk"))
    for run in runs:
        _bodies(run, blanks)
        _template(run, blanks)
    forget()
    prefixes = {run.pk: _messages(run) for run in runs}
    for snapshot in Snapshot.objects.filter(history=number).order_by("pk"):
        _snapshot(snapshot, prefixes, blanks, reason)
    remove(Outline.objects.filter(snapshot__history=number))
    remove(OutlineBlock.objects.filter(history=number))
    for model in (Version, Draft):
        for pk, text in model._default_manager.filter(history=number).exclude(note="").values_list("pk", "note"):
            if blanks.text(text) != text:
                model._default_manager.filter(pk=pk).update(note=blanks.text(text))


def _bodies(run: Run, blanks: Blanks) -> None:
    rows = Body.objects.filter(run=run).values_list("position", "content")
    for position, packed in rows.iterator(chunk_size=GROUP):
        content = unpack_body(packed)
        blanked = blanks.blank(content)
        if blanked != content:
            Body.objects.filter(run=run, position=position).update(content=pack_body(blanked))


def _template(run: Run, blanks: Blanks) -> None:
    template = Template.objects.filter(run=run).first()
    if template is None:
        return
    envelope, shell = unpack_body(template.envelope), bytes(template.shell)
    new_envelope, new_shell = blanks.blank(envelope), blanks.blank(shell)
    if (new_envelope, new_shell) != (envelope, shell):
        Template.objects.filter(run=run).update(envelope=pack_body(new_envelope), shell=new_shell)


def _messages(run: Run) -> list[tuple[int, int]]:
    """Notes anew what its messages are; for each n, hash and size of its first n messages."""
    count = Message.objects.filter(run=run).count()
    bodies = BodyReader()
    prefixes = [(0, 0)]
    rows = iter(read_rows([Piece(run.pk, 0, count)] if count else []))
    while group := list(islice(rows, GROUP)):
        for row, noted in zip(group, _noted(bodies, group), strict=True):
            digest, size, skeleton, shown = noted
            value, total = prefixes[-1]
            prefixes.append(((value * BASE + int.from_bytes(digest, "big") + 1) % PRIME, total + size))
            if digest != row.digest:
                Message.objects.filter(run=run, position=row.position).update(
                    digest=digest, size=size, skeleton=skeleton, preview=shown
                )
    return prefixes


def _noted(bodies: BodyReader, rows: list[StoredMessage]) -> Iterator[tuple[bytes, int, bytes, str]]:
    try:
        messages = bodies.messages(rows)
    except (ChainError, ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
        raise Refused(STRUCTURE) from error
    for row, message in zip(rows, messages, strict=True):
        if [part.kind for part in row.shape.parts] != [PART_KINDS[type(part)] for part in message.parts]:
            raise Refused(STRUCTURE)
        yield message_digest(message), message.size, pack_skeleton(message), preview(message)


def _snapshot(snapshot: Snapshot, prefixes: dict[int, list[tuple[int, int]]], blanks: Blanks, reason: str) -> None:
    hashes, size = [], 0
    for run, start, length in pieces_of(snapshot):
        (before, size_before), (after, size_after) = prefixes[run][start], prefixes[run][start + length]
        hashes.append(((after - before * pow(BASE, length, PRIME)) % PRIME, length))
        size += size_after - size_before
    digest = to_bytes(concatenate(hashes))
    options, report = unpack(snapshot.options), unpack(snapshot.report)
    if digest != bytes(snapshot.digest):
        bury(snapshot.history_id, "version", bytes(snapshot.digest), reason)
    Snapshot.objects.filter(pk=snapshot.pk).update(
        digest=digest, size=size, options=pack(blanks.plain(options)), report=pack(blanks.plain(report))
    )


def heads(histories: Iterable[int]) -> list[Version]:
    wanted = History.objects.filter(pk__in=list(histories)).values("head")
    return list(Version.objects.select_related("snapshot").filter(pk__in=wanted))
