"""Choose who gets a notice of a request, a verdict or a comment, and announce them to the team's webhooks, all in the
transaction that stores them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from chainviz.accounts.models import Membership, User
from chainviz.chains.models import Chain
from chainviz.review.inbox.mail import send_later
from chainviz.review.models import Comment, Mute, Notice, ReviewRequest, Thread, Verdict
from chainviz.review.threads.mentions import mentioned
from chainviz.webhooks.deliveries import announce
from chainviz.webhooks.models import Webhook

Kind = Notice.Kind
Event = Webhook.Event


def request_made(request: ReviewRequest, people: Collection[User], by: User) -> None:
    _tell(people, request.chain, by, kind=Kind.REQUEST, version=request.version, request=request)
    asked = [person.display_name for person in people]
    _announce(Event.REVIEW_REQUESTED, request.chain, by, version=request.version, reviewers=asked)


def verdict_given(verdict: Verdict, request: ReviewRequest | None) -> None:
    """Notify the person who asked for the review, and mark the request to the reviewer as answered."""
    Notice.objects.filter(person=verdict.person, chain=verdict.chain, kind=Kind.REQUEST, read_at=None).update(read_at=timezone.now())
    if request is not None:
        _tell([request.requested_by], verdict.chain, verdict.person, kind=Kind.VERDICT, version=verdict.version, verdict=verdict)
    _announce(Event.VERDICT_GIVEN, verdict.chain, verdict.person, version=verdict.version, verdict=verdict.kind)


def verdict_dismissed(verdict: Verdict, by: User) -> None:
    _tell([verdict.person], verdict.chain, by, kind=Kind.DISMISSED, version=verdict.version, verdict=verdict)
    _announce(Event.VERDICT_DISMISSED, verdict.chain, by, version=verdict.version, verdict=verdict.kind, of=verdict.name)


def comments_sent(comments: Sequence[Comment]) -> None:
    """Notify the people whom a comment mentions, and those who commented in its thread before."""
    for comment in comments:
        author, thread = comment.author, comment.thread
        assert author is not None
        people = mentioned(comment.body, thread.chain.team_id)
        facts: dict[str, Any] = {"version": thread.version, "comment": comment}
        _tell(people, thread.chain, author, kind=Kind.MENTION, **facts)
        before = thread.comments.filter(pk__lt=comment.pk, author__isnull=False).exclude(sent_at=None)
        others = User.objects.filter(pk__in=before.values("author")).exclude(pk__in=[each.pk for each in people])
        _tell(others, thread.chain, author, kind=Kind.REPLY, **facts)
        _announce_thread(Event.COMMENT_ADDED, thread, author)


def thread_changed(thread: Thread, by: User) -> None:
    _announce_thread(Event.THREAD_RESOLVED if thread.is_resolved else Event.THREAD_REOPENED, thread, by)


def version_signed_off(chain: Chain, version: int, by: User) -> None:
    _announce(Event.SIGNED_OFF, chain, by, version=version)


def _announce(event: Webhook.Event, chain: Chain, by: User, **facts: Any) -> None:
    page = reverse("review:review", args=[chain.pk])
    announce(chain.team_id, event, page, chain=chain.pk, person=by.display_name, **facts)


def _announce_thread(event: Webhook.Event, thread: Thread, by: User) -> None:
    page = reverse("review:thread", args=[thread.chain_id, thread.number])
    facts = {"chain": thread.chain_id, "version": thread.version, "thread": thread.number, "person": by.display_name}
    announce(thread.chain.team_id, event, page, **facts)


def _tell(people: Iterable[User], chain: Chain, by: User, **facts: Any) -> None:
    """Send a notice to people, except to the actor, to those who muted the chain, and to those who left the team."""
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
