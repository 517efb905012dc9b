"""Check all rows of the store: their checksums, their content, and everything derived from it, which is computed again.

Uploads are checked against their sha256, runs against the digests of their messages. Each app above the store checks its own rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from django.db import DatabaseError, connection
from django.db.models import Count, F, Max, Min

from chainviz.store.checksums import Checked
from chainviz.store.content.at_hand import forget
from chainviz.store.content.message_reader import BodyReader, StoredMessage, pieces_of, read_rows
from chainviz.store.content.message_shapes import pack_skeleton, preview
from chainviz.store.content.pieces import Piece, join
from chainviz.store.content.runs import stored_hash
from chainviz.store.content.spans import message_digest
from chainviz.store.content.uploads import digests, is_whole, own_chunks, unused
from chainviz.store.models import (
    Draft,
    History,
    Message,
    Outline,
    Purge,
    Run,
    RunChecksum,
    Snapshot,
    Template,
    Upload,
    UploadChunk,
    Version,
)
from chainviz.store.outline.blocks import BASE, PRIME, concatenate, pack_rows, pack_sections, to_bytes
from chainviz.store.outline.build import compute
from chainviz.store.outline.cache import listing_of
from chainviz.store.outline.edition import RULES_EDITION
from chainviz.store.outline.measures import unpack_charts
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.transfer.exports import export


@dataclass(frozen=True, slots=True)
class Finding:
    severity: Literal["error", "note"]
    text: str


def guarded(what: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Damaged bytes may break any reader; that is a finding, not a crash."""
    try:
        yield from findings
    except Exception as error:
        yield Finding("error", f"{what} cannot be read: {type(error).__name__}: {error}")


Model = type[Checked]


def changed_rows(models: Sequence[Model]) -> Iterator[Finding]:
    """Yield a finding for each row whose checksum does not match its columns."""
    for model in models:
        name = f"{model._meta.verbose_name}".capitalize()
        for key in list(model._base_manager.order_by("pk").values_list("pk", flat=True)):
            yield from guarded(f"{name} {key}", _row(model, key, f"{name} {key}"))


def _row(model: Model, key: Any, name: str) -> Iterator[Finding]:
    # read twice, because what a checksum covers beside the row may be written in the meantime
    if not (_matches(model, key) or _matches(model, key)):
        yield Finding("error", f"{name} has changed: its checksum does not match its columns.")


def _matches(model: Model, key: Any) -> bool:
    row = model._base_manager.filter(pk=key).first()
    return row is None or (row.checksum is not None and bytes(row.checksum) == row.computed_checksum())


GROUP = 200
"""The number of messages that are read together."""


def upload_findings(uploads: Sequence[Upload]) -> Iterator[Finding]:
    """Check an upload and the later states of its file, the oldest first."""
    whole = []
    for upload in uploads:
        if not is_whole(upload) and upload.runs.exclude(history__importing=None, writing=None).exists():
            continue
        indexes = list(UploadChunk.objects.filter(upload=upload).order_by("index").values_list("index", flat=True))
        if indexes != list(own_chunks(upload)[: len(indexes)]):
            yield Finding("error", f"{_upload_name(upload)} lacks some of its chunks.")
        else:
            whole.append(upload)
    for upload, digest, size in digests(whole):
        if size != upload.size:
            yield Finding("error", f"{_upload_name(upload)} has {size} bytes instead of {upload.size}.")
        elif digest != upload.sha256:
            yield Finding("error", f"{_upload_name(upload)} has changed: its bytes do not match the sha256 of the upload.")


def _upload_name(upload: Upload) -> str:
    return f"Upload {upload.pk} ({upload.filename})"


class RunCheck:
    def __init__(self) -> None:
        self.prefixes: dict[int, list[int]] = {}
        """By run: the hash of its first n messages, for each n."""

    def run(self, run: Run) -> Iterator[Finding]:
        name = f"Run {run.pk} of chain {run.history_id}"
        place = Message.objects.filter(run=run).aggregate(first=Min("position"), last=Max("position"), n=Count("position"))
        count = place["n"]
        self.prefixes[run.pk] = prefixes = [0]
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
        stored = RunChecksum.objects.filter(run=run).values_list("digest", flat=True).first()
        if stored is None or bytes(stored) != stored_hash(run.pk):
            yield Finding("error", f"{name} has changed: its checksum does not match its messages.")

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
            elif (message.size, pack_skeleton(message), preview(message)) != (row.shape.size, row.skeleton, row.shape.preview):
                text = f"The stored facts of message {row.position} of {name} do not match the message."
                yield Finding("error", text)

    def hash(self, piece: Piece) -> int:
        prefixes = self.prefixes[piece.run]
        end = piece.start + piece.length
        return (prefixes[end] - prefixes[piece.start] * pow(BASE, piece.length, PRIME)) % PRIME


CHECKED = (Upload, History, Run, Template, Snapshot, Version, Draft)
M = TypeVar("M", bound=Checked)


class Fsck:
    def __init__(self) -> None:
        self._runs = RunCheck()

    def findings(self) -> Iterator[Finding]:
        forget()
        yield from changed_rows(CHECKED)
        for upload in every(Upload, base=None):
            states = [upload, *every(Upload, base=upload.pk)]
            yield from guarded(f"Upload {upload.pk} ({upload.filename})", upload_findings(states))
        for run in every(Run, history__importing=None, writing=None):
            yield from guarded(f"Run {run.pk} of chain {run.history_id}", self._runs.run(run))
        for snapshot in every(Snapshot):
            yield from guarded(f"Snapshot {snapshot.pk} of chain {snapshot.history_id}", self._snapshot(snapshot))
        for history in every(History):
            yield from guarded(f"Chain {history.pk}", self._history(history))
        for version in every(Version):
            name = f"Version {version.number} of chain {version.history_id}"
            yield from guarded(f"The export of {name}", _export(version))
        yield from guarded("The database", self._leftovers())

    def _snapshot(self, snapshot: Snapshot) -> Iterator[Finding]:
        name = _snapshot_name(snapshot)
        parent = snapshot.parent
        if parent is not None and (parent.pk >= snapshot.pk or parent.history_id != snapshot.history_id):
            yield Finding("error", f"{name} has a parent that cannot be its parent.")
            return
        pieces = pieces_of(snapshot)
        # runs that were added after the list of runs was read
        for run in Run.objects.filter(pk__in={piece.run for piece in pieces} - self._runs.prefixes.keys()):
            yield from self._runs.run(run)
        owners = dict(Run.objects.filter(pk__in={p.run for p in pieces}).values_list("pk", "history"))
        for piece in pieces:
            length = len(self._runs.prefixes.get(piece.run, [0])) - 1
            if owners.get(piece.run) != snapshot.history_id or piece.start + piece.length > length:
                yield Finding("error", f"{name} points to messages that are not there.")
                return
        value = concatenate((self._runs.hash(piece), piece.length) for piece in pieces)
        if to_bytes(value) != bytes(snapshot.digest) or sum(p.length for p in pieces) != snapshot.messages:
            yield Finding("error", f"{name} does not consist of the messages it was made of: its digest does not fit.")
        outline = Outline.objects.filter(snapshot=snapshot, rules=RULES_EDITION).first()
        if outline is not None:
            yield from guarded(f"The outline of {name}", self._outline(snapshot, outline, pieces))

    def _outline(self, snapshot: Snapshot, outline: Outline, pieces: tuple[Piece, ...]) -> Iterator[Finding]:
        """Check that blocks match their digests and the pieces. The outline of a head is computed again and compared."""
        reader = OutlineReader.of(snapshot, outline)
        listing = listing_of(outline)
        reader.blocks.load_rows((entry.digest for entry in listing.rows), hashes=True)
        reader.blocks.load_sections(entry.digest for entry in listing.sections)
        wrong = f"The outline of {_snapshot_name(snapshot)} is wrong; rebuild it with `chainviz fsck --rebuild`."
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
            fresh, charts = compute(snapshot)
            noted = unpack_charts(outline.charts)
            if (listing.total, listing.section_count, noted) != (fresh.total, fresh.section_count, charts):
                yield Finding("error", wrong)

    def _history(self, history: History) -> Iterator[Finding]:
        versions = list(Version.objects.filter(history=history).select_related("snapshot").order_by("number"))
        name = f"Chain {history.pk}"
        if not versions:
            end = "is still running, or was interrupted and will be removed" if history.importing else "never ended"
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
            yield Finding("error", "A permanent deletion did not finish: nothing is protected until it does.")
        for upload in unused(Upload.objects.filter(runs__isnull=True).values_list("pk", flat=True)):
            yield Finding("note", f"Upload {upload.pk} ({upload.filename}) belongs to no chain.")
        try:
            connection.check_constraints()
        except DatabaseError as error:
            yield Finding("error", f"The database has rows that point nowhere: {error}")


def _export(version: Version) -> Iterator[Finding]:
    """Make the export without keeping it; the rows that it is made of have checksums."""
    for _ in export(version.snapshot):
        pass
    yield from ()


def every(model: type[M], **conditions: Any) -> Iterator[M]:
    """Yield rows one by one. A row that cannot be read is a finding of `changed_rows` and is skipped here."""
    for key in list(model._base_manager.filter(**conditions).order_by("pk").values_list("pk", flat=True)):
        try:
            row = model._base_manager.get(pk=key)
        except Exception:
            continue
        yield row


def fsck() -> Iterator[Finding]:
    return Fsck().findings()


def _snapshot_name(snapshot: Snapshot) -> str:
    number = snapshot.versions.values_list("number", flat=True).first()
    what = f"version {number}" if number is not None else f"step {snapshot.pk}"
    return f"{what.capitalize()} of chain {snapshot.history_id}"


__all__ = ["fsck"]
