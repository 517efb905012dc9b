"""Looks at everything that is stored and tells what is wrong: hashes again, and computes again what is derived."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from django.db import DatabaseError, connection
from django.db.models import Count, F, Max, Min

from chainviz.core.documents.source import written
from chainviz.store.content.message_reader import BodyReader, StoredMessage, forget, pieces_of, read_rows
from chainviz.store.content.message_shapes import pack_skeleton, preview
from chainviz.store.content.pieces import Piece, join
from chainviz.store.content.spans import message_digest
from chainviz.store.content.uploads import UploadReader, is_whole
from chainviz.store.models import (
    Draft,
    History,
    Message,
    Outline,
    Purge,
    Run,
    Snapshot,
    Upload,
    UploadChunk,
    Version,
)
from chainviz.store.outline.blocks import pack_rows, pack_sections
from chainviz.store.outline.build import compute
from chainviz.store.outline.cache import RULES, listing_of
from chainviz.store.outline.hashes import BASE, PRIME, concatenate, to_bytes
from chainviz.store.outline.measures import unpack_charts
from chainviz.store.outline.reader import OutlineReader

GROUP = 200


@dataclass(frozen=True, slots=True)
class Finding:
    severity: Literal["error", "note"]
    text: str


class Fsck:
    def __init__(self) -> None:
        self._prefixes: dict[int, list[int]] = {}
        """Per run: the hash of its first n messages, for each n."""

    def findings(self) -> Iterator[Finding]:
        forget()
        for upload in Upload.objects.order_by("pk"):
            yield from self._guarded(f"Upload {upload.pk} ({upload.filename})", self._upload(upload))
        for run in Run.objects.filter(history__importing=None, writing=None).order_by("pk"):
            yield from self._guarded(f"Run {run.pk} of chain {run.history_id}", self._run(run))
        for snapshot in Snapshot.objects.order_by("pk"):
            yield from self._guarded(_name(snapshot), self._snapshot(snapshot))
        for history in History.objects.order_by("pk"):
            yield from self._history(history)
        yield from self._leftovers()

    def _guarded(self, what: str, findings: Iterator[Finding]) -> Iterator[Finding]:
        """Rotten bytes may break any reader; that is a finding, not a crash."""
        try:
            yield from findings
        except Exception as error:
            yield Finding("error", f"{what} cannot be read: {type(error).__name__}: {error}")

    def _upload(self, upload: Upload) -> Iterator[Finding]:
        name = f"Upload {upload.pk} ({upload.filename})"
        if not is_whole(upload) and upload.runs.exclude(history__importing=None).exists():
            return
        indexes = list(UploadChunk.objects.filter(upload=upload).order_by("index").values_list("index", flat=True))
        if indexes != list(range(len(indexes))):
            yield Finding("error", f"{name} lacks some of its chunks.")
            return
        digest, size = sha256(), 0
        for part in written((content for _, content in UploadReader(upload.pk).chunks()), upload.encoding):
            digest.update(part)
            size += len(part)
        if size != upload.size:
            yield Finding("error", f"{name} has {size} bytes instead of {upload.size}.")
        elif digest.hexdigest() != upload.sha256:
            yield Finding("error", f"{name} has changed: its bytes do not have the sha256 they came with.")

    def _run(self, run: Run) -> Iterator[Finding]:
        name = f"Run {run.pk} of chain {run.history_id}"
        place = Message.objects.filter(run=run).aggregate(
            first=Min("position"), last=Max("position"), n=Count("position")
        )
        count = place["n"]
        self._prefixes[run.pk] = prefixes = [0]
        if count and (place["first"], place["last"]) != (0, count - 1):
            yield Finding("error", f"{name} lacks some of its messages.")
            return
        bodies = BodyReader()
        group: list[StoredMessage] = []
        for row in read_rows([Piece(run.pk, 0, count)] if count else []):
            prefixes.append((prefixes[-1] * BASE + int.from_bytes(row.digest, "big") + 1) % PRIME)
            group.append(row)
            if len(group) == GROUP:
                yield from self._messages(name, bodies, group)
                group = []
        yield from self._messages(name, bodies, group)

    def _messages(self, name: str, bodies: BodyReader, rows: list[StoredMessage]) -> Iterator[Finding]:
        try:
            messages = bodies.messages(rows)
        except Exception as error:
            if len(rows) == 1:
                text = f"Message {rows[0].position} of {name} cannot be read: {type(error).__name__}: {error}"
                yield Finding("error", text)
                return
            for row in rows:
                yield from self._messages(name, BodyReader(), [row])
            return
        for row, message in zip(rows, messages, strict=True):
            if message_digest(message) != row.digest:
                yield Finding("error", f"Message {row.position} of {name} has changed: its digest does not fit.")
            elif (message.size, pack_skeleton(message), preview(message)) != (
                row.shape.size,
                row.skeleton,
                row.shape.preview,
            ):
                text = f"What is noted of message {row.position} of {name} is not what the message is."
                yield Finding("error", text)

    def _snapshot(self, snapshot: Snapshot) -> Iterator[Finding]:
        name = _name(snapshot)
        parent = snapshot.parent
        if parent is not None and (parent.pk >= snapshot.pk or parent.history_id != snapshot.history_id):
            yield Finding("error", f"{name} has a parent that cannot be its parent.")
            return
        pieces = pieces_of(snapshot)
        # what was written since the runs were looked at
        for run in Run.objects.filter(pk__in={piece.run for piece in pieces} - self._prefixes.keys()):
            yield from self._run(run)
        owners = dict(Run.objects.filter(pk__in={p.run for p in pieces}).values_list("pk", "history"))
        for piece in pieces:
            length = len(self._prefixes.get(piece.run, [0])) - 1
            if owners.get(piece.run) != snapshot.history_id or piece.start + piece.length > length:
                yield Finding("error", f"{name} points to messages that are not there.")
                return
        value = concatenate((self._hash(piece), piece.length) for piece in pieces)
        if to_bytes(value) != bytes(snapshot.digest) or sum(p.length for p in pieces) != snapshot.messages:
            yield Finding("error", f"{name} does not consist of the messages it was made of: its digest does not fit.")
        outline = Outline.objects.filter(snapshot=snapshot, rules=RULES).first()
        if outline is not None:
            yield from self._guarded(f"The outline of {name}", self._outline(snapshot, outline, pieces))

    def _hash(self, piece: Piece) -> int:
        prefixes = self._prefixes[piece.run]
        end = piece.start + piece.length
        return (prefixes[end] - prefixes[piece.start] * pow(BASE, piece.length, PRIME)) % PRIME

    def _outline(self, snapshot: Snapshot, outline: Outline, pieces: tuple[Piece, ...]) -> Iterator[Finding]:
        """That blocks are what their names say and fit the pieces; a head's is computed anew as well."""
        reader = OutlineReader.of(snapshot, outline)
        listing = listing_of(outline)
        reader.blocks.load_rows((entry.digest for entry in listing.rows), hashes=True)
        reader.blocks.load_sections(entry.digest for entry in listing.sections)
        wrong = f"The outline of {_name(snapshot)} is wrong; it can be made anew by `chainviz fsck --rebuild`."
        for entry in listing.rows:
            if pack_rows(reader.hashed_rows(entry)).entry != entry:
                yield Finding("error", wrong)
                return
        for entry in listing.sections:
            if pack_sections(reader.blocks.sections[entry.digest].sections).entry != entry:
                yield Finding("error", wrong)
                return
        counts = (listing.total.messages, listing.section_count, listing.total.pairs, listing.total.size)
        stored = (snapshot.messages, snapshot.sections, snapshot.pairs, snapshot.size)
        found = join(piece for entry in listing.rows for piece in reader.blocks.rows[entry.digest].pieces)
        if counts != stored or found != join(pieces):
            yield Finding("error", wrong)
        elif snapshot.versions.filter(pk=F("history__head")).exists():
            anew, charts = compute(snapshot)
            noted = unpack_charts(outline.charts)
            told = (listing.total, listing.section_count, noted.roles, noted.tools)
            if told != (anew.total, anew.section_count, charts.roles, charts.tools):
                yield Finding("error", wrong)

    def _history(self, history: History) -> Iterator[Finding]:
        versions = list(Version.objects.filter(history=history).select_related("snapshot").order_by("number"))
        name = f"Chain {history.pk}"
        if not versions:
            end = "is under way, or was broken off and will be cleared away" if history.importing else "never ended"
            yield Finding("note", f"{name} has no version: its import {end}.")
            return
        if [version.number for version in versions] != list(range(1, len(versions) + 1)):
            yield Finding("error", f"{name} lacks some of its versions.")
        if history.head_id != versions[-1].pk:
            yield Finding("error", f"The newest version of {name} is not the one it shows.")
        for before, version in zip([None, *versions], versions, strict=False):
            if version.parent_id != (before.pk if before is not None else None):
                yield Finding("error", f"Version {version.number} of {name} does not follow the one before it.")
            if version.snapshot.history_id != history.pk:
                yield Finding("error", f"Version {version.number} of {name} shows the content of another chain.")
        for draft in Draft.objects.filter(history=history).annotate(n=Count("steps")):
            if draft.cursor > draft.n:
                yield Finding("error", f"Draft {draft.pk} of {name} lacks some of its steps.")

    def _leftovers(self) -> Iterator[Finding]:
        if Purge.objects.exists():
            yield Finding("error", "A deletion for good was left open: nothing is protected until it is closed.")
        for upload in Upload.objects.filter(runs__isnull=True):
            yield Finding("note", f"Upload {upload.pk} ({upload.filename}) belongs to no chain.")
        try:
            connection.check_constraints()
        except DatabaseError as error:
            yield Finding("error", f"The database has rows that point nowhere: {error}")


def fsck() -> Iterator[Finding]:
    return Fsck().findings()


def _name(snapshot: Snapshot) -> str:
    number = snapshot.versions.values_list("number", flat=True).first()
    what = f"version {number}" if number is not None else f"step {snapshot.pk}"
    return f"{what.capitalize()} of chain {snapshot.history_id}"
