"""The page of the inbox: review requests with their state, then notices, newest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.audit import not_recorded
from chainviz.accounts.models import Membership, member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.models import Chain
from chainviz.review.models import MailChoice, Mute, Notice, Reviewer, ReviewRequest, Verdict
from chainviz.review.notices import is_configured
from chainviz.review.requests.services import Standing, standings
from chainviz.review.threads.thread_view import words_of
from chainviz.web.http import see_other, small_number

SHOWN = 50
EXCERPT = 200
Kind = Notice.Kind
LOOKS = {
    Kind.REQUEST: ("review", "asked you to review"),
    Kind.VERDICT: ("approve", "reviewed"),
    Kind.DISMISSED: ("close", "dismissed your verdict on"),
    Kind.MENTION: ("at", "mentioned you on"),
    Kind.REPLY: ("reply", "replied on"),
}
"""The icon and the words of each kind."""
VERDICTS = {
    Verdict.Kind.APPROVE: ("approve", "approved"),
    Verdict.Kind.CHANGES: ("failed", "asked for changes of"),
    Verdict.Kind.COMMENT: ("comment", "commented on"),
}
FILTERS = {"unread": "Unread", "all": "All", "mention": "Mentions", "reply": "Replies", "verdict": "Verdicts", "request": "Requests"}


@dataclass(frozen=True, slots=True)
class RequestRow:
    request: ReviewRequest
    state: str
    icon: str
    text: str
    standing: Standing
    address: str
    action: str


@dataclass(frozen=True, slots=True)
class NoticeRow:
    notice: Notice
    icon: str
    what: str
    excerpt: str


def requests_for(member: Membership) -> list[RequestRow]:
    """Open requests that ask the member."""
    asked = Reviewer.objects.filter(person=member.user_id, **_open("request__", member))
    found = [each.request for each in asked.select_related("request__chain__team").order_by("-asked_at")]
    return [_row(request, standing, member) for request, standing in _with_standings(found)]


def requests_by(member: Membership) -> list[RequestRow]:
    found = ReviewRequest.objects.filter(requested_by=member.user_id, **_open("", member))
    return [
        RequestRow(request, *_outcome(standing), standing, _review(request), "Open")
        for request, standing in _with_standings(found.select_related("chain__team").order_by("-requested_at"))
    ]


def _open(prefix: str, member: Membership) -> dict[str, object]:
    conditions = {"closed_at": None, "chain__team": member.team_id, "chain__trashed_at": None}
    return {prefix + name: value for name, value in conditions.items()}


def _with_standings(requests: Iterable[ReviewRequest]) -> list[tuple[ReviewRequest, Standing]]:
    shown = list(requests)[:SHOWN]
    found = standings([request.chain for request in shown])
    return [(request, found[request.chain_id]) for request in shown]


def _row(request: ReviewRequest, standing: Standing, member: Membership) -> RequestRow:
    mine = next((each for each in standing.verdicts if each.person_id == member.user_id), None)
    chain: Chain = request.chain
    if standing.sign_off is not None:
        return RequestRow(request, "ok", "approve", "signed off", standing, _review(request), "Open")
    if mine is None:
        return RequestRow(request, "open", "pending", "waiting for you", standing, _review(request), "Review")
    if standing.is_stale(mine):
        changes = reverse("chains:diff", args=[chain.pk, mine.version, chain.version])
        said = "approval" if mine.kind == Verdict.Kind.APPROVE else "verdict"
        return RequestRow(request, "quiet", "clock", f"your {said} is stale", standing, changes, "See changes")
    if mine.kind == Verdict.Kind.APPROVE:
        return RequestRow(request, "ok", "approve", "you approved", standing, _review(request), "Open")
    return RequestRow(request, "problem", "failed", "you asked for changes", standing, _review(request), "Open")


def _outcome(standing: Standing) -> tuple[str, str, str]:
    badge = standing.badge
    assert badge is not None, "a request is open"
    return badge.state, badge.icon, badge.text


def _review(request: ReviewRequest) -> str:
    return reverse("review:review", args=[request.chain_id])


def notice_rows(member: Membership, show: str, before: int | None) -> tuple[list[NoticeRow], int | None]:
    """Return at most SHOWN rows, and the key before which the next ones are."""
    notices = Notice.objects.visible_to(member).select_related("chain", "comment__thread", "verdict", "request")
    if show == "unread":
        notices = notices.filter(read_at=None)
    elif show in Kind.values:
        notices = notices.filter(kind=show)
    if before is not None:
        notices = notices.filter(pk__lt=before)
    found = list(notices.order_by("-pk")[: SHOWN + 1])
    rows = [_notice(each) for each in found[:SHOWN]]
    return rows, found[SHOWN - 1].pk if len(found) > SHOWN else None


def _notice(notice: Notice) -> NoticeRow:
    icon, what = LOOKS[Kind(notice.kind)]
    text = ""
    if notice.kind == Kind.VERDICT and notice.verdict is not None:
        icon, what = VERDICTS[Verdict.Kind(notice.verdict.kind)]
        text = notice.verdict.summary
    elif notice.kind == Kind.DISMISSED and notice.verdict is not None:
        text = notice.verdict.dismissal
    elif notice.comment is not None:
        text = words_of(notice.comment.body, EXCERPT)
    elif notice.request is not None:
        text = notice.request.purpose
    excerpt = " ".join(text.split())
    shown = excerpt if len(excerpt) <= EXCERPT else excerpt[:EXCERPT] + "…"
    return NoticeRow(notice, icon, f"{what} version {notice.version}", shown)


def target_of(notice: Notice) -> str:
    """Return the address to which a notice links."""
    if notice.comment is not None:
        return reverse("review:comment", args=[notice.chain_id, notice.comment_id])
    return reverse("review:review", args=[notice.chain_id])


# The inbox of a person: its page, marks of what was read, muted chains, and the choice of e-mail.


@requires("read", team_mode=True)
@require_safe
def inbox(request: HttpRequest) -> HttpResponse:
    member, show = member_of(request), request.GET.get("show", "all")
    show = show if show in FILTERS else "all"
    notices, older = notice_rows(member, show, small_number(request.GET.get("before", "")))
    context = {
        "for_you": requests_for(member),
        "from_you": requests_by(member),
        "notices": notices,
        "older": older,
        "show": show,
        "filters": FILTERS.items(),
        "unread": Notice.objects.visible_to(member).filter(read_at=None).count(),
        "sends_mail": is_configured(),
        "wants_mail": MailChoice.objects.filter(person=member.user_id, is_on=True).exists(),
    }
    return render(request, "review/inbox.html", context)


@requires("read", team_mode=True)
@require_safe
def count(request: HttpRequest) -> HttpResponse:
    """Show the number of unread notices, for the button in the bar of every page."""
    unread = Notice.objects.visible_to(member_of(request)).filter(read_at=None).count()
    return render(request, "review/_inbox_count.html", {"unread": unread})


@requires("read", team_mode=True)
@require_POST
@not_recorded
def open_notice(request: HttpRequest, notice_id: int) -> HttpResponse:
    """Mark it as read and leads to what it is about; `act=read` or `act=unread` only marks."""
    notice = get_object_or_404(Notice.objects.visible_to(member_of(request)), pk=notice_id)
    act = request.POST.get("act", "")
    notice.read_at = None if act == "unread" else timezone.now()
    notice.save(update_fields=["read_at"])
    return see_other("review:inbox") if act else see_other(target_of(notice))


@requires("read", team_mode=True)
@require_POST
@not_recorded
def read_all(request: HttpRequest) -> HttpResponse:
    Notice.objects.visible_to(member_of(request)).filter(read_at=None).update(read_at=timezone.now())
    return see_other("review:inbox")


@requires("read", team_mode=True)
@require_POST
@not_recorded
def choose_mail(request: HttpRequest) -> HttpResponse:
    MailChoice.objects.update_or_create(person=person_of(request), defaults={"is_on": "mail" in request.POST})
    return see_other("review:inbox")


@requires("read", team_mode=True)
@require_POST
@not_recorded
def mute(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Mute a chain, or with `act=unmute` unmute it."""
    muted: dict[str, Any] = {"chain": chain_for(request, chain_id), "person": person_of(request)}
    if request.POST.get("act") == "unmute":
        Mute.objects.filter(**muted).delete()
    else:
        Mute.objects.get_or_create(**muted)
    return see_other("review:review", chain_id)
