"""Threads of comments on a version of a chain.

A thread on the left side of a diff belongs to the version on the left. Names of people are copied, so that a comment
outlives its author's account.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import models
from django.db.models import Q

from chainviz.accounts.models import User
from chainviz.chains.models import Chain
from chainviz.core.chain.paths import parse_path
from chainviz.core.review.anchors import Anchor
from chainviz.core.review.text_range import TextRange
from chainviz.store.checksums import Checked, CheckedQuerySet


class Discussion(Checked):
    """All threads of a chain: fsck misses one that is gone, and writers wait for each other here."""

    chain = models.OneToOneField(Chain, on_delete=models.CASCADE, primary_key=True, related_name="discussion")
    threads_made = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"discussion of chain {self.chain_id}"

    def covered(self) -> Iterable[object]:
        """Its threads."""
        return Thread.objects.filter(chain=self.chain_id).order_by("pk").values_list("pk", "number")


class ThreadQuerySet(CheckedQuerySet["Thread"]):
    def visible_to(self, user: User) -> ThreadQuerySet:
        """Threads with a comment that the person may see."""
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
    """Number of the version it was started on."""
    kind = models.CharField(max_length=5, choices=Kind)
    path = models.CharField(max_length=64, default="", blank=True)
    """Of the node or part in that version; empty for the whole chain."""
    start = models.PositiveIntegerField(null=True)
    end = models.PositiveIntegerField(null=True)
    """Of the range, in characters of the part's text."""
    quote = models.TextField(default="", blank=True)
    """The text of the range, or how the node or part began."""
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
        """Its comments."""
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
        """A pending comment is its author's only."""
        sent = ~Q(sent_at=None)
        return self.filter(sent if user is None else sent | Q(author=user))

    def pending(self, user: User, chain: Chain) -> CommentQuerySet:
        """Comments of the person on this chain that are not sent yet."""
        return self.filter(author=user, thread__chain=chain, sent_at=None)


class Comment(Checked):
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="comments")
    author_name = models.CharField(max_length=320)
    body = models.TextField()
    """Markdown; empty when deleted."""
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, db_index=True)
    """Null while it is pending: only its author sees it."""
    edited_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)
    """A deleted comment keeps its place in the thread."""

    objects = CommentQuerySet.as_manager()  # type: ignore[misc]

    def __str__(self) -> str:
        return f"comment {self.pk}"

    @property
    def is_pending(self) -> bool:
        return self.sent_at is None
