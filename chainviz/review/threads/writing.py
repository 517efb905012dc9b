"""Writes threads and comments. Each act is one transaction and renews the checksums that cover it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from django.db import transaction
from django.utils import timezone

from chainviz.accounts.models import User
from chainviz.chains.models import Chain
from chainviz.review.models import Comment, Discussion, Thread
from chainviz.store.checksums import renew_checksums


@dataclass(frozen=True, slots=True)
class NewThread:
    """What a thread is about: see the columns of Thread."""

    version: int
    kind: Thread.Kind
    path: str = ""
    start: int | None = None
    end: int | None = None
    quote: str = ""


@transaction.atomic
def begin(chain: Chain, author: User, about: NewThread, body: str, *, is_pending: bool = False) -> Comment:
    """Returns the first comment of a new thread."""
    Discussion.objects.get_or_create(chain=chain)
    discussion = Discussion.objects.select_for_update().get(chain=chain)
    discussion.threads_made += 1
    thread = Thread.objects.create(
        chain=chain, number=discussion.threads_made, created_at=timezone.now(), **asdict(about)
    )
    discussion.save()
    return reply(thread, author, body, is_pending=is_pending)


@transaction.atomic
def reply(thread: Thread, author: User, body: str, *, is_pending: bool = False) -> Comment:
    now = timezone.now()
    comment = Comment.objects.create(
        thread=thread,
        author=author,
        author_name=author.display_name,
        body=body,
        created_at=now,
        sent_at=None if is_pending else now,
    )
    renew_checksums(Thread, [thread.pk])
    return comment
