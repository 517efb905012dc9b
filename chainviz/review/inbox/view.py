"""The inbox of a person: its page, marks of what was read, muted chains, and the choice of e-mail."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.audit.record import not_recorded
from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.review.inbox.mail import is_configured
from chainviz.review.inbox.page import FILTERS, notice_rows, requests_by, requests_for, target_of
from chainviz.review.models import MailChoice, Mute, Notice
from chainviz.web.query_params import small_number
from chainviz.web.responses import see_other


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
    """How many notices are unread, for the button in the bar of every page."""
    unread = Notice.objects.visible_to(member_of(request)).filter(read_at=None).count()
    return render(request, "review/_inbox_count.html", {"unread": unread})


@requires("read", team_mode=True)
@require_POST
@not_recorded
def open_notice(request: HttpRequest, notice_id: int) -> HttpResponse:
    """Marks it as read and leads to what it is about; `act=read` or `act=unread` only marks."""
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
    """`act=unmute` takes it back."""
    muted: dict[str, Any] = {"chain": chain_for(request, chain_id), "person": person_of(request)}
    if request.POST.get("act") == "unmute":
        Mute.objects.filter(**muted).delete()
    else:
        Mute.objects.get_or_create(**muted)
    return see_other("review:review", chain_id)
