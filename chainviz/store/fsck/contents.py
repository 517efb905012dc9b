"""Check uploads against their sha256, and runs against the digests of their messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import Count, Max, Min

from chainviz.store.content.message_reader import BodyReader, StoredMessage, read_rows
from chainviz.store.content.message_shapes import pack_skeleton, preview
from chainviz.store.content.pieces import Piece
from chainviz.store.content.run_checksums import stored_hash
from chainviz.store.content.spans import message_digest
from chainviz.store.content.uploads import digests, is_whole, own_chunks
from chainviz.store.fsck.findings import Finding
from chainviz.store.models import Message, Run, RunChecksum, Upload, UploadChunk
from chainviz.store.outline.hashes import BASE, PRIME

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
            yield Finding("error", f"{_name(upload)} lacks some of its chunks.")
        else:
            whole.append(upload)
    for upload, digest, size in digests(whole):
        if size != upload.size:
            yield Finding("error", f"{_name(upload)} has {size} bytes instead of {upload.size}.")
        elif digest != upload.sha256:
            yield Finding("error", f"{_name(upload)} has changed: its bytes do not match the sha256 of the upload.")


def _name(upload: Upload) -> str:
    return f"Upload {upload.pk} ({upload.filename})"


class RunCheck:
    def __init__(self) -> None:
        self.prefixes: dict[int, list[int]] = {}
        """By run: the hash of its first n messages, for each n."""

    def run(self, run: Run) -> Iterator[Finding]:
        name = f"Run {run.pk} of chain {run.history_id}"
        place = Message.objects.filter(run=run).aggregate(
            first=Min("position"), last=Max("position"), n=Count("position")
        )
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
            elif (message.size, pack_skeleton(message), preview(message)) != (
                row.shape.size,
                row.skeleton,
                row.shape.preview,
            ):
                text = f"The stored facts of message {row.position} of {name} do not match the message."
                yield Finding("error", text)

    def hash(self, piece: Piece) -> int:
        prefixes = self.prefixes[piece.run]
        end = piece.start + piece.length
        return (prefixes[end] - prefixes[piece.start] * pow(BASE, piece.length, PRIME)) % PRIME
