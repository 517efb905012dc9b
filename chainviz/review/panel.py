"""The review in the explorer beside the node that a person reads. Read page, view in this order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from chainviz.accounts.models import Membership, member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.views import version_subject
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import PathError
from chainviz.review.labels import LabelRow, labels_of
from chainviz.review.models import Comment, Presence, Thread, Verdict
from chainviz.review.requests.review_page import Activity, ReviewerRow, activity_of, reviewers_of, section_mark, section_marks, viewed_marks
from chainviz.review.requests.services import Check, Standing, saved_by, standings
from chainviz.review.threads.notes import place_threads, state_word, threads_with_places
from chainviz.review.threads.thread_view import BADGES, title_of
from chainviz.web.http import small_number, wants_fragment

# The content of the panel: the threads of a node, whether its section was viewed, and in team mode the state of the
# review.


MOST_THREADS = 20
ACTIVITIES = 4


@dataclass(frozen=True, slots=True)
class ThreadLine:
    number: int
    place: str
    """The number of its node, such as 2.1; "" for the whole chain and for removed nodes."""
    path: str
    """The path of its row; "" for the whole chain and for removed nodes."""
    url: str
    title: str
    who: str
    word: str
    state: str
    icon: str


@dataclass(frozen=True, slots=True)
class NodePart:
    """The review panel of the node that the person reads."""

    path: str
    number: str
    section: int
    is_viewed: bool
    threads: list[ThreadLine]
    labels: list[LabelRow]


@dataclass(frozen=True)
class Panel:
    subject: Subject
    node: NodePart | None
    threads: list[ThreadLine]
    """The open threads in the order of the chain, at most MOST_THREADS."""
    open_threads: int
    pending: int
    """The number of the person's comments that were not sent."""
    standing: Standing | None = None
    """The state of the review. In local mode it is None, like the following members."""
    reviewers: tuple[ReviewerRow, ...] = ()
    viewed: tuple[int, ...] = ()
    """The numbers of the sections that the person viewed."""
    sections: int = 0
    saved_it: bool = False
    activity: tuple[Activity, ...] = ()

    @property
    def checks(self) -> list[Check]:
        """The checks except the search for secrets, which takes long and is on the page of the review."""
        return [] if self.standing is None else [check for check in self.standing.checks if check.name != "secrets"]


def panel(subject: Subject, member: Membership, at: Path | None) -> Panel:
    chain, person = subject.chain, member.user
    place_threads(chain, subject.stored)
    found = threads_with_places(subject).filter(resolved_at=None)
    listed = found.order_by(F("place_message").asc(nulls_last=True), "number")[:MOST_THREADS]
    pending = Comment.objects.pending(person, chain).count()
    known = viewed_marks(chain, person)
    common = Panel(subject, node_part(subject, at, known), _lines(subject, listed), found.count(), pending)
    if settings.CHAINVIZ.mode != "team":
        return common
    standing = standings([chain])[chain.pk]
    sections = section_marks(subject.stored)
    return replace(
        common,
        standing=standing,
        reviewers=tuple(reviewers_of(standing)),
        viewed=tuple(number for number, mark in enumerate(sections, 1) if mark in known),
        sections=len(sections),
        saved_it=saved_by(chain, subject.version or 0, person),
        activity=tuple(activity_of(chain, ACTIVITIES)),
    )


def node_part(subject: Subject, at: Path | None, viewed: set[str]) -> NodePart | None:
    """Return the panel of a node. `viewed` contains the marks of viewed sections. Raises PathError if the version has
    no such node."""
    if at is None:
        return None
    span = subject.stored.span(at.node)
    here = threads_with_places(subject).filter(place_message__gte=span.start, place_message__lt=span.stop)
    threads = [line for line in _lines(subject, here.order_by("number")) if line.path == str(at.node)]
    is_viewed = section_mark(subject.stored, at.section) in viewed
    labels = [row for row in labels_of(subject.chain, subject.stored) if row.path == str(at.node)]
    return NodePart(str(at.node), at.number, at.section, is_viewed, threads, labels)


def next_thread(subject: Subject, at: tuple[Path | None, int], backwards: bool) -> Any | None:
    """Return the open thread after or before the place `at` (a node, and a thread on it), else the one at the other end."""
    place_threads(subject.chain, subject.stored)
    path, number = at
    message = subject.stored.span(path).start if path is not None else -1
    found = threads_with_places(subject).filter(resolved_at=None, place_message__isnull=False)
    order = ("-place_message", "-number") if backwards else ("place_message", "number")
    beyond = (
        Q(place_message__lt=message) | Q(place_message=message, number__lt=number)
        if backwards
        else Q(place_message__gt=message) | Q(place_message=message, number__gt=number)
    )
    return found.filter(beyond).order_by(*order).first() or found.order_by(*order).first()


def _lines(subject: Subject, threads: QuerySet[Any]) -> list[ThreadLine]:
    return [_line(subject, thread) for thread in threads]


def _line(subject: Subject, thread: Any) -> ThreadLine:
    word = state_word(thread)
    row = parse_path(thread.place_path).node if thread.place_path else None
    state, icon = BADGES[word]
    return ThreadLine(
        thread.number,
        row.number if row else "",
        str(row or ""),
        thread_url(subject, thread),
        title_of(thread.first_words),
        thread.first_author,
        word,
        state,
        icon,
    )


def thread_url(subject: Subject, thread: Any) -> str:
    """Return the address of the place in the chain, or of the thread's page if it has none."""
    if thread.place_path and thread.kind != Thread.Kind.CHAIN:
        return f"{subject.base_url}at/{thread.place_path}#thread-{thread.number}"
    return reverse("review:thread", args=[subject.chain.pk, thread.number])


# The panel beside the chain as a fragment, and the way from one open thread to the next.


@requires("read")
@require_safe
def review_panel(request: HttpRequest, chain_id: int, number: int) -> HttpResponse:
    """Show the panel. `?at=` names the node that is read; `?only=node` asks for its part alone. Without a script there
    are pages for it."""
    subject = version_subject(request, chain_id, number)
    at = request.GET.get("at", "")
    if not wants_fragment(request):
        return redirect("review:review" if settings.CHAINVIZ.mode == "team" else "review:threads", chain_id)
    if request.GET.get("only") == "node":
        viewed = viewed_marks(subject.chain, person_of(request))
        context = {"subject": subject, "node": node_part(subject, _path(subject, at), viewed)}
        return _fragment(request, "review/panel/_node.html", context)
    return panel_answer(request, subject, at)


def panel_answer(request: HttpRequest, subject: Subject, at: str) -> HttpResponse:
    shown = panel(subject, member_of(request), _path(subject, at))
    return _fragment(request, "review/panel/_panel.html", {"subject": subject, "panel": shown, "kinds": Verdict.Kind.choices})


@requires("read")
@require_safe
def thread_step(request: HttpRequest, chain_id: int, number: int) -> HttpResponse:
    """Go to the open thread after the one with number `thread` at the node `from`, or before it with `dir=previous`."""
    subject = version_subject(request, chain_id, number)
    at = (_path(subject, request.GET.get("from", "")), small_number(request.GET.get("thread", "")) or 0)
    found = next_thread(subject, at, request.GET.get("dir") == "previous")
    if wants_fragment(request):
        return _fragment(request, "review/panel/_step.html", {"thread": found})
    return redirect(thread_url(subject, found) if found is not None else subject.base_url)


def _path(subject: Subject, text: str) -> Path | None:
    """Raise Http404 if the version has no such node."""
    try:
        path = parse_path(text) if text else None
        if path is not None:
            subject.stored.span(path.node)
    except PathError as error:
        raise Http404(str(error)) from error
    return path


def _fragment(request: HttpRequest, template: str, context: Mapping[str, object]) -> HttpResponse:
    response = render(request, template, dict(context))
    patch_vary_headers(response, ["HX-Request"])
    return response


# The fragment that an open page of a chain requests: it shows who else is there, and records that this person is.


STAYS = timedelta(seconds=60)
"""The time for which a person counts as present after the last request of a page."""
MOST = 6
"""The most people who are shown."""


@requires("read", team_mode=True)
@require_safe
def presence(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Record and show who looks at the chain. `?v=3` is the version on the page, `&known=5` the newest one that it has
    announced."""
    chain, person, now = chain_for(request, chain_id), person_of(request), timezone.now()
    version = small_number(request.GET.get("v", "")) or chain.version
    known = max(version, small_number(request.GET.get("known", "")) or 0)
    Presence.objects.update_or_create(chain=chain, person=person, defaults={"version": version, "seen_at": now})
    others = Presence.objects.filter(chain=chain, seen_at__gt=now - STAYS).exclude(person=person)
    context = {
        "chain": chain,
        "version": version,
        "others": others.select_related("person").order_by("person__first_name")[:MOST],
        "is_behind": 0 < known < chain.version,
    }
    return render(request, "review/_presence.html", context)
