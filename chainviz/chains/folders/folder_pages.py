"""The page of folders: their sessions, opened with one click, and the choice of folders."""

from __future__ import annotations

from pathlib import Path

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.audit import leave_unrecorded
from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.folders import choose_folders as folders
from chainviz.chains.folders.choose_folders import Watched
from chainviz.chains.folders.listing import Filter, Listing, files_named, listing, new_since, read_filter, rows_of
from chainviz.chains.folders.opening import MOST_FILES, Opened, open_file, path_in, read_grown
from chainviz.chains.models import Chain
from chainviz.core.counts import count_text
from chainviz.core.errors import DocumentError
from chainviz.web.http import see_other, small_number

MOST_NAMED = 200
"""The most rows that a page asks for."""


@requires("files")
@require_safe
def folder_page(request: HttpRequest) -> HttpResponse:
    return _page(request)


@requires("files")
@require_POST
def add(request: HttpRequest) -> HttpResponse:
    place = request.POST.get("path", "")
    try:
        found = folders.watch(member_of(request), place)
    except DocumentError as error:
        return _page(request, error=str(error), typed=place, status=422)
    return see_other(f"{reverse('chains:folders')}?folder={found.number}")


@requires("files")
@require_POST
def remove(request: HttpRequest) -> HttpResponse:
    number = small_number(request.POST.get("folder", ""))
    if number is not None:
        folders.forget(member_of(request), number)
    return see_other("chains:folders")


@requires("files")
@require_POST
def open_one(request: HttpRequest) -> HttpResponse:
    try:
        path = path_in(_find_folder(request), request.POST.get("file", ""))
        opened = open_file(member_of(request), path)
    except DocumentError as error:
        return _page(request, error=str(error), status=422)
    return _opened(request, opened)


@requires("files")
@require_POST
def refresh(request: HttpRequest) -> HttpResponse:
    """Return the rows of a page that look different now. Chains whose files have grown are updated first."""
    member = member_of(request)
    try:
        watched = _find_folder(request)
    except DocumentError as error:
        return _page(request, error=str(error), status=422)
    names = request.POST.getlist("file")[:MOST_NAMED]
    files = [each for each in files_named(watched, names) if not each.sentence]
    if not read_grown(member, [row.chain for row in rows_of(member, watched, files) if row.chain is not None]):
        leave_unrecorded(request)
    marks = dict(zip(names, request.POST.getlist("mark"), strict=False))
    rows = rows_of(member, watched, files_named(watched, names))
    shown = small_number(request.POST.get("total", "")) or 0
    changed = [row for row in rows if marks.get(row.file.name) != row.mark]
    context = {"rows": changed, "new": max(0, new_since(watched, read_filter(request.POST), shown))}
    response = render(request, "chains/folders/_refreshed.html", context)
    response["X-Changed"] = str(len(changed))
    return response


def _opened(request: HttpRequest, opened: Opened) -> HttpResponse:
    if opened.arrival is not None:
        return see_other("chains:arrival", opened.arrival.pk)
    chains = [each for each in opened.chains if not each.is_in_bin]
    if not chains:
        messages.warning(request, "This file is in the bin; restore it there.")
        return see_other("chains:bin")
    if opened.is_reading:
        messages.success(request, "The file has grown and is being read; the new version will be shown here.")
    elif len(chains) > 1 and opened.fresh:
        others = [format_html('<a href="{}">{}</a>', _address(each), each.title) for each in chains[1:6]]
        more = f" and {len(chains) - 6:,} more" if len(chains) > 6 else ""
        said = format_html(", ".join(["{}"] * len(others)), *others)
        messages.success(request, format_html("{} added; the others: {}{}.", count_text(opened.fresh, "chain"), said, more))
    return see_other(_address(chains[0]))


def _address(chain: Chain) -> str:
    return reverse("chains:chain", args=[chain.pk])


def _find_folder(request: HttpRequest) -> Watched:
    found = _chosen(folders.watched(member_of(request)), request.POST.get("folder", ""))
    if found is None:
        raise DocumentError("This folder is no longer listed.")
    return found


def _chosen(listed: list[Watched], number: str) -> Watched | None:
    return next((each for each in listed if str(each.number) == number), None)


def _page(request: HttpRequest, *, error: str = "", typed: str = "", status: int = 200) -> HttpResponse:
    member = member_of(request)
    listed = folders.watched(member)
    asked = request.POST if request.method == "POST" else request.GET
    chosen = _chosen(listed, asked.get("folder", "")) or (listed[0] if listed else None)
    wanted = read_filter(asked) if chosen is not None else Filter()
    shown = listing(member, chosen, wanted, asked.get("page", 1)) if chosen is not None else None
    context = {
        "folders": listed,
        "listing": shown,
        "suggestions": folders.suggestions(member) if folders.may_choose() else [],
        "may_choose": folders.may_choose(),
        "home": Path.home(),
        "most": MOST_FILES,
        "error": error,
        "typed": typed,
        **(_addresses(shown) if shown else {}),
    }
    return render(request, "chains/folders/folders.html", context, status=status)


def _addresses(shown: Listing) -> dict[str, object]:
    page, wanted, number = shown.page, shown.filter, shown.watched.number
    return {
        "here": wanted.address(number, page=page.number if page.number > 1 else ""),
        "previous_address": wanted.address(number, page=page.previous_page_number()) if page.has_previous() else "",
        "next_address": wanted.address(number, page=page.next_page_number()) if page.has_next() else "",
    }
