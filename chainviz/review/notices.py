"""Choose who gets a notice of a request, a verdict or a comment, announce them to the team's webhooks, and send them as e-mail.

They are chosen in the transaction that stores them; a job sends the mails. A mail gives the person, the act and an address; it contains
no text of a transcript, not even a title, which may come from one. A name cannot add a header, or a line to the text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.urls import reverse
from django.utils import timezone

from chainviz.accounts.models import Membership, User
from chainviz.chains.models import Chain
from chainviz.core.errors import excerpt
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.review.models import Comment, MailChoice, Mute, Notice, ReviewRequest, Thread, Verdict
from chainviz.review.threads.thread_view import mentioned
from chainviz.webhooks.models import Webhook
from chainviz.webhooks.sending import announce

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
        notice = Notice.objects.create(person_id=person, chain=chain, actor_name=by.display_name, at=timezone.now(), **facts)
        send_later(notice)


SEND = "send-mail"
LONGEST_NAME = 80
SUBJECTS = {
    Notice.Kind.REQUEST: "{} asked you for a review",
    Notice.Kind.VERDICT: "{} reviewed a version at your request",
    Notice.Kind.DISMISSED: "{} dismissed your verdict",
    Notice.Kind.MENTION: "{} mentioned you in a comment",
    Notice.Kind.REPLY: "{} replied in one of your threads",
}


def is_configured() -> bool:
    return bool(settings.CHAINVIZ.mail_url)


def send_later(notice: Notice) -> None:
    if is_configured() and notice.person.email and MailChoice.objects.filter(person=notice.person_id, is_on=True).exists():
        start_job(SEND, owner=notice.person, notice=notice.pk)


def send(context: JobContext, notice: int) -> None:
    """Run the job. A notice that is gone, or was read meanwhile, is not sent."""
    found = Notice.objects.select_related("person").filter(pk=notice, read_at=None).first()
    if found is None:
        return
    subject = SUBJECTS[Notice.Kind(found.kind)].format(excerpt(found.actor_name, LONGEST_NAME))
    address = f"{settings.CHAINVIZ.base_url}{reverse('review:inbox')}"
    text = f"{subject}: chain {found.chain_id}, version {found.version}.\n\nOpen your inbox: {address}\n"
    send_mail(f"[chainviz] {subject}", text, None, [found.person.email])
