"""The library: the table of chains, files on their way, and the samples for an empty one."""

from __future__ import annotations

from django.db.models import Q, Sum
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.library.listing import Filter, Listing, listing, read_filter
from chainviz.chains.library.pasted_error import suspects
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.samples import load_samples
from chainviz.chains.uploads.imports import RAW_TEXT
from chainviz.core.formats import FORMATS, format_label
from chainviz.web.htmx import page_or_fragment, wants_fragment
from chainviz.web.responses import see_other

NAMED = 8
"""Formats that the page names before anybody asks."""


@requires("read")
@require_safe
def library(request: HttpRequest) -> HttpResponse:
    return library_page(request)


@requires("upload")
@require_POST
def samples(request: HttpRequest) -> HttpResponse:
    load_samples(member_of(request))
    return see_other("chains:library")


def library_page(request: HttpRequest, status: int = 200) -> HttpResponse:
    """Also the answer to an upload that failed: the page with the reason on it."""
    labels = {each.name: each.label for each in FORMATS}
    mine = Chain.objects.visible_to(member_of(request))
    kept = mine.in_library()
    wanted = read_filter(request.GET)
    shown = listing(kept, wanted, labels, request.GET.get("page", 1))
    total = kept.aggregate(bytes=Sum("size", default=0))
    context = {
        "listing": shown,
        "chains": kept.count(),
        "bytes": total["bytes"],
        "with_problems": kept.filter(Q(problems__gt=0) | Q(warnings__gt=0)).count(),
        "binned": mine.in_bin().count(),
        "arrivals": Arrival.objects.visible_to(member_of(request)).select_related("job", "chain").order_by("pk"),
        "undo": _just_binned(request),
        "is_fragment": wants_fragment(request),
        "all_formats": sorted(labels.items(), key=lambda item: item[1].lower()),
        "format_words": _first_labels(),
        "filter_words": _in_words(wanted, labels),
        "suspects": suspects(kept, request.GET.get("q", "").strip()),
        **_addresses(shown),
    }
    return page_or_fragment(
        request, "chains/library/library.html", "chains/library/_table.html", context, status=status
    )


def _addresses(shown: Listing) -> dict[str, str]:
    page, wanted = shown.page, shown.filter
    return {
        "all_address": wanted.address(problems=""),
        "problems_address": wanted.address(problems="1"),
        "previous_address": wanted.address(page=page.previous_page_number()) if page.has_previous() else "",
        "next_address": wanted.address(page=page.next_page_number()) if page.has_next() else "",
    }


def _just_binned(request: HttpRequest) -> list[Chain]:
    """Chains that the address says were just put into the bin, if they are still there: they can be taken back."""
    numbers = [int(each) for each in request.GET.get("binned", "").split(".") if each.isdecimal() and len(each) < 19]
    return list(Chain.objects.visible_to(member_of(request)).in_bin().filter(pk__in=numbers[:200])) if numbers else []


def _first_labels() -> str:
    """The best known formats, and how many more there are."""
    labels = [each.label for each in FORMATS if each.name != RAW_TEXT]
    return f"{', '.join(labels[:NAMED])} and {len(labels) - NAMED} more"


def _in_words(wanted: Filter, labels: dict[str, str]) -> str:
    said = []
    if wanted.words:
        said.append(f"“{wanted.words}” in the title, file or format")
    if wanted.format:
        said.append(f"format {format_label(wanted.format)}")
    if wanted.label:
        said.append(f"label {wanted.label.partition(':')[2]}")
    if wanted.only_problems:
        said.append("with problems")
    return f"You asked for {', '.join(said)}." if said else ""
