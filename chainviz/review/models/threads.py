"""Threads of comments on a version of a chain, notices to people, the chains that they muted, and who looks at a chain.

A thread on the left side of a diff belongs to the version on the left. Names of people are copied, so that a comment
outlives its author's account.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import models
from django.db.models import Q

from chainviz.accounts.models import Membership, User
from chainviz.chains.models import Chain
from chainviz.core.chain.paths import parse_path
from chainviz.core.review import Anchor, TextRange
from chainviz.review.models.requests import OfReview, ReviewRequest, Verdict
from chainviz.store.checksums import Checked, CheckedQuerySet


class Discussion(Checked):
    """All threads of a chain. Its checksum reveals missing ones, and writers lock it to act one after another."""

    chain = models.OneToOneField(Chain, on_delete=models.CASCADE, primary_key=True, related_name="discussion")
    threads_made = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"discussion of chain {self.chain_id}"

    def covered(self) -> Iterable[object]:
        """The rows that the checksum covers: the threads of the chain."""
        return Thread.objects.filter(chain=self.chain_id).order_by("pk").values_list("pk", "number")


class ThreadQuerySet(CheckedQuerySet["Thread"]):
    def visible_to(self, user: User) -> ThreadQuerySet:
        """Return the threads with a comment that the person may see."""
        shown = Comment.objects.visible_to(user)
        return self.filter(models.Exists(shown.filter(thread=models.OuterRef("pk"))))

    def open(self) -> ThreadQuerySet:
        return self.filter(resolved_at=None)


class Thread(Checked):
    class Kind(models.TextChoices):
        CHAIN = "chain"
        NODE = "node"
        """A section, pair or message."""
        PART = "part"
        TEXT = "text"
        """A range of characters in a part."""

    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="threads")
    number = models.PositiveIntegerField()
    """Counts from 1 in the chain."""
    version = models.PositiveIntegerField()
    """The number of the version that it was started on."""
    kind = models.CharField(max_length=5, choices=Kind)
    path = models.CharField(max_length=64, default="", blank=True)
    """The path of the node or part in that version; empty for the whole chain."""
    start = models.PositiveIntegerField(null=True)
    end = models.PositiveIntegerField(null=True)
    """The start and the end of the range, in characters of the part's text."""
    quote = models.TextField(default="", blank=True)
    """The text of the range, or the beginning of the node or part."""
    created_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    resolved_by_name = models.CharField(max_length=320, default="", blank=True)

    objects = ThreadQuerySet.as_manager()  # type: ignore[misc]

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain", "number"], name="thread_numbered_once")]

    def __str__(self) -> str:
        return f"thread {self.number} of chain {self.chain_id}"

    def covered(self) -> Iterable[object]:
        """The rows that the checksum covers: the comments of the thread."""
        return self.comments.order_by("pk").values_list("pk", flat=True)

    @property
    def is_resolved(self) -> bool:
        return self.resolved_at is not None

    @property
    def anchor(self) -> Anchor:
        marked = None if self.start is None or self.end is None else TextRange(self.start, self.end)
        return Anchor(parse_path(self.path) if self.path else None, marked)


class CommentQuerySet(CheckedQuerySet["Comment"]):
    def visible_to(self, user: User | None) -> CommentQuerySet:
        """Return the comments that a person may see. A pending comment is visible only to its author."""
        sent = ~Q(sent_at=None)
        return self.filter(sent if user is None else sent | Q(author=user))

    def pending(self, user: User, chain: Chain) -> CommentQuerySet:
        """Return the person's comments on this chain that are not sent yet."""
        return self.filter(author=user, thread__chain=chain, sent_at=None)


class Comment(Checked):
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="comments")
    author_name = models.CharField(max_length=320)
    body = models.TextField()
    """Markdown; empty when deleted."""
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, db_index=True)
    """The time of sending; null while the comment is pending and only its author sees it."""
    edited_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)
    """The time of the deletion. A deleted comment keeps its place in the thread."""

    objects = CommentQuerySet.as_manager()  # type: ignore[misc]

    def __str__(self) -> str:
        return f"comment {self.pk}"

    @property
    def is_pending(self) -> bool:
        return self.sent_at is None


# Labels of a chain or a node in a word or a number, for evaluations.


LONGEST_TAG = 40


class Label(OfReview):
    class Kind(models.TextChoices):
        TAG = "tag"
        RATING = "rating"
        OUTCOME = "outcome", "Pass or fail"

    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="labels")
    version = models.PositiveIntegerField()
    path = models.CharField(max_length=64, default="", blank=True)
    """The path of the node in that version; empty for the whole chain."""
    kind = models.CharField(max_length=7, choices=Kind)
    name = models.CharField(max_length=LONGEST_TAG, default="", blank=True)
    """The name of a tag."""
    value = models.SmallIntegerField(null=True)
    """The value: 1 to 5 for a rating, 1 for pass, 0 for fail."""
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    person_name = models.CharField(max_length=320)
    at = models.DateTimeField()

    class Meta(Checked.Meta):
        indexes = [models.Index(fields=["kind", "name", "value"], name="chains_of_a_label")]

    def __str__(self) -> str:
        return self.text

    @property
    def anchor(self) -> Anchor:
        return Anchor(parse_path(self.path) if self.path else None)

    @property
    def text(self) -> str:
        if self.kind == Label.Kind.TAG:
            return self.name
        return f"{self.value} of 5" if self.kind == Label.Kind.RATING else "pass" if self.value else "fail"

    @property
    def key(self) -> str:
        """The value that names the label in an address."""
        return f"{self.kind}:{self.name if self.kind == Label.Kind.TAG else self.value}"


# The places of threads and labels in a snapshot: a cache that is filled when the snapshot is first shown.


class InSnapshot(models.Model):
    class State(models.TextChoices):
        CARRIED = "carried"
        OUTDATED = "outdated"
        REMOVED = "removed"
        FOLDED = "folded"

    snapshot_key = models.BigIntegerField()
    """The key of the snapshot; a plain number, so that the store can delete snapshots without knowing threads and labels."""
    state = models.CharField(max_length=8, choices=State)
    path = models.CharField(max_length=64, default="", blank=True)
    """The path at which it is shown: the anchor, its replacement, or the summary that contains it; empty if it was removed."""
    message = models.IntegerField(null=True)
    """The index of the first message there; null for the whole chain and for removed nodes."""

    class Meta:
        abstract = True


class Place(InSnapshot):
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="places")
    start = models.PositiveIntegerField(null=True)
    end = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["snapshot_key", "thread"], name="place_once_a_thread")]
        indexes = [models.Index(fields=["snapshot_key", "message"], name="places_of_a_window")]

    def __str__(self) -> str:
        return f"thread {self.thread_id} in snapshot {self.snapshot_key}"


class LabelPlace(InSnapshot):
    label = models.ForeignKey(Label, on_delete=models.CASCADE, related_name="places")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["snapshot_key", "label"], name="place_once_a_label")]

    def __str__(self) -> str:
        return f"label {self.label_id} in snapshot {self.snapshot_key}"


class NoticeQuerySet(models.QuerySet["Notice"]):
    def visible_to(self, member: Membership) -> NoticeQuerySet:
        """Select notices of the member's team on chains that are not in the bin."""
        return self.filter(person=member.user_id, chain__team=member.team_id, chain__trashed_at=None)


class Notice(models.Model):
    """A notice to one person about an act of somebody else. Its text is that of the comment, verdict or request."""

    class Kind(models.TextChoices):
        REQUEST = "request"
        VERDICT = "verdict"
        DISMISSED = "dismissed"
        MENTION = "mention"
        REPLY = "reply"

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=9, choices=Kind)
    version = models.PositiveIntegerField()
    actor_name = models.CharField(max_length=320)
    at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)
    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, null=True, related_name="notices")
    verdict = models.ForeignKey(Verdict, on_delete=models.CASCADE, null=True, related_name="notices")
    request = models.ForeignKey(ReviewRequest, on_delete=models.CASCADE, null=True, related_name="notices")

    objects = NoticeQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["person", "-id"], name="inbox_of_a_person")]

    def __str__(self) -> str:
        return f"{self.kind} for {self.person}"


class Mute(models.Model):
    """A person wants no notices of a chain. Review requests stay on the list of the inbox."""

    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain", "person"], name="muted_once")]

    def __str__(self) -> str:
        return f"chain {self.chain_id} for {self.person}"


class MailChoice(models.Model):
    """A person wants notices as e-mail too."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="mail_choice")
    is_on = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"mail for {self.person}"


class Presence(models.Model):
    """A person has a chain open."""

    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    version = models.PositiveIntegerField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain", "person"], name="present_once")]

    def __str__(self) -> str:
        return f"{self.person} at chain {self.chain_id}"
