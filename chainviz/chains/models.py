"""A chain in the library of a team, and a file on its way there. The messages themselves are in the store, under `history`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from chainviz.accounts.models import Membership, Team
from chainviz.chains.folders.models import Folder
from chainviz.chains.library.models import ColumnChoice, SavedFilter
from chainviz.chains.shares.models import ShareLink
from chainviz.chains.uploads import staging
from chainviz.chains.working_copies.models import WorkingCopy
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
        """Not all of it was understood."""
        ACCEPTED = "accepted"

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="chains")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="chains")
    """Who uploaded it."""
    title = models.CharField(max_length=200)
    """May quote the content (titles.py)."""
    titled_by = models.CharField(max_length=7, choices=TitledBy, default=TitledBy.FILE)
    part = models.CharField(max_length=200, default="", blank=True)
    """Which chain of its file it is, where that holds several."""
    history = models.BigIntegerField(unique=True)
    """Key of its versions in the store."""
    file_name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    pointer = models.TextField(default="", blank=True)
    """JSON pointer from the file's root to the message list."""
    is_branch = models.BooleanField(default=False)
    """Copied from a chain, which may be gone, and not uploaded."""
    branched_from = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="branches")
    created_at = models.DateTimeField()
    trashed_at = models.DateTimeField(null=True)

    # What the library shows of the newest version: a copy, so that the table is one query.
    version = models.PositiveIntegerField(default=1)
    format = models.CharField(max_length=40)
    sections = models.PositiveIntegerField(default=0)
    pairs = models.PositiveIntegerField(default=0)
    messages = models.PositiveIntegerField(default=0)
    size = models.BigIntegerField(default=0)
    problems = models.PositiveIntegerField(default=0)
    """Errors of its structure; what is odd but allowed counts as a warning."""
    warnings = models.PositiveIntegerField(default=0)
    verdicts = AsciiJSONField(default=dict)
    """By provider name: how many problems of each severity it has with the chain."""
    rejections = models.PositiveIntegerField(default=0)
    """Providers that would reject it."""
    provider = models.CharField(max_length=40, null=True)  # noqa: DJ001 (no checksum changes)
    """The provider of its next call; null until it is judged again."""
    own_problems = models.PositiveIntegerField(null=True)
    """Errors of that provider; null until it is judged again."""
    health = models.CharField(max_length=8, choices=Health, null=True)  # noqa: DJ001 (no checksum changes)
    """What that provider says of it."""
    project = models.CharField(max_length=500, null=True)  # noqa: DJ001 (no checksum changes)
    """The working folder that its file records; null where it records none."""
    model = models.CharField(max_length=200, default="", blank=True)
    """The model that was called most, or that the document names."""
    tools = AsciiJSONField(default=list)
    """Name and calls of each tool, the one called most first."""
    calls = models.PositiveIntegerField(default=0)
    """Of tools."""
    tool_errors = models.PositiveIntegerField(default=0)
    """Tool results that are marked as errors."""
    rules_broken = AsciiJSONField(default=list)
    """Names of the rules that it breaks; those of a provider as `provider:rule`."""
    unread = AsciiJSONField(default=list)
    """What of its document was not read, as rows (core/chain/unread.py); empty where the chain is fully read."""
    began_at = models.DateTimeField(null=True)
    """Time of its first message; null where no time is recorded."""
    duration = models.BigIntegerField(null=True)
    """Milliseconds from its first message to its last."""
    usage = AsciiJSONField(null=True)
    """Recorded tokens by model, in the order of core's TokenUsage; null where none are recorded."""
    tokens = models.BigIntegerField(null=True)
    """Recorded tokens of prompts and answers."""
    cost = models.BigIntegerField(null=True)
    """At list prices, in millionths of a dollar; null where no tokens are recorded, or a model has no price."""
    prices = models.IntegerField(default=0)
    """The edition of the prices (facts.py)."""
    rules = models.IntegerField(default=0)
    """The edition of the rules by which it was judged (store/outline/edition.py)."""
    changed_at = models.DateTimeField()
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    objects = ChainQuerySet.as_manager()  # type: ignore[misc]

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "sha256", "pointer"], condition=Q(is_branch=False), name="chain_uploaded_once"
            ),
        ]
        indexes = [
            models.Index(fields=["team", "-changed_at"], condition=Q(trashed_at=None), name="chain_library"),
            # all that the library counts, sums and filters by most: rows of chains are long
            models.Index(
                fields=[
                    "team", "trashed_at", "project", "changed_at", "health", "format", "messages", "tokens", "cost", "duration",
                    "size", "problems", "warnings",
                ],
                name="chain_totals",
            ),
        ]

    def __str__(self) -> str:
        return f"chain {self.pk}"

    @property
    def file_line(self) -> str:
        """The chain's file, if the title names something else."""
        name = f"{self.file_name}: {self.part}" if self.part else self.file_name
        return "" if self.titled_by == self.TitledBy.FILE else name

    def is_called(self, typed: str) -> bool:
        """Whether somebody typed its title, or its file's name, to confirm."""
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
    """In nanoseconds: what the file system said when it was read last."""
    read_at = models.DateTimeField(null=True)
    took = models.FloatField(default=0)
    """Seconds that reading it took."""
    is_behind = models.BooleanField(default=False)
    """The file has messages that the chain has not, since the newest version was edited."""
    sentence = models.TextField(default="", blank=True)
    """Why it could not be read last; "" where it could."""

    def __str__(self) -> str:
        return self.path


class ArrivalQuerySet(models.QuerySet["Arrival"]):
    def visible_to(self, member: Membership) -> ArrivalQuerySet:
        """A person's own: nobody else sees a file before it is a chain."""
        return self.filter(team=member.team_id, owner=member.user_id)


class Arrival(models.Model):
    """An uploaded file until it is a chain or is forgotten. Its bytes wait in a folder of their own (staging.py)."""

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
    """Name of the waiting bytes; empty when they are gone."""
    format = models.CharField(max_length=40, default="", blank=True)
    """The format a person chose; empty: detected automatically."""
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, related_name="+")
    chain = models.ForeignKey(Chain, on_delete=models.SET_NULL, null=True, related_name="+")
    """The chain this file became, or the one that already holds it."""
    found = AsciiJSONField(default=list)
    """What can be chosen from: a row a message list."""
    made = models.PositiveIntegerField(default=0)
    added = AsciiJSONField(default=list)
    """The numbers of the chains that were made of it and were not in the library before."""
    failure = AsciiJSONField(default=dict)
    """Sentence, line, column, the source lines around it, and what can still be done."""

    objects = ArrivalQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.name} ({self.state})"

    @property
    def can_retry(self) -> bool:
        return self.is_failed and bool(self.waiting)

    @property
    def has_stopped(self) -> bool:
        """Its job, or the server, ended without a word to us."""
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
    def salvage_label(self) -> str:
        count = self.failure.get("salvage", 0)
        return "Keep the complete message" if count == 1 else f"Keep the {count:,} complete messages"


class AuditEntry(Checked):
    """A removal from a chain: decisions and sizes, never content. Append-only, see store/append_only.py; a purge blanks
    a value that was the name of a tool."""

    is_append_only = True

    chain_key = models.BigIntegerField(db_index=True)
    """Of the chain; a number, so that the entry outlives it."""
    who = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()
    act = models.CharField(max_length=32)
    version = models.PositiveIntegerField(null=True)
    """The version it was done to."""
    draft_key = models.BigIntegerField(null=True)
    packed = models.BinaryField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.act} in chain {self.chain_key}"

    @property
    def record(self) -> Any:
        """What was noted then, with the facts that became known later."""
        found = unpack(self.packed)
        for fact in self.later.all():
            found |= unpack(fact.packed)
        return found


class AuditFact(Checked):
    """What became known of an entry later, such as the version that its draft became. Append-only too."""

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
    """Of the chain; a number, like that of its entries."""
    entries = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.entries} entries of chain {self.chain_key}"
