"""The page of all threads of a chain."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from chainviz.accounts.models import person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.views.chain import version_subject
from chainviz.chains.secrets.export_scan import Held, before_written
from chainviz.core.secrets.scan import scan_text
from chainviz.review.csv_and_jsonl import exported
from chainviz.review.models import Comment, Place, Thread
from chainviz.review.threads.places import place_threads
from chainviz.review.threads.thread_view import ThreadView, thread_views
from chainviz.review.written_texts import comment_texts
from chainviz.web.query_params import small_number

SHOWN = 50
FILTERS = {
    "open": Q(thread__resolved_at=None),
    "resolved": ~Q(thread__resolved_at=None),
    "outdated": Q(state=Place.State.OUTDATED),
    "removed": Q(state=Place.State.REMOVED),
    "folded": Q(state=Place.State.FOLDED),
    "all": Q(),
}


MOST_SCANNED = 200_000
"""Characters of comments that are searched for secrets while the page is made."""


def threads_with_secrets(views: Sequence[ThreadView]) -> list[int]:
    """Returns the numbers of threads whose comments or quoted text hold what looks like a secret."""
    found, left = [], MOST_SCANNED
    for view in views:
        texts = [view.thread.quote, *(each.comment.body for each in view.comments)]
        text = "\n".join(texts)[:left]
        left -= len(text)
        if scan_text(text):
            found.append(view.thread.number)
    return found


@requires("read")
@require_safe
def threads(request: HttpRequest, chain_id: int) -> HttpResponse:
    """As they stand in the newest version. `?show=`: a filter; `?after=12`: threads with larger numbers."""
    subject, person = version_subject(request, chain_id), person_of(request)
    place_threads(subject.chain, subject.stored)
    visible = Thread.objects.filter(chain=subject.chain).visible_to(person)
    places = Place.objects.filter(snapshot_key=subject.snapshot.pk, thread__in=visible)
    chosen = request.GET.get("show", "")
    chosen = chosen if chosen in FILTERS else "open"
    after = small_number(request.GET.get("after", "")) or 0
    wanted = places.filter(FILTERS[chosen], thread__number__gt=after).select_related("thread__chain")
    found = list(wanted.order_by("thread__number")[: SHOWN + 1])
    views = thread_views(subject.chain, subject.chain.version, found[:SHOWN], person)
    context = {
        "chain": subject.chain,
        "number": subject.version,
        "views": views,
        "with_secrets": threads_with_secrets(views),
        "held": _held(subject) if "export" in subject.permissions else None,
        "has_suggestions": any(view.has_suggestions for view in views),
        "filters": [(name, places.filter(which).count(), name == chosen) for name, which in FILTERS.items()],
        "chosen": chosen,
        "next": found[SHOWN - 1].thread.number if len(found) > SHOWN else None,
        "pending": Comment.objects.pending(person, subject.chain).count(),
    }
    return render(request, "review/threads.html", context)


@requires("export")
@require_safe
def comments_export(request: HttpRequest, kind: str) -> StreamingHttpResponse:
    """Of the whole library, or of one chain: `?chain=4`."""
    return exported(request, "comments", kind)


def _held(subject: Subject) -> Held | None:
    """What a scan of the files finds that the page offers."""
    return before_written("comments", [subject.chain.title, *comment_texts(subject.chain)], subject)
