"""The page that fixes many sessions in place: it lists the changes of each session with a tick box, and one button fixes all ticked
ones."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.library.filter import read_filter
from chainviz.chains.library.listing import all_fitting_sessions
from chainviz.core import sources
from chainviz.fixes.doctor import Diagnosis, diagnose, fix_all, reason_to_wait
from chainviz.sessions_index import services
from chainviz.sessions_index.models import Session, SessionQuerySet
from chainviz.web.http import see_other, small_numbers

MOST, MOST_BYTES = 30, 24_000_000
"""The most sessions, and bytes of sessions, that one page checks while a person waits."""
SHOWN = 4
"""The most changes of a session that are shown."""


@dataclass(frozen=True, slots=True)
class Proposal:
    row: Session
    diagnosis: Diagnosis
    reason: str
    """The sentence that says why the session cannot be fixed here; "" if it can."""

    @property
    def first_causes(self) -> Sequence[str]:
        return self.diagnosis.causes[:SHOWN]

    @property
    def other_causes(self) -> Sequence[str]:
        return self.diagnosis.causes[SHOWN:]


@requires("files")
@require_http_methods(["GET", "HEAD", "POST"])
def fix_sessions(request: HttpRequest) -> HttpResponse:
    member = member_of(request)
    if request.method == "POST":
        return _write(request, member)
    rows = _requested_sessions(request, member)
    checked = _affordable(rows)
    proposals = [_proposal(row) for row in checked]
    context = {
        "proposals": proposals,
        "ready": sum(not each.reason for each in proposals),
        "left": rows.count() - len(checked),
        "library": f"{reverse('chains:library')}?{request.GET.urlencode()}",
    }
    return render(request, "sessions/fix_many.html", context)


def _write(request: HttpRequest, member: Membership) -> HttpResponse:
    picked = small_numbers(request.POST.getlist("session"))
    rows = list(Session.objects.visible_to(member).filter(pk__in=picked)[:MOST])
    found, seen = [session_of_row(row) for row in rows], {row.address: request.POST.get(f"seen-{row.pk}", "") for row in rows}
    for sentence in fix_all(found, seen):
        (messages.success if ": fixed; " in sentence else messages.warning)(request, sentence)
    services.scan(member.team)
    return see_other(f"{reverse('fix_sessions')}?{request.GET.urlencode()}")


def _requested_sessions(request: HttpRequest, member: Membership) -> SessionQuerySet:
    """Return the sessions that the address names one by one, or those of a filter that their APIs would refuse."""
    keys = small_numbers(request.GET.getlist("session"))
    if keys:
        return Session.objects.visible_to(member).filter(pk__in=keys).order_by("-changed_at")
    return all_fitting_sessions(read_filter(request.GET), member).refused().order_by("-changed_at")


def _affordable(rows: SessionQuerySet) -> list[Session]:
    """Return the first sessions, as many as one page can check; one at least."""
    found, size = list[Session](), 0
    for row in rows[:MOST]:
        size += row.size
        if found and size > MOST_BYTES:
            break
        found.append(row)
    return found


def _proposal(row: Session) -> Proposal:
    diagnosis = diagnose(session_of_row(row))
    return Proposal(row, diagnosis, next(_reasons(diagnosis), ""))


def _reasons(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.causes and not diagnosis.seen:
        yield diagnosis.causes[0]
    if diagnosis.advice:
        yield diagnosis.advice
    if not diagnosis.needs_fix:
        yield "Nothing to fix any more." if diagnosis.state == "accepted" else "No fix is known for what is left."
    yield reason_to_wait(diagnosis.session, time.time())


def session_of_row(row: Session) -> sources.Session:
    """Return the session of a row of the index as its store lists it."""
    return sources.Session(
        agent=row.agent,
        id=row.key,
        path=Path(row.path),
        title=row.title,
        project=row.project,
        updated=row.changed_at.timestamp(),
        in_database=row.in_database,
    )
