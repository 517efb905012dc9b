"""The explorer: a chain as a window of rows, whole or as the fragments that the window is filled with."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.explorer.overview import OVERVIEW
from chainviz.chains.explorer.page import explorer_page, load_outline, repair_url_of
from chainviz.chains.explorer.rendered_window import outline_page, read_window, reading_of, window_page
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.view_state import ViewState, read_view
from chainviz.core.chain.paths import parse_path
from chainviz.store.models import Version
from chainviz.store.query.windows import ALL_OPEN
from chainviz.web.http import wants_fragment


def version_subject(request: HttpRequest, chain_id: int, number: int | None = None) -> Subject:
    """Version `number` of a chain the person may see, or the newest."""
    chain = chain_for(request, chain_id)
    number = number or chain.version
    found = Version.objects.select_related("snapshot__outline").only("number", "history_id", *SNAPSHOT_COLUMNS)
    versions = found.annotate(overview=OVERVIEW.column("snapshot"))
    version = get_object_or_404(versions, history=chain.history, number=number)
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
        overview=getattr(version, "overview", None),
    )


SNAPSHOT_COLUMNS = [
    f"snapshot__{name}"
    for name in (
        "history", "parent", "key", "format", "template", "messages", "sections", "pairs", "size", "stored", "operation",
        "outline__rules", "outline__listing", "outline__errors", "outline__warnings", "outline__verdicts", "outline__charts",
    )
]  # fmt: skip
"""Pieces, options and reports of a snapshot may be long, and no page of the explorer reads them."""


@requires("read")
@require_safe
def explorer(request: HttpRequest, subject: Subject) -> HttpResponse:
    return _page(request, explorer_page(subject, read_view(request.GET)))


@requires("read")
@require_safe
def newest(request: HttpRequest, chain_id: int) -> HttpResponse:
    """A chain's own address shows its newest version."""
    return explorer(request, version_subject(request, chain_id))


@requires("read")
@require_safe
def at(request: HttpRequest, subject: Subject, where: str) -> HttpResponse:
    path = parse_path(where)
    load_outline(subject.stored)
    subject.stored.span(path)
    return _page(request, explorer_page(subject, read_view(request.GET), at=path))


@requires("read")
@require_safe
def rows(request: HttpRequest, subject: Subject) -> HttpResponse:
    """A window by path and direction. Without a script it is the whole page, with the window in it."""
    view: ViewState = read_view(request.GET)
    found = read_window(subject.stored, request.GET, view.folds)
    if not wants_fragment(request):
        return _page(request, explorer_page(subject, view, found))
    page = window_page(subject, view, reading_of(subject, view, repair_url_of(subject)), found)
    return _fragment(request, "chains/explorer/_window.html", {"window": page})


@requires("read")
@require_safe
def outline(request: HttpRequest, subject: Subject) -> HttpResponse:
    found = read_window(subject.stored, request.GET, ALL_OPEN)
    if not wants_fragment(request):
        return _page(request, explorer_page(subject, ViewState(), found))
    return _fragment(request, "chains/explorer/_outline.html", {"window": outline_page(subject, found)})


def _page(request: HttpRequest, page: object) -> HttpResponse:
    return _fragment(request, "chains/explorer/explorer.html", {"page": page})


def _fragment(request: HttpRequest, template: str, context: dict[str, object]) -> HttpResponse:
    response = render(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


