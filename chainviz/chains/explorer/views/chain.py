"""The views of the explorer: a whole page with a window of rows, or a fragment of rows."""

from __future__ import annotations

from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.explorer.draw_once import Drawing, draw_once
from chainviz.chains.explorer.overview import OVERVIEW
from chainviz.chains.explorer.page import explorer_page, repair_url_of
from chainviz.chains.explorer.rendered_window import WindowPage, draw_window, notes_in, outline_page, read_window, reading_of, span_of
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.view_state import ViewState, read_view
from chainviz.core.chain.paths import parse_path
from chainviz.store.models import Version
from chainviz.store.prepared_query import PreparedQuery
from chainviz.store.query.windows import ALL_OPEN
from chainviz.web.http import wants_fragment


def version_subject(request: HttpRequest, chain_id: int, number: int | None = None) -> Subject:
    """Return version `number` of a chain that the person may see, or its newest version."""
    chain = chain_for(request, chain_id)
    number = number or chain.version
    found = _versions(chain.history, number)
    if not found:
        raise Http404("The chain has no such version.")
    version = found[0]
    base_url = reverse("chains:version", args=[chain.pk, number])
    return Subject(
        chain,
        version.snapshot,
        f"Version {number}",
        base_url,
        f"v={number}",
        number == chain.version,
        number,
        permissions=member_of(request).permissions,
        person=person_of(request),
        edition=getattr(version, "edition", None),
        overview=getattr(version, "overview", None),
    )


SNAPSHOT_COLUMNS = [
    f"snapshot__{name}"
    for name in (
        "history", "parent", "key", "format", "template", "messages", "sections", "pairs", "size", "stored", "operation", "digest",
        "outline__rules", "outline__listing", "outline__errors", "outline__warnings", "outline__verdicts", "outline__charts",
    )
]  # fmt: skip
"""Fields of a snapshot that the explorer does not read, because pieces, options and reports may be long."""
_versions = PreparedQuery(
    lambda history, number: Version.objects.filter(history=history, number=number)
    .select_related("snapshot__outline")
    .only("number", "history_id", *SNAPSHOT_COLUMNS)
    .annotate(overview=OVERVIEW.column("snapshot"), edition=F("history__edition"))
)


@requires("read")
@require_safe
def explorer(request: HttpRequest, subject: Subject) -> HttpResponse:
    return _page(request, explorer_page(subject, read_view(request.GET)))


@requires("read")
@require_safe
def newest(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Show the newest version of a chain."""
    return explorer(request, version_subject(request, chain_id))


@requires("read")
@require_safe
def at(request: HttpRequest, subject: Subject, where: str) -> HttpResponse:
    path = parse_path(where)
    subject.stored.span(path)
    return _page(request, explorer_page(subject, read_view(request.GET), at=path))


@requires("read")
@require_safe
def rows(request: HttpRequest, subject: Subject) -> HttpResponse:
    """Return a window by path and direction; for a browser without JavaScript, the whole page with that window."""
    view: ViewState = read_view(request.GET)
    if not wants_fragment(request):
        return _page(request, explorer_page(subject, view, read_window(subject.stored, request.GET, view.folds)))

    def draw() -> Drawing[WindowPage]:
        reading = reading_of(subject, view, repair_url_of(subject))
        return draw_window(subject, view, reading, read_window(subject.stored, request.GET, view.folds))

    asked = tuple(request.GET.get(name) for name in ("n", "near", "around", "from", "dir"))
    return _fragment(request, "chains/explorer/_window.html", {"window": draw_once(subject, ("rows", view, asked), draw)})


@requires("read")
@require_safe
def outline(request: HttpRequest, subject: Subject) -> HttpResponse:
    found = read_window(subject.stored, request.GET, ALL_OPEN)
    if not wants_fragment(request):
        return _page(request, explorer_page(subject, ViewState(), found))
    page = outline_page(subject, found, notes_in(subject, span_of(found)))
    return _fragment(request, "chains/explorer/_outline.html", {"window": page})


def _page(request: HttpRequest, page: object) -> HttpResponse:
    return _fragment(request, "chains/explorer/explorer.html", {"page": page})


def _fragment(request: HttpRequest, template: str, context: dict[str, object]) -> HttpResponse:
    response = render(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


