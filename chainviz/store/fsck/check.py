"""Check all rows of the store: their checksums, their content, and everything derived from it, which is computed again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from django.db import DatabaseError, connection
from django.db.models import Count, F

from chainviz.store.checksums import Checked
from chainviz.store.content.at_hand import forget
from chainviz.store.content.message_reader import pieces_of
from chainviz.store.content.pieces import Piece, join
from chainviz.store.content.uploads import unused
from chainviz.store.fsck.contents import RunCheck, upload_findings
from chainviz.store.fsck.findings import Finding, changed_rows, guarded
from chainviz.store.models import Draft, History, Outline, Purge, Run, Snapshot, Template, Upload, Version
from chainviz.store.outline.blocks import pack_rows, pack_sections
from chainviz.store.outline.build import compute
from chainviz.store.outline.cache import listing_of
from chainviz.store.outline.edition import RULES_EDITION
from chainviz.store.outline.hashes import concatenate, to_bytes
from chainviz.store.outline.measures import unpack_charts
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.transfer.exports import export

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
        name = _name(snapshot)
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
        wrong = f"The outline of {_name(snapshot)} is wrong; rebuild it with `chainviz fsck --rebuild`."
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


def _name(snapshot: Snapshot) -> str:
    number = snapshot.versions.values_list("number", flat=True).first()
    what = f"version {number}" if number is not None else f"step {snapshot.pk}"
    return f"{what.capitalize()} of chain {snapshot.history_id}"
