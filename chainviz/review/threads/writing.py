"""Writes threads and comments. Each act is one transaction and renews the checksums that cover it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from django.db import transaction
from django.utils import timezone

from chainviz.accounts.models import User
from chainviz.chains.models import Chain
from chainviz.core.errors import Refused
from chainviz.jobs.lease import storable
from chainviz.review.inbox.notices import comments_sent, thread_changed
from chainviz.review.models import Comment, Discussion, Thread
from chainviz.store.checksums import renew_checksums

MOST_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class NewThread:
    """The subject of a new thread: see the columns of Thread."""

    version: int
    kind: Thread.Kind
    path: str = ""
    start: int | None = None
    end: int | None = None
    quote: str = ""


def comment_text(text: str) -> str:
    """Raise Refused if a comment cannot be stored."""
    clean = storable(text).replace("\r\n", "\n").strip()
    if not clean:
        raise Refused("Write something first.")
    if len(clean) > MOST_TEXT:
        raise Refused(f"A comment has at most {MOST_TEXT:,} characters; this one has {len(clean):,}.")
    return clean


@transaction.atomic
def begin(chain: Chain, author: User, about: NewThread, body: str, *, is_pending: bool = False) -> Comment:
    """Return the first comment of a new thread."""
    discussion = _locked(chain)
    discussion.threads_made += 1
    columns = asdict(about) | {"quote": storable(about.quote)}
    thread = Thread.objects.create(chain=chain, number=discussion.threads_made, created_at=timezone.now(), **columns)
    discussion.save()
    return reply(thread, author, body, is_pending=is_pending)


@transaction.atomic
def reply(thread: Thread, author: User, body: str, *, is_pending: bool = False) -> Comment:
    _locked(thread.chain)
    now = timezone.now()
    comment = Comment.objects.create(
        thread=thread,
        author=author,
        author_name=author.display_name,
        body=comment_text(body),
        created_at=now,
        sent_at=None if is_pending else now,
    )
    renew_checksums(Thread, [thread.pk])
    if not is_pending:
        comments_sent([comment])
    return comment


@transaction.atomic
def edit(comment: Comment, body: str) -> None:
    _locked(comment.thread.chain)
    comment.body = comment_text(body)
    if not comment.is_pending:
        comment.edited_at = timezone.now()
    comment.save()


@transaction.atomic
def delete(comment: Comment) -> None:
    """Delete a comment. One that was sent keeps its place; a pending one is removed completely, as is a thread that it
    began."""
    discussion = _locked(comment.thread.chain)
    thread = comment.thread
    if not comment.is_pending:
        comment.body, comment.deleted_at = "", timezone.now()
        comment.save()
        return
    comment.delete()
    if thread.comments.exists():
        renew_checksums(Thread, [thread.pk])
    else:
        thread.delete()
        discussion.save()


@transaction.atomic
def set_resolved(thread: Thread, by: User, is_resolved: bool) -> None:
    _locked(thread.chain)
    thread.resolved_at = timezone.now() if is_resolved else None
    thread.resolved_by = by if is_resolved else None
    thread.resolved_by_name = by.display_name if is_resolved else ""
    thread.save()
    thread_changed(thread, by)


@transaction.atomic
def send_pending(person: User, chain: Chain) -> list[Comment]:
    """Show the person's pending comments on the chain to everybody who may read it; returns them."""
    _locked(chain)
    pending = list(Comment.objects.pending(person, chain).order_by("pk"))
    now = timezone.now()
    Comment.objects.filter(pk__in=[comment.pk for comment in pending]).update(sent_at=now)
    for comment in pending:
        comment.sent_at = now
    comments_sent(pending)
    return pending


@transaction.atomic
def discard_pending(person: User, chain: Chain) -> int:
    """Return how many comments there were."""
    pending = list(Comment.objects.pending(person, chain).select_related("thread__chain"))
    for comment in pending:
        delete(comment)
    return len(pending)


def _locked(chain: Chain) -> Discussion:
    """Lock the threads of a chain, so that writers take turns."""
    Discussion.objects.get_or_create(chain=chain)
    return Discussion.objects.select_for_update().get(chain=chain)
