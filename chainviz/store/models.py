"""The tables of the store. Content is stored as bytes, never in text or JSON columns, because it may contain NUL and lone surrogates.

Uploads, chunks, runs, templates, messages, bodies, snapshots and versions are append-only (checksums.py). Histories (their head),
drafts and steps change. Outlines, derived values and the search index are caches that can be dropped. The checksum of a run covers
its messages and bodies, the sha256 of an upload its chunks, the checksum of a draft its steps, and the checksum of a row everything
else (checksums.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import models
from django.db.models.functions import Now

from chainviz.store.checksums import Checked


class Upload(Checked):
    """An uploaded file, stored once per owner in chunks, as UTF-8. A later state of a growing file has chunks only for the bytes that
    differ; see content/uploads.py."""

    is_append_only = True

    owner = models.CharField(max_length=64)
    sha256 = models.CharField(max_length=64)
    """The digest of the original bytes, before any change of encoding."""
    size = models.BigIntegerField()
    """The number of original bytes."""
    length = models.BigIntegerField()
    """The number of bytes as UTF-8. Offsets of spans refer to these."""
    filename = models.TextField()
    encoding = models.CharField(max_length=32)
    bom = models.BooleanField()
    created = models.DateTimeField(db_default=Now())
    base = models.ForeignKey("self", models.PROTECT, null=True, related_name="later")
    """The first upload of a growing file; null for that upload itself, and for any other file."""
    start = models.BigIntegerField(null=True)
    """The offset at which its own bytes begin; null for 0. Earlier bytes are in earlier uploads with the same base."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "sha256"], name="upload_once_an_owner")]

    def __str__(self) -> str:
        return self.filename


class UploadChunk(models.Model):
    """The bytes of an upload between two multiples of 256 KiB. A later state of a growing file has only bytes after its start."""

    pk = models.CompositePrimaryKey("upload", "index")
    upload = models.ForeignKey(Upload, models.PROTECT, related_name="chunks", db_index=False)
    index = models.IntegerField()
    content = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.upload_id}/{self.index}"


class History(Checked):
    """The versions, drafts and content of one chain. Its title and permissions are stored elsewhere."""

    head = models.ForeignKey("Version", models.PROTECT, null=True, related_name="+", db_index=False)
    importing = models.DateTimeField(null=True)
    """The time at which its import last renewed its lease (transfer/leases.py); null after version 1 was saved."""
    edition = models.IntegerField(default=0, db_default=0)
    """The number of purges. Content that was read in an earlier edition must not be written in a later one."""
    created = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return str(self.pk)


class Run(Checked):
    """Messages written once: an import, or the new messages of one step."""

    is_append_only = True

    IMPORT, EDIT = "import", "edit"

    history = models.ForeignKey(History, models.PROTECT, related_name="runs")
    kind = models.CharField(max_length=8, choices=[(IMPORT, "import"), (EDIT, "edit")])
    format = models.CharField(max_length=64)
    upload = models.ForeignKey(Upload, models.PROTECT, null=True, related_name="runs")
    """The upload that the spans of its messages point into."""

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class Writing(models.Model):
    """The lease of a run that a long step is writing (transfer/leases.py)."""

    run = models.OneToOneField(Run, models.PROTECT, primary_key=True)
    alive = models.DateTimeField()
    """The time at which the writer last renewed the lease."""

    def __str__(self) -> str:
        return str(self.pk)


class Template(Checked):
    """The document around the messages of a run: its envelope, and where in the upload each message begins."""

    is_append_only = True

    run = models.OneToOneField(Run, models.PROTECT, primary_key=True)
    envelope = models.BinaryField()
    shell = models.BinaryField()
    """The bytes that the envelope points into, if it does not point into the upload, as for a converted chain."""
    starts = models.BinaryField()

    def __str__(self) -> str:
        return str(self.pk)


class Message(models.Model):
    """A message without its body: enough for the tree and for a closed row."""

    pk = models.CompositePrimaryKey("run", "position")
    run = models.ForeignKey(Run, models.PROTECT, db_index=False)
    position = models.IntegerField()
    digest = models.BinaryField()
    size = models.BigIntegerField()
    skeleton = models.BinaryField()
    """See content/message_shapes.py."""
    preview = models.TextField()
    source = models.BinaryField()
    """The positions of its fragments; see content/spans.py."""

    def __str__(self) -> str:
        return f"{self.run_id}/{self.position}"


class Body(models.Model):
    """The fragments of a message that are not in the upload."""

    pk = models.CompositePrimaryKey("run", "position")
    run = models.ForeignKey(Run, models.PROTECT, db_index=False)
    position = models.IntegerField()
    content = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.run_id}/{self.position}"


class RunChecksum(models.Model):
    """The checksum of a run, written at its end."""

    run = models.OneToOneField(Run, models.PROTECT, primary_key=True, related_name="checksum_of_messages")
    digest = models.BinaryField()
    """The digest of its messages' positions (Message.source) and bodies."""

    def __str__(self) -> str:
        return str(self.pk)


class Snapshot(Checked):
    """The content of a version or of a draft's step: pieces of runs, as a splice against the parent."""

    is_append_only = True

    history = models.ForeignKey(History, models.PROTECT, related_name="snapshots")
    parent = models.ForeignKey("self", models.PROTECT, null=True, related_name="+", db_index=False)
    key = models.ForeignKey("self", models.PROTECT, null=True, related_name="+")
    """The nearest ancestor that lists all its pieces; null if this snapshot does."""
    generation = models.IntegerField(default=0)
    """The number of steps since the key."""
    run = models.ForeignKey(Run, models.PROTECT, null=True, related_name="snapshots")
    """The run that its step wrote. A step that a rebase repeated keeps its run. Null for steps of earlier releases that only removed
    messages."""
    pieces = models.BinaryField()
    format = models.CharField(max_length=64)
    template = models.ForeignKey(Template, models.PROTECT, null=True, related_name="+", db_index=False)
    digest = models.BinaryField()
    messages = models.IntegerField()
    sections = models.IntegerField()
    pairs = models.IntegerField()
    size = models.BigIntegerField()
    stored = models.BigIntegerField()
    """The size in bytes of its messages in their source."""
    operation = models.CharField(max_length=64)
    """The operation of the step that made it; "" for an import."""
    options = models.BinaryField()
    report = models.BinaryField()
    created = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return str(self.pk)


class Version(Checked):
    """A saved state of a chain."""

    is_append_only = True

    history = models.ForeignKey(History, models.PROTECT, related_name="versions", db_index=False)
    number = models.IntegerField()
    snapshot = models.ForeignKey(Snapshot, models.PROTECT, related_name="versions", db_index=False)
    parent = models.ForeignKey("self", models.PROTECT, null=True, related_name="+", db_index=False)
    author = models.CharField(max_length=64)
    note = models.TextField()
    created = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["history", "number"], name="version_numbers_once")]

    def __str__(self) -> str:
        return f"version {self.number}"


class Draft(Checked):
    """A proposed next version: a base and steps. Only the first `cursor` steps are applied; undo and redo move the cursor."""

    history = models.ForeignKey(History, models.PROTECT, related_name="drafts")
    base = models.ForeignKey(Version, models.PROTECT, related_name="+", db_index=False)
    author = models.CharField(max_length=64)
    note = models.TextField(default="", blank=True)
    cursor = models.IntegerField(default=0)
    saved = models.ForeignKey(Version, models.SET_NULL, null=True, related_name="+", db_index=False)
    """The version that was saved from the draft; null for an open draft."""
    created = models.DateTimeField(db_default=Now())
    updated = models.DateTimeField(auto_now=True)
    steps_read: tuple[Step, ...] | None = None
    """All steps in order, cached by history/drafts.py."""
    last_step: Step | None = None
    """The step at the cursor, if only that step was read."""

    def __str__(self) -> str:
        return f"draft {self.pk}"

    def refresh_from_db(self, *args: Any, **options: Any) -> None:
        super().refresh_from_db(*args, **options)
        self.steps_read = self.last_step = None

    def covered(self) -> Iterable[object]:
        """Return the positions and snapshots of its steps."""
        if self.steps_read is not None:
            return [(step.pk, step.position, step.snapshot_id) for step in self.steps_read]
        return self.steps.order_by("position").values_list("pk", "position", "snapshot")


class Step(models.Model):
    """One operation of a draft. Options and report are in its snapshot."""

    draft = models.ForeignKey(Draft, models.CASCADE, related_name="steps", db_index=False)
    position = models.IntegerField()
    snapshot = models.ForeignKey(Snapshot, models.PROTECT, related_name="+", db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["draft", "position"], name="step_positions_once")]
        ordering = ["position"]

    def __str__(self) -> str:
        return f"step {self.position}"


class OutlineBlock(models.Model):
    """About 256 rows of an outline, shared by all snapshots with the same rows."""

    pk = models.CompositePrimaryKey("history", "digest")
    history = models.ForeignKey(History, models.CASCADE, db_index=False)
    digest = models.BinaryField(max_length=16)
    rows = models.BinaryField()
    hashes = models.BinaryField()
    """The sequence hash of each row's messages, which only edits read."""

    def __str__(self) -> str:
        return bytes(self.digest).hex()


class Outline(models.Model):
    """The listing of a snapshot's blocks, and its totals. A cache that outline/build.py rebuilds."""

    snapshot = models.OneToOneField(Snapshot, models.CASCADE, primary_key=True)
    rules = models.IntegerField()
    """The edition of the rules that it was built with. An outline of another edition is rebuilt."""
    listing = models.BinaryField()
    errors = models.IntegerField()
    warnings = models.IntegerField()
    verdicts = models.BinaryField()
    """The number of errors, warnings and infos for each provider."""
    charts = models.BinaryField()
    """The number of bytes for each role and tool."""

    def __str__(self) -> str:
        return str(self.pk)


class Derived(models.Model):
    """A value that was computed from a snapshot (derived.py). The table is a cache that can be dropped."""

    snapshot = models.ForeignKey(Snapshot, models.CASCADE, related_name="derived", db_index=False)
    kind = models.CharField(max_length=32)
    key = models.CharField(max_length=128)
    """The other inputs of the value, apart from the snapshot."""
    version = models.IntegerField()
    """The version of the code that computed the value. A value of another version is computed again."""
    content = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["snapshot", "kind", "key"], name="derived_once")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.snapshot_id}"


class SearchBlock(models.Model):
    """Messages `start : start + length` of a run, whose words are in the search index (search/)."""

    history = models.ForeignKey(History, models.CASCADE, related_name="search_blocks")
    run = models.ForeignKey(Run, models.PROTECT, related_name="+", db_index=False)
    start = models.IntegerField()
    length = models.IntegerField()
    digest = models.BinaryField()
    """The digest of its words, keyed with the site's secret."""
    is_first = models.BooleanField(default=False)
    """On SQLite: whether its words precede those of other blocks (search/full_text_tables.py)."""

    def __str__(self) -> str:
        return f"{self.run_id}/{self.start}+{self.length}"


class SearchState(models.Model):
    """The snapshot of a chain that the search index covers, and the edition of the rules by which its words were found."""

    history = models.OneToOneField(History, models.CASCADE, primary_key=True, related_name="search_state")
    snapshot = models.ForeignKey(Snapshot, models.CASCADE, related_name="+", db_index=False)
    rules = models.IntegerField()

    def __str__(self) -> str:
        return str(self.pk)


class Purge(models.Model):
    """A permanent deletion in progress. A transaction with a row in this table may change append-only tables."""

    reason = models.TextField()
    created = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.reason


class Tombstone(models.Model):
    """A record of permanently deleted content: a keyed digest that only the same bytes match."""

    history = models.BigIntegerField()
    kind = models.CharField(max_length=16)
    digest = models.CharField(max_length=64)
    reason = models.TextField()
    created = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.kind} of {self.history}"
