"""The sessions on disk, and the facts of each that the library and the overview show. All of it can be read again from
their files."""

from __future__ import annotations

from django.db import models
from django.db.models import F
from django.utils import timezone

from chainviz.accounts.models import Membership, Team
from chainviz.jobs.models import AsciiJSONField


class Source(models.Model):
    """A place where sessions lie: the store of an agent, or a folder that a person or the server's settings named."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="sources")
    agent = models.CharField(max_length=40, default="", blank=True)
    """Name of the agent (core/sources); "" for a folder."""
    path = models.TextField(default="", blank=True)
    """Of the folder, absolute; "" for an agent, whose places are found."""
    pattern = models.TextField(default="", blank=True)
    """Which files of the folder are sessions; "": all that may be."""
    chosen_at = models.DateTimeField(default=timezone.now)
    listed_at = models.DateTimeField(null=True)
    """When its sessions were listed last."""
    is_stopped = models.BooleanField(default=False)
    """A person stopped the reading: what is unread stays so until somebody goes on."""
    sentence = models.TextField(default="", blank=True)
    """Why it, or one of its places, could not be listed; "" where it could."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "agent", "path", "pattern"], name="source_chosen_once")]

    def __str__(self) -> str:
        return f"source {self.pk}"


class SessionQuerySet(models.QuerySet["Session"]):
    def visible_to(self, member: Membership) -> SessionQuerySet:
        """Sessions are files of this machine: who may not see those sees none."""
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


class Session(models.Model):
    class Health(models.TextChoices):
        UNREAD = ""
        REFUSED = "refused"
        """Its own API would refuse its next request."""
        PART = "part"
        """Not all of it was understood."""
        ACCEPTED = "accepted"
        FAILED = "failed"
        """Nothing of it could be read: `sentence` says why."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="sessions")
    agent = models.CharField(max_length=40)
    """Name of the agent whose store it is in; "" for a file of a folder."""
    path = models.TextField()
    """Absolute: of its file, its folder of events, or the database that holds it."""
    key = models.CharField(max_length=200)
    """Its id in the store."""
    in_database = models.BooleanField(default=False)
    state = models.CharField(max_length=48)
    """Size and time of its last change as its store says them; another one means that it has to be read again."""
    read_state = models.CharField(max_length=48, default="", blank=True)
    """The state in which it was read last."""
    size = models.BigIntegerField(default=0)
    changed_at = models.DateTimeField()

    title = models.CharField(max_length=200, default="", blank=True)
    project = models.CharField(max_length=500, default="", blank=True)
    """The working folder that it records, else the folder in which it lies."""
    parent = models.CharField(max_length=200, default="", blank=True)
    """The key of the session whose agent started it."""
    format = models.CharField(max_length=40, default="", blank=True)
    provider = models.CharField(max_length=40, default="", blank=True)
    """Whose API judged it: its own."""
    model = models.CharField(max_length=200, default="", blank=True)
    """The one called most."""
    messages = models.PositiveIntegerField(null=True)
    began_at = models.DateTimeField(null=True)
    duration = models.BigIntegerField(null=True)
    """Milliseconds from its first message to its last, as recorded."""
    input = models.BigIntegerField(null=True)
    """Recorded tokens of the prompts, those from a cache included; null where none are recorded."""
    cached = models.BigIntegerField(null=True)
    output = models.BigIntegerField(null=True)
    tokens = models.BigIntegerField(null=True)
    """Input and output."""
    cost = models.BigIntegerField(null=True)
    """At list prices, in millionths of a dollar; null where no tokens are recorded or a model has no price."""
    prices = models.IntegerField(default=0)
    """The edition of the prices."""
    context = models.BigIntegerField(null=True)
    """Tokens of the last request and its answer."""
    window = models.BigIntegerField(null=True)
    """The context window of its model, as recorded or known."""
    growth = AsciiJSONField(default=list)
    """Tokens of its prompts, thinned out to a few points."""
    health = models.CharField(max_length=8, choices=Health, default=Health.UNREAD, blank=True)
    problems = models.PositiveIntegerField(default=0)
    """Errors for which its own API would refuse the next request."""
    structure_problems = models.PositiveIntegerField(default=0)
    secrets = models.PositiveIntegerField(default=0)
    """Different values that look like secrets."""
    unread_parts = AsciiJSONField(default=list)
    """What of it was not understood, as rows (core/chain/surroundings.py)."""
    calls = models.PositiveIntegerField(default=0)
    """Of tools."""
    tool_errors = models.PositiveIntegerField(default=0)
    ending = models.CharField(max_length=12, default="", blank=True)
    """How it ended, as far as it records that: finished, interrupted or api-error."""
    sentence = models.TextField(default="", blank=True)
    """Why it could not be read."""
    rules = models.IntegerField(default=0)
    """The edition of its facts (reading.py)."""

    objects = SessionQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "path", "key"], name="session_once_a_source")]
        indexes = [
            models.Index(fields=["team", "-changed_at"], name="session_newest"),
            models.Index(fields=["team", "project", "-changed_at"], name="session_project"),
            models.Index(fields=["team", *SUMMED], name="session_sums"),
        ]

    def __str__(self) -> str:
        return f"session {self.pk}"

    @property
    def address(self) -> str:
        """How the command line names it."""
        return f"{self.path}#{self.key}" if self.in_database else self.path

    @property
    def is_read(self) -> bool:
        return self.read_state == self.state


class SessionDay(models.Model):
    """Tokens of one session, day and model; a day on which it records messages and no tokens has a row without a model.

    `day` is one of UTC; null where the session records no time."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="days", db_index=False)
    day = models.DateField(null=True)
    model = models.CharField(max_length=200, default="", blank=True)
    calls = models.PositiveIntegerField(default=0)
    input = models.BigIntegerField(default=0)
    """With those that were read from a cache or written to it."""
    cached = models.BigIntegerField(default=0)
    written = models.BigIntegerField(default=0)
    output = models.BigIntegerField(default=0)
    reasoning = models.BigIntegerField(default=0)
    cost = models.BigIntegerField(null=True)
    """In millionths of a dollar; null where the model has no price."""

    class Meta:
        indexes = [
            models.Index(fields=["session", "day", "model", "cost", "input", "cached", "output"], name="session_day_sums"),
            models.Index(fields=["day", "session"], name="session_active_days"),
        ]

    def __str__(self) -> str:
        return f"{self.day} of session {self.session_id}"


class SessionTool(models.Model):
    """Calls of one tool in one session on one day."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="tools", db_index=False)
    day = models.DateField(null=True)
    name = models.CharField(max_length=200, db_index=True)
    calls = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    """Of its results."""

    class Meta:
        indexes = [models.Index(fields=["session", "day", "name", "calls", "errors", "bytes"], name="session_tool_sums")]

    def __str__(self) -> str:
        return f"a tool of session {self.session_id}"


class SessionProblem(models.Model):
    """Errors of one rule for which the session's own API would refuse the next request; the first rule has place 0."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="problem_rows")
    place = models.PositiveSmallIntegerField()
    rule = models.CharField(max_length=60, db_index=True)
    count = models.PositiveIntegerField()
    text = models.TextField()
    """The first one, in a sentence."""

    def __str__(self) -> str:
        return f"{self.rule} in session {self.session_id}"


class SessionError(models.Model):
    """Equal error texts of a tool's results in one session, or of its API (`tool` is "")."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="error_rows")
    tool = models.CharField(max_length=200, default="", blank=True)
    text = models.CharField(max_length=200, db_index=True)
    """The first line, with numbers replaced by #."""
    count = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"an error of session {self.session_id}"


class SessionRepeat(models.Model):
    """A call that a session made again with the same arguments and the same result; the first call is not counted."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="repeats")
    tool = models.CharField(max_length=200)
    arguments = models.CharField(max_length=200)
    """Their beginning."""
    count = models.PositiveIntegerField()
    bytes = models.BigIntegerField()
    """Of the repeated results."""

    def __str__(self) -> str:
        return f"a repeated call of session {self.session_id}"
