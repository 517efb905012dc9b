"""A chain in the library of a team, and an uploaded file before it becomes one. The messages are in the store, under `history`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from chainviz.accounts.models import Membership, Team
from chainviz.chains.library.models import ColumnChoice, Folder, SavedFilter, ShareLink, WorkingCopy
from chainviz.chains.uploads import staging
from chainviz.jobs.models import AsciiJSONField, Job
from chainviz.store.checksums import Checked, CheckedQuerySet
from chainviz.store.content.codec import unpack

__all__ = [
    "Arrival",
    "ArrivalQuerySet",
    "AuditEntry",
    "AuditFact",
    "AuditLog",
    "Chain",
    "ChainQuerySet",
    "ColumnChoice",
    "Folder",
    "LocalFile",
    "SavedFilter",
    "ShareLink",
    "WorkingCopy",
]

LONGEST_REQUEST = timedelta(minutes=5)


class ChainQuerySet(CheckedQuerySet["Chain"]):
    def visible_to(self, member: Membership) -> ChainQuerySet:
        return self.filter(team=member.team_id)

    def in_library(self) -> ChainQuerySet:
        return self.filter(trashed_at=None)

    def in_bin(self) -> ChainQuerySet:
        return self.exclude(trashed_at=None)


class Chain(Checked):
    class TitledBy(models.TextChoices):
        FILE = "file"
        CONTENT = "content"
        PERSON = "person"

    class Health(models.TextChoices):
        REFUSED = "refused"
        PART = "part"
        """Not everything in it was understood."""
        ACCEPTED = "accepted"

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="chains")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="chains")
    """The person who uploaded it."""
    title = models.CharField(max_length=200)
    """The title, which may quote the content (titles.py)."""
    titled_by = models.CharField(max_length=7, choices=TitledBy, default=TitledBy.FILE)
    part = models.CharField(max_length=200, default="", blank=True)
    """The name of the chain in its file, if the file has several."""
    history = models.BigIntegerField(unique=True)
    """The key of its versions in the store."""
    file_name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    pointer = models.TextField(default="", blank=True)
    """The JSON pointer from the root of the file to the message list."""
    is_branch = models.BooleanField(default=False)
    """The chain was copied from another one, which may be deleted, and not uploaded."""
    branched_from = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="branches")
    created_at = models.DateTimeField()
    trashed_at = models.DateTimeField(null=True)

    # Facts of the newest version, copied so that the library needs only one query.
    version = models.PositiveIntegerField(default=1)
    format = models.CharField(max_length=40)
    sections = models.PositiveIntegerField(default=0)
    pairs = models.PositiveIntegerField(default=0)
    messages = models.PositiveIntegerField(default=0)
    size = models.BigIntegerField(default=0)
    problems = models.PositiveIntegerField(default=0)
    """The number of errors in its structure."""
    warnings = models.PositiveIntegerField(default=0)
    verdicts = AsciiJSONField(default=dict)
    """The number of problems of each severity, by provider name."""
    rejections = models.PositiveIntegerField(default=0)
    """The number of providers that would refuse it."""
    provider = models.CharField(max_length=40, null=True)  # noqa: DJ001 (no checksum changes)
    """The provider of its next call; null until it is checked again."""
    own_problems = models.PositiveIntegerField(null=True)
    """The number of errors for that provider; null until it is checked again."""
    health = models.CharField(max_length=8, choices=Health, null=True)  # noqa: DJ001 (no checksum changes)
    """The verdict of that provider."""
    project = models.CharField(max_length=500, null=True)  # noqa: DJ001 (no checksum changes)
    """The recorded working folder; null if none is recorded."""
    model = models.CharField(max_length=200, default="", blank=True)
    """The model with the most calls, or the one that the document names."""
    tools = AsciiJSONField(default=list)
    """The name and number of calls of each tool, most called first."""
    calls = models.PositiveIntegerField(default=0)
    """The number of tool calls."""
    tool_errors = models.PositiveIntegerField(default=0)
    """The number of tool results marked as errors."""
    rules_broken = AsciiJSONField(default=list)
    """The names of the rules that it breaks. Rules of providers are named `provider:rule`."""
    unread = AsciiJSONField(default=list)
    """The unread content of its document, as rows (core/chain/surroundings.py); empty if the chain is fully read."""
    began_at = models.DateTimeField(null=True)
    """The time of its first message; null if no time is recorded."""
    duration = models.BigIntegerField(null=True)
    """Milliseconds from its first message to its last."""
    usage = AsciiJSONField(null=True)
    """Recorded tokens by model, in the order of core's TokenUsage; null if none are recorded."""
    tokens = models.BigIntegerField(null=True)
    """Recorded tokens of prompts and answers."""
    cost = models.BigIntegerField(null=True)
    """The cost at list prices, in millionths of a dollar; null if no tokens are recorded, or a model has no price."""
    prices = models.IntegerField(default=0)
    """The edition of the prices (facts.py)."""
    rules = models.IntegerField(default=0)
    """The edition of the rules with which it was checked (store/outline/edition.py)."""
    changed_at = models.DateTimeField()
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    objects = ChainQuerySet.as_manager()  # type: ignore[misc]

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "sha256", "pointer"], condition=Q(is_branch=False), name="chain_uploaded_once")
        ]
        indexes = [
            models.Index(fields=["team", "-changed_at"], condition=Q(trashed_at=None), name="chain_library"),
            # the fields that the library counts, sums and filters by most, because rows of chains are long
            models.Index(
                fields=[
                    "team",
                    "trashed_at",
                    "project",
                    "changed_at",
                    "health",
                    "format",
                    "messages",
                    "tokens",
                    "cost",
                    "duration",
                    "size",
                    "problems",
                    "warnings",
                ],
                name="chain_totals",
            ),
        ]

    def __str__(self) -> str:
        return f"chain {self.pk}"

    @property
    def file_line(self) -> str:
        """The name of the chain's file, if the title differs from it."""
        name = f"{self.file_name}: {self.part}" if self.part else self.file_name
        return "" if self.titled_by == self.TitledBy.FILE else name

    def is_called(self, typed: str) -> bool:
        """Return True if a typed confirmation equals its title or its file name."""
        return " ".join(typed.split()) in {" ".join(name.split()) for name in (self.title, self.file_name)}

    @property
    def all_problems(self) -> int:
        return self.problems + self.warnings

    @property
    def is_in_bin(self) -> bool:
        return self.trashed_at is not None


class LocalFile(models.Model):
    """The file of a chain on this machine, if it was named on the command line or opened from a folder."""

    chain = models.OneToOneField(Chain, on_delete=models.CASCADE, primary_key=True, related_name="local_file")
    path = models.TextField()
    """Absolute."""
    size = models.BigIntegerField(null=True)
    modified = models.BigIntegerField(null=True)
    """The modification time of the file when it was last read, in nanoseconds."""
    read_at = models.DateTimeField(null=True)
    took = models.FloatField(default=0)
    """The seconds that reading the file took."""
    is_behind = models.BooleanField(default=False)
    """The file has messages that the chain does not have, because the newest version was edited."""
    sentence = models.TextField(default="", blank=True)
    """The reason why the last read failed; "" if it did not."""

    def __str__(self) -> str:
        return self.path


class ArrivalQuerySet(models.QuerySet["Arrival"]):
    def visible_to(self, member: Membership) -> ArrivalQuerySet:
        """Select the person's own files. Nobody else sees a file before it becomes a chain."""
        return self.filter(team=member.team_id, owner=member.user_id)


class Arrival(models.Model):
    """An uploaded file, until it becomes a chain or is dismissed. Its bytes are in a separate folder (staging.py)."""

    class State(models.TextChoices):
        IMPORTING = "importing"
        CHOOSING = "choosing"
        FAILED = "failed"
        KNOWN = "known"
        DONE = "done"

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="arrivals")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="arrivals")
    name = models.CharField(max_length=255)
    size = models.BigIntegerField()
    created_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State, default=State.IMPORTING)
    waiting = models.CharField(max_length=64, default="", blank=True)
    """The name of the file with the waiting bytes; "" if they were deleted."""
    format = models.CharField(max_length=40, default="", blank=True)
    """The format that a person chose; "" to detect it automatically."""
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, related_name="+")
    chain = models.ForeignKey(Chain, on_delete=models.SET_NULL, null=True, related_name="+")
    """The chain that the file became, or the existing chain with the same content."""
    found = AsciiJSONField(default=list)
    """The message lists to choose from, one row each."""
    made = models.PositiveIntegerField(default=0)
    added = AsciiJSONField(default=list)
    """The numbers of the chains that were newly added from it."""
    failure = AsciiJSONField(default=dict)
    """The error: its sentence, line and column, the source lines around it, and the possible actions."""

    objects = ArrivalQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.name} ({self.state})"

    @property
    def can_retry(self) -> bool:
        return self.is_failed and bool(self.waiting)

    @property
    def has_stopped(self) -> bool:
        """Whether its job, or the server, ended without a result."""
        if self.state != self.State.IMPORTING:
            return False
        if self.job is None:
            return timezone.now() - self.created_at > LONGEST_REQUEST
        return self.job.is_finished

    @property
    def is_running(self) -> bool:
        return self.state == self.State.IMPORTING and not self.has_stopped

    @property
    def is_failed(self) -> bool:
        return self.state == self.State.FAILED or self.has_stopped

    @property
    def sentence(self) -> str:
        """The reason why it failed."""
        if self.has_stopped and self.job is not None:
            return self.job.message or "The import was stopped."
        return str(self.failure.get("sentence", ""))

    @property
    def percent(self) -> int:
        return staging.read_progress(self.waiting)[0]

    @property
    def doing(self) -> str:
        return staging.read_progress(self.waiting)[1]

    @property
    def first_messages(self) -> list[staging.FirstMessage]:
        """The first messages of a big file, while it is imported."""
        return staging.read_first_messages(self.waiting)

    @property
    def salvage_label(self) -> str:
        count = self.failure.get("salvage", 0)
        return "Keep the complete message" if count == 1 else f"Keep the {count:,} complete messages"


class AuditEntry(Checked):
    """A record of a removal from a chain: decisions and sizes, never content. Append-only (store/append_only.py), except that a purge
    blanks tool names that contain a value."""

    is_append_only = True

    chain_key = models.BigIntegerField(db_index=True)
    """The number of the chain, not a foreign key, so that the entry outlives the chain."""
    who = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()
    act = models.CharField(max_length=32)
    version = models.PositiveIntegerField(null=True)
    """The version that was changed."""
    draft_key = models.BigIntegerField(null=True)
    packed = models.BinaryField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.act} in chain {self.chain_key}"

    @property
    def record(self) -> Any:
        """The facts of the entry, including those that became known later."""
        found = unpack(self.packed)
        for fact in self.later.all():
            found |= unpack(fact.packed)
        return found


class AuditFact(Checked):
    """A later fact of an entry, such as the version that was saved from its draft. Append-only too."""

    is_append_only = True

    entry = models.ForeignKey(AuditEntry, on_delete=models.PROTECT, related_name="later")
    at = models.DateTimeField()
    packed = models.BinaryField()

    class Meta(Checked.Meta):
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"later fact {self.pk} of audit entry {self.entry_id}"


class AuditLog(Checked):
    """The number of entries and later facts in the audit of a chain, so that fsck notices a missing one."""

    chain_key = models.BigIntegerField(primary_key=True)
    """The number of the chain, not a foreign key, like that of its entries."""
    entries = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.entries} entries of chain {self.chain_key}"
