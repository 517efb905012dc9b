"""Purge values: remove their bytes from an upload, and from all versions, drafts and steps of the chains that came from it.

The replacement has the same length, so versions, drafts, paths and offsets stay. Digests are recomputed, and the old ones become keyed
tombstones. Other chains of the same file, including branches, share its bytes and are purged too. Uploads are read and blanked chunk
by chunk, so only the longest message is in memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.db import models
from django.db.models import F, Q

from chainviz.core.chain.messages import PART_KINDS
from chainviz.core.counts import count_text
from chainviz.core.errors import ChainError, Refused
from chainviz.store.content.at_hand import forget
from chainviz.store.content.codec import pack, pack_body, unpack, unpack_body
from chainviz.store.content.message_reader import BodyReader, StoredMessage, pieces_of, read_rows
from chainviz.store.content.message_shapes import clean, pack_skeleton, preview
from chainviz.store.content.pieces import Piece
from chainviz.store.content.runs import renew_run_checksum
from chainviz.store.content.spans import message_digest, unpack_spans
from chainviz.store.content.uploads import digests, together, with_all_states
from chainviz.store.models import (
    Body,
    Derived,
    Draft,
    History,
    Message,
    Outline,
    OutlineBlock,
    Run,
    RunChecksum,
    Snapshot,
    Template,
    Upload,
    Version,
    Writing,
)
from chainviz.store.outline.blocks import BASE, PRIME, concatenate, to_bytes
from chainviz.store.purge.blanking import Blanks, Stretches, blank_uploads, count_in
from chainviz.store.purge.delete import bury, purging, remove
from chainviz.store.search import index as search

GROUP = 200
TWIN = (
    "Nothing was purged: without the values, the file would have the same bytes as another file in the library, and each file"
    " is stored once. Permanently delete one of the two chains, then purge again."
)
STRUCTURE = "One of these values is needed to read the messages, such as a JSON key; nothing was purged."

Report = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Reach:
    """The content that a purge would change."""

    histories: frozenset[int]
    uploads: frozenset[int]
    places: int
    """The number of occurrences in uploads, versions and drafts."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """An upload's digest before and after."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Family:
    """Chains that can only be purged together, because they share the bytes of their uploads."""

    histories: frozenset[int]
    uploads: frozenset[int]


def family(histories: Iterable[int]) -> Family:
    """Return these chains, and all chains that share an upload with one of them."""
    known, uploads = frozenset(histories), frozenset[int]()
    while True:
        shared = Run.objects.filter(history__in=known, upload__isnull=False).values_list("upload", flat=True)
        found = with_all_states(shared.distinct())
        others = known | frozenset(Run.objects.filter(upload__in=found).values_list("history", flat=True).distinct())
        if others == known and found == uploads:
            return Family(known, uploads)
        known, uploads = others, found


def reach(histories: Iterable[int], values: Iterable[str], report: Report = lambda done, text: None) -> Reach:
    """Return what a purge would change, without changing anything."""
    related, blanks = family(histories), Blanks(values)
    places = 0
    for number, pk in enumerate(sorted(related.uploads)):
        places += count_in(pk, blanks, _share(report, number, len(related.uploads) + 1))
    bodies = Body.objects.filter(run__history__in=related.histories).values_list("content", flat=True)
    for body in bodies.iterator(chunk_size=20):
        places += blanks.count((unpack_body(body),))
    shells = Template.objects.filter(run__history__in=related.histories).values_list("shell", flat=True)
    for shell in shells.iterator(chunk_size=1):
        places += blanks.count((bytes(shell),))
    report(1, f"{count_text(places, 'place')} found")
    return Reach(related.histories, related.uploads, places)


def others_with(owner: str, left_out: Iterable[int], values: Iterable[str], report: Report = lambda done, text: None) -> list[Reach]:
    """Find the families of an owner's other uploads that contain a value. New texts in their drafts are not searched, but they are purged
    with the family."""
    blanks = Blanks(values)
    uploads = list(Upload.objects.filter(owner=owner).exclude(pk__in=left_out).order_by("pk").values_list("pk", flat=True))
    found = []
    for number, upload in enumerate(uploads):
        places = count_in(upload, blanks, _share(report, number, len(uploads)))
        if places:
            runs = Run.objects.filter(upload=upload, history__importing=None).values_list("history", flat=True)
            found.append(Reach(frozenset(runs.distinct()), frozenset((upload,)), places))
    return found


def _share(report: Report, number: int, count: int) -> Callable[[float], None]:
    def report_part(done: float) -> None:
        report((number + done) / count, f"file {number + 1} of {count}" if count > 1 else "reading the file")

    return report_part


def purge_values(histories: Iterable[int], values: Iterable[str], *, reason: str) -> tuple[Reach, tuple[Renamed, ...]]:
    """Purge values from a family. Raises Refused, and changes nothing, if a value is needed to read a message."""
    blanks = Blanks(values)
    with purging(reason):
        related = _hold(histories)
        search.remove(related.histories)
        first = min(related.histories)
        renamed: list[Renamed] = []
        changed: dict[int, Stretches] = {}
        places = 0
        for base in Upload.objects.filter(pk__in=related.uploads, base=None).order_by("pk"):
            states = list(together(base))
            changed |= dict.fromkeys((each.pk for each in states), stretches := blank_uploads(states, blanks))
            places += len(stretches)
            renamed += _rename(states, first, reason) if len(stretches) else ()
        for pk in sorted(related.uploads):
            _rename_file(pk, blanks)
        for number in sorted(related.histories):
            places += _history(number, blanks, changed, reason)
    forget()
    return Reach(related.histories, related.uploads, places), tuple(renamed)


def _hold(histories: Iterable[int]) -> Family:
    """Lock a family until the transaction ends. Imports and steps in progress are aborted.

    Locks are taken in the same order as by steps and saves: draft, history, upload. Whoever read content before can see from the
    edition of the history that it must not be written any more.
    """
    while True:
        related = family(histories)
        mine = Q(history__in=related.histories)
        for rows in (
            Draft.objects.filter(mine),
            History.objects.filter(pk__in=related.histories),
            Upload.objects.filter(pk__in=related.uploads),
        ):
            list(rows.select_for_update().order_by("pk").values_list("pk", flat=True))
        if family(histories) == related:
            break
    History.objects.filter(pk__in=related.histories).update(edition=F("edition") + 1)
    unfinished = History.objects.filter(pk__in=related.histories, importing__isnull=False)
    gone = frozenset(unfinished.values_list("pk", flat=True))
    _break_off(Run.objects.filter(writing__isnull=False, history__in=related.histories))
    _break_off(Run.objects.filter(history__in=gone))
    remove(OutlineBlock.objects.filter(history__in=gone))
    remove(History.objects.filter(pk__in=gone))
    return Family(related.histories - gone, related.uploads)


def _break_off(unfinished: models.QuerySet[Run]) -> None:
    runs = list(unfinished.values_list("pk", flat=True))
    for model in (Body, Message, Writing, RunChecksum):
        remove(model._default_manager.filter(run__in=runs))
    remove(Run.objects.filter(pk__in=runs))


def _rename(states: Sequence[Upload], history: int, reason: str) -> Iterator[Renamed]:
    """Update the digests of changed uploads. Yield each old and new digest."""
    for upload, digest, size in list(digests(states)):
        if digest != upload.sha256:
            if Upload.objects.filter(owner=upload.owner, sha256=digest).exclude(pk=upload.pk).exists():
                raise Refused(TWIN)
            bury(history, "upload", bytes.fromhex(upload.sha256), reason)
            Upload.objects.filter(pk=upload.pk).update(sha256=digest, size=size)
            yield Renamed(upload.sha256, digest)


def _rename_file(pk: int, blanks: Blanks) -> None:
    old = Upload.objects.values_list("filename", flat=True).get(pk=pk)
    if (name := clean(blanks.text(old))) != old:
        Upload.objects.filter(pk=pk).update(filename=name)


def _history(number: int, blanks: Blanks, changed: dict[int, Stretches], reason: str) -> int:
    """Blank the values of a history, and return the number of places outside its uploads."""
    places = 0
    is_other = False
    runs = list(Run.objects.filter(history=number).order_by("pk"))
    for run in runs:
        rewritten = _bodies(run, blanks)
        places += sum(rewritten.values()) + _template(run, blanks)
        if rewritten:
            renew_run_checksum(run.pk)
        forget()
        is_other |= _messages(run, rewritten, changed.get(run.upload_id or 0, Stretches()))
    prefixes = {run.pk: _prefixes(run) for run in runs} if is_other else {}
    for snapshot in Snapshot.objects.filter(history=number).order_by("pk"):
        _retell(snapshot, blanks)
        if is_other:
            _digest(snapshot, prefixes, reason)
    remove(Derived.objects.filter(snapshot__history=number))
    remove(Outline.objects.filter(snapshot__history=number))
    remove(OutlineBlock.objects.filter(history=number))
    for model in (Version, Draft):
        for pk, text in model._default_manager.filter(history=number).exclude(note="").values_list("pk", "note"):
            if blanks.text(text) != text:
                model._default_manager.filter(pk=pk).update(note=blanks.text(text))
    return places


def _bodies(run: Run, blanks: Blanks) -> dict[int, int]:
    """Blank the values in bodies. Return the positions of the changed bodies, with the number of occurrences in each."""
    changed = {}
    positions = list(Body.objects.filter(run=run).order_by("position").values_list("position", flat=True))
    for position in positions:
        row = Body.objects.filter(run=run, position=position)
        content = unpack_body(row.values_list("content", flat=True).get())
        places = blanks.count((content,))
        if places:
            changed[position] = places
            row.update(content=pack_body(blanks.blank(content)))
    return changed


def _template(run: Run, blanks: Blanks) -> int:
    template = Template.objects.filter(run=run).first()
    if template is None:
        return 0
    envelope, shell = unpack_body(template.envelope), bytes(template.shell)
    new_envelope, new_shell = blanks.blank(envelope), blanks.blank(shell)
    if (new_envelope, new_shell) != (envelope, shell):
        Template.objects.filter(run=run).update(envelope=pack_body(new_envelope), shell=new_shell)
    return blanks.count((shell,))


def _messages(run: Run, rewritten: Container[int], changed: Stretches) -> bool:
    """Update the stored facts of a run's changed messages. Return True if there are any."""
    rows = Message.objects.filter(run=run).order_by("position")
    sources = rows.values_list("position", "source").iterator(chunk_size=GROUP)
    touched = [position for position, source in sources if position in rewritten or _is_touched(bytes(source), changed)]
    bodies = BodyReader()
    for start in range(0, len(touched), GROUP):
        group = list(read_rows(Piece(run.pk, position, 1) for position in touched[start : start + GROUP]))
        for row, (digest, size, skeleton, shown) in zip(group, _noted(bodies, group), strict=True):
            rows.filter(position=row.position).update(digest=digest, size=size, skeleton=skeleton, preview=shown)
    return bool(touched)


def _is_touched(source: bytes, changed: Stretches) -> bool:
    spans = unpack_spans(source) if len(changed) else ()
    return any(span.start >= 0 and changed.touch(span.start - span.lead, span.start + span.length) for span in spans)


def _prefixes(run: Run) -> list[tuple[int, int]]:
    """Return for each n the hash and size of the run's first n messages."""
    prefixes = [(0, 0)]
    rows = Message.objects.filter(run=run).order_by("position").values_list("digest", "size")
    for digest, size in rows.iterator(chunk_size=GROUP):
        value, total = prefixes[-1]
        prefixes.append(((value * BASE + int.from_bytes(bytes(digest), "big") + 1) % PRIME, total + size))
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


def _retell(snapshot: Snapshot, blanks: Blanks) -> None:
    """Blank the values in the options and the report of the step that made a snapshot."""
    before = (unpack(snapshot.options), unpack(snapshot.report))
    options, report = blanked = (blanks.plain(before[0]), blanks.plain(before[1]))
    if blanked != before:
        Snapshot.objects.filter(pk=snapshot.pk).update(options=pack(options), report=pack(report))


def _digest(snapshot: Snapshot, prefixes: dict[int, list[tuple[int, int]]], reason: str) -> None:
    hashes, size = [], 0
    for run, start, length in pieces_of(snapshot):
        (before, size_before), (after, size_after) = prefixes[run][start], prefixes[run][start + length]
        hashes.append(((after - before * pow(BASE, length, PRIME)) % PRIME, length))
        size += size_after - size_before
    digest = to_bytes(concatenate(hashes))
    if digest != bytes(snapshot.digest):
        bury(snapshot.history_id, "version", bytes(snapshot.digest), reason)
        Snapshot.objects.filter(pk=snapshot.pk).update(digest=digest, size=size)


def heads(histories: Iterable[int]) -> list[Version]:
    wanted = History.objects.filter(pk__in=list(histories)).values("head")
    return list(Version.objects.select_related("snapshot").filter(pk__in=wanted))
