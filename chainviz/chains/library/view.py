"""The library: the table of chains, files on their way, and the samples for an empty one."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.audit.record import not_recorded
from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.folders.chain_folders import ChainFolders, chain_folders
from chainviz.chains.library.chips import chips, rule_choices, verdict_choices
from chainviz.chains.library.columns import ALWAYS, COLUMNS, choose_columns
from chainviz.chains.library.filter import library_address, notices, read_filter
from chainviz.chains.library.folder_groups import folded_of
from chainviz.chains.library.just_added import just_added
from chainviz.chains.library.listing import Listing, View, listing
from chainviz.chains.library.search.index_job import not_indexed
from chainviz.chains.library.search.pasted_error import suspects
from chainviz.chains.library.side import counts, side
from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.chains.samples import load_samples
from chainviz.chains.uploads.imports import RAW_TEXT
from chainviz.chains.uploads.tray import tray_of
from chainviz.core.formats import FORMATS
from chainviz.web.htmx import page_or_fragment, wants_fragment
from chainviz.web.responses import see_other

OFFERED = 100
"""Tools and models that are offered to filter by."""
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


@requires("read")
@require_POST
@not_recorded
def columns(request: HttpRequest) -> HttpResponse:
    """Keeps which columns a person wants to see; `act=reset` forgets it."""
    is_reset = request.POST.get("act") == "reset"
    choose_columns(person_of(request), [] if is_reset else [*ALWAYS, *request.POST.getlist("column")])
    return see_other(library_address(request.POST.get("query", "")))


def library_page(request: HttpRequest, status: int = 200) -> HttpResponse:
    """Also the answer to an upload that failed: the page with the reason on it. An error of an API that is typed opens the chain
    that has its id."""
    member = member_of(request)
    kept = Chain.objects.visible_to(member).in_library()
    counted = counts(member)  # first: a chain that is added meanwhile is new
    wanted, folders = read_filter(request.GET), chain_folders(member, kept)
    shown = listing(kept, wanted, View(member, request.GET.get("page", 1), folders, folded_of(request)))
    found = suspects(kept, request.GET.get("q", "").strip())
    if found.only and wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": found.only.url})
    context = {
        **counted,
        "listing": shown,
        "newest": max([counted["newest"], *(chain.pk for chain in shown.page)]),
        "all_columns": [(column, column.name in shown.columns) for column in COLUMNS if column.name not in ALWAYS],
        "added": (added := just_added(request)),
        "tray": tray_of(member, but=added.arrival if added else None),
        "undo": _just_binned(request),
        "is_fragment": wants_fragment(request),
        "chips": chips(wanted),
        "notices": notices(wanted),
        "not_indexed": not_indexed(kept).count() if wanted.terms else 0,
        "filter_query": wanted.address().removeprefix("?"),
        "suspects": found,
        **side(request, wanted, folders),
        **_addresses(shown),
        **({} if wants_fragment(request) else _around_the_table(kept, folders)),
    }
    return page_or_fragment(
        request, "chains/library/library.html", "chains/library/_table.html", context, status=status
    )


def _around_the_table(kept: ChainQuerySet, folders: ChainFolders) -> dict[str, Any]:
    """What the whole page shows and the fragment of the table does not."""
    labels = {each.name: each.label for each in FORMATS}
    return {
        "all_formats": sorted(labels.items(), key=lambda item: item[1].lower()),
        "format_words": _first_labels(),
        "verdict_choices": verdict_choices(),
        "project_choices": sorted(set(folders.projects.values())),
        **_values(kept),
    }


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


def _values(chains: ChainQuerySet) -> dict[str, Any]:
    """What can be filtered by: what the chains have, the most frequent first."""
    tools, models, rules = Counter[str](), Counter[str](), Counter[str]()
    for called, model, broken in chains.values_list("tools", "model", "rules_broken"):
        tools.update(name for name, _ in called)
        models.update([model] if model else [])
        rules.update(broken)
    return {
        "all_tools": [name for name, _ in tools.most_common(OFFERED)],
        "all_models": [name for name, _ in models.most_common(OFFERED)],
        "all_rules": rules,
        "rule_choices": rule_choices(name for name, _ in rules.most_common()),
    }
