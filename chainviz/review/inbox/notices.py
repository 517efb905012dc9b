"""Who gets a notice of a request, a verdict or a comment. The notice is written in the same transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings
from django.utils import timezone

from chainviz.accounts.models import Membership, User
from chainviz.chains.models import Chain
from chainviz.review.inbox.mail import send_later
from chainviz.review.models import Comment, Mute, Notice, ReviewRequest, Verdict
from chainviz.review.threads.mentions import mentioned

Kind = Notice.Kind


def request_made(request: ReviewRequest, people: Iterable[User], by: User) -> None:
    _tell(people, request.chain, by, kind=Kind.REQUEST, version=request.version, request=request)


def verdict_given(verdict: Verdict, request: ReviewRequest | None) -> None:
    """Tells who asked for the review. The person has answered what asked them."""
    Notice.objects.filter(person=verdict.person, chain=verdict.chain, kind=Kind.REQUEST, read_at=None).update(read_at=timezone.now())
    if request is not None:
        _tell([request.requested_by], verdict.chain, verdict.person, kind=Kind.VERDICT, version=verdict.version, verdict=verdict)


def verdict_dismissed(verdict: Verdict, by: User) -> None:
    _tell([verdict.person], verdict.chain, by, kind=Kind.DISMISSED, version=verdict.version, verdict=verdict)


def comments_sent(comments: Sequence[Comment]) -> None:
    """Tells whom a comment mentions, and who commented in its thread before."""
    for comment in comments:
        author, thread = comment.author, comment.thread
        assert author is not None
        people = mentioned(comment.body, thread.chain.team_id)
        facts: dict[str, Any] = {"version": thread.version, "comment": comment}
        _tell(people, thread.chain, author, kind=Kind.MENTION, **facts)
        before = thread.comments.filter(pk__lt=comment.pk, author__isnull=False).exclude(sent_at=None)
        others = User.objects.filter(pk__in=before.values("author")).exclude(pk__in=[each.pk for each in people])
        _tell(others, thread.chain, author, kind=Kind.REPLY, **facts)


def _tell(people: Iterable[User], chain: Chain, by: User, **facts: Any) -> None:
    """Nobody gets a notice of their own act, of a chain that they muted, or after leaving the team."""
    if settings.CHAINVIZ.mode != "team":
        return
    keys = {each.pk for each in people} - {by.pk}
    muted = Mute.objects.filter(chain=chain).values("person")
    told = Membership.objects.active().filter(team=chain.team_id, user__in=keys).exclude(user__in=muted)
    for person in told.order_by("pk").values_list("user", flat=True):
        notice = Notice.objects.create(
            person_id=person, chain=chain, actor_name=by.display_name, at=timezone.now(), **facts
        )
        send_later(notice)
