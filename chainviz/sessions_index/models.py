"""The sessions on disk, and their facts for the library and the overview. Everything can be read again from the files."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import F
from django.utils import timezone

from chainviz.accounts.models import Membership, Team
from chainviz.jobs.models import AsciiJSONField
from chainviz.store.prepared_query import PreparedQuery


class Source(models.Model):
    """A source of sessions: the store of an agent, or a folder that a person or the server's settings named."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="sources")
    agent = models.CharField(max_length=40, default="", blank=True)
    """Name of the agent (core/sources); "" for a folder."""
    path = models.TextField(default="", blank=True)
    """The absolute path of the folder; "" for an agent, whose places are detected."""
    pattern = models.TextField(default="", blank=True)
    """The pattern of session files in the folder; "" for all possible transcripts."""
    chosen_at = models.DateTimeField(default=timezone.now)
    listed_at = models.DateTimeField(null=True)
    """The time at which its sessions were last listed."""
    is_stopped = models.BooleanField(default=False)
    """A person stopped the reading. Unread sessions wait until somebody continues it."""
    sentence = models.TextField(default="", blank=True)
    """The reason why the source, or one of its places, could not be listed; "" if it could."""
    revision = models.BigIntegerField(default=0)
    """A number that grows whenever a session of the source changes here, so that pages can keep sums over all sessions."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "agent", "path", "pattern"], name="source_chosen_once")]

    def __str__(self) -> str:
        return f"source {self.pk}"


def note_changes(**sources: object) -> None:
    """Note that sessions of some sources have changed, in the transaction that changes them."""
    Source.objects.filter(**sources).update(revision=F("revision") + 1)


Revision = tuple[tuple[int, int], ...]


def revision_of(team: int) -> Revision:
    """Return a value that differs after every change of a team's sessions."""
    return tuple(_revisions(team))


_revisions = PreparedQuery[Any](lambda team: Source.objects.filter(team=team).order_by("pk").values_list("pk", "revision"))


class SessionQuerySet(models.QuerySet["Session"]):
    def visible_to(self, member: Membership) -> SessionQuerySet:
        """Select the sessions that a person may see. Sessions are files of this machine, so they need the permission for files."""
        return self.filter(team=member.team_id) if member.may("files") else self.none()

    def unread(self) -> SessionQuerySet:
        """Select the sessions that are new, or have changed since they were read."""
        return self.exclude(read_state=F("state"))

    def refused(self) -> SessionQuerySet:
        return self.filter(health=Session.Health.REFUSED)


SUMMED = (
    "agent", "health", "ending", "secrets", "size", "duration", "tokens", "cost", "began_at", "changed_at", "context", "window",
    "state", "read_state",
)  # fmt: skip
"""Columns that pages count and sum over all sessions: an index that has them is read in place of the rows, which are long."""

SUMMED_BY_PROJECT = ("agent", "health", "messages", "tokens", "cost", "duration")


class Session(models.Model):
    class Health(models.TextChoices):
        UNREAD = ""
        REFUSED = "refused"
        """Its own API would refuse its next request."""
        PART = "part"
        """Not everything in it was understood."""
        ACCEPTED = "accepted"
        FAILED = "failed"
        """It could not be read; `sentence` says why."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="sessions")
    agent = models.CharField(max_length=40)
    """Name of the agent whose store it is in; "" for a file of a folder."""
    path = models.TextField()
    """The absolute path of its file, its folder of events, or its database."""
    key = models.CharField(max_length=200)
    """Its id in the store."""
    in_database = models.BooleanField(default=False)
    state = models.CharField(max_length=48)
    """Its size and last change in its store. If they differ from `read_state`, the session must be read again."""
    read_state = models.CharField(max_length=48, default="", blank=True)
    """The state of the session when it was last read."""
    size = models.BigIntegerField(default=0)
    changed_at = models.DateTimeField()

    title = models.CharField(max_length=200, default="", blank=True)
    project = models.CharField(max_length=500, default="", blank=True)
    """The recorded working folder, or the folder of its file."""
    parent = models.CharField(max_length=200, default="", blank=True)
    """The key of the session whose agent started it."""
    format = models.CharField(max_length=40, default="", blank=True)
    provider = models.CharField(max_length=40, default="", blank=True)
    """The provider whose API the session uses, and whose rules were checked."""
    model = models.CharField(max_length=200, default="", blank=True)
    """The model with the most calls."""
    messages = models.PositiveIntegerField(null=True)
    began_at = models.DateTimeField(null=True)
    duration = models.BigIntegerField(null=True)
    """The recorded milliseconds from its first message to its last."""
    input = models.BigIntegerField(null=True)
    """Recorded prompt tokens, including those from a cache; null if none are recorded."""
    cached = models.BigIntegerField(null=True)
    output = models.BigIntegerField(null=True)
    tokens = models.BigIntegerField(null=True)
    """Input and output tokens together."""
    cost = models.BigIntegerField(null=True)
    """The cost at list prices, in millionths of a dollar; null if no tokens are recorded or a model has no price."""
    prices = models.IntegerField(default=0)
    """The edition of the prices for `cost`."""
    context = models.BigIntegerField(null=True)
    """The tokens of the last request and its answer."""
    window = models.BigIntegerField(null=True)
    """The recorded or known context window of its model, in tokens."""
    growth = AsciiJSONField(default=list)
    """The prompt tokens over time, reduced to a few points."""
    health = models.CharField(max_length=8, choices=Health, default=Health.UNREAD, blank=True)
    problems = models.PositiveIntegerField(default=0)
    """The number of errors for which its own API would refuse the next request."""
    structure_problems = models.PositiveIntegerField(default=0)
    secrets = models.PositiveIntegerField(default=0)
    """The number of different values that look like secrets."""
    unread_parts = AsciiJSONField(default=list)
    """The content that was not understood, as rows (core/chain/surroundings.py)."""
    calls = models.PositiveIntegerField(default=0)
    """The number of tool calls."""
    tool_errors = models.PositiveIntegerField(default=0)
    ending = models.CharField(max_length=12, default="", blank=True)
    """The recorded end: finished, interrupted or api-error; "" if none is recorded."""
    sentence = models.TextField(default="", blank=True)
    """The reason why it could not be read."""
    rules = models.IntegerField(default=0)
    """The edition of its facts (reading.py)."""

    objects = SessionQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "path", "key"], name="session_once_a_source")]
        indexes = [
            models.Index(fields=["team", "-changed_at"], name="session_newest"),
            models.Index(fields=["team", "project", "-changed_at", *SUMMED_BY_PROJECT], name="session_project_sums"),
            models.Index(fields=["team", *SUMMED], name="session_sums"),
        ]

    def __str__(self) -> str:
        return f"session {self.pk}"

    @property
    def address(self) -> str:
        """The address of the session on the command line."""
        return f"{self.path}#{self.key}" if self.in_database else self.path

    @property
    def is_read(self) -> bool:
        return self.read_state == self.state


class SessionDay(models.Model):
    """The tokens of one session, day and model. A day with messages but without tokens has a row without a model.

    `day` is in UTC; null if the session records no times."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="days", db_index=False)
    day = models.DateField(null=True)
    model = models.CharField(max_length=200, default="", blank=True)
    calls = models.PositiveIntegerField(default=0)
    input = models.BigIntegerField(default=0)
    """Input tokens, including those read from a cache or written to it."""
    cached = models.BigIntegerField(default=0)
    written = models.BigIntegerField(default=0)
    output = models.BigIntegerField(default=0)
    reasoning = models.BigIntegerField(default=0)
    cost = models.BigIntegerField(null=True)
    """The cost in millionths of a dollar; null if the model has no price."""

    class Meta:
        indexes = [
            models.Index(fields=["session", "day", "model", "cost", "input", "cached", "output"], name="session_day_sums"),
            models.Index(fields=["day", "session"], name="session_active_days"),
        ]

    def __str__(self) -> str:
        return f"{self.day} of session {self.session_id}"


class SessionTool(models.Model):
    """The calls of one tool in one session on one day."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="tools", db_index=False)
    day = models.DateField(null=True)
    name = models.CharField(max_length=200, db_index=True)
    calls = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    """The size in bytes of its results."""

    class Meta:
        indexes = [models.Index(fields=["session", "day", "name", "calls", "errors", "bytes"], name="session_tool_sums")]

    def __str__(self) -> str:
        return f"a tool of session {self.session_id}"


class SessionProblem(models.Model):
    """The errors of one rule for which the session's own API would refuse the next request. The first rule has the place 0."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="problem_rows")
    place = models.PositiveSmallIntegerField()
    rule = models.CharField(max_length=60, db_index=True)
    count = models.PositiveIntegerField()
    text = models.TextField()
    """The sentence of the first error."""

    def __str__(self) -> str:
        return f"{self.rule} in session {self.session_id}"


class SessionError(models.Model):
    """Equal errors of a tool in one session, or of the session's API (`tool` is "")."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="error_rows")
    tool = models.CharField(max_length=200, default="", blank=True)
    text = models.CharField(max_length=200, db_index=True)
    """The first line of the error, with # for numbers."""
    count = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"an error of session {self.session_id}"


class SessionRepeat(models.Model):
    """A call that a session made again with the same arguments and the same result; the first call is not counted."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="repeats")
    tool = models.CharField(max_length=200)
    arguments = models.CharField(max_length=200)
    """The beginning of the arguments."""
    count = models.PositiveIntegerField()
    bytes = models.BigIntegerField()
    """The size in bytes of the repeated results."""

    def __str__(self) -> str:
        return f"a repeated call of session {self.session_id}"
