"""Saved filters of a person, with the number of matching chains."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chainviz.accounts.models import Membership, Team, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.library.filter import read_filter
from chainviz.chains.library.listing import fitting_entries
from chainviz.chains.library.sessions import library_of
from chainviz.chains.models import SavedFilter
from chainviz.jobs.lease import storable
from chainviz.store.prepared_query import PreparedQuery
from chainviz.web.http import see_other, small_number

LONGEST_NAME = 60
MOST = 50
AT_ONCE = 0.2
"""The seconds for which one request counts chains. The next request continues after its last filter."""


def filters_of(member: Membership) -> list[SavedFilter]:
    return _filters_of(member.team_id, member.user_id)


_filters_of = PreparedQuery(lambda team, person: SavedFilter.objects.visible_to(Membership(team_id=team, user_id=person)))


def texts_of(team: Team | int) -> Iterator[str]:
    """Yield the texts of saved filters for the scan of the library, because a search may quote content."""
    for name, query in SavedFilter.objects.filter(team=team).values_list("name", "query"):
        yield name
        for value in QueryDict(query).values():
            yield str(value)


@requires("read")
@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Save the filter of the page under a name. An existing filter with this name is replaced."""
    member = member_of(request)
    wanted = read_filter(QueryDict(request.POST.get("query", "")))
    back = f"{reverse('chains:library')}{wanted.address()}"
    try:
        name = _name(request.POST.get("name", ""))
        if not wanted.is_set:
            raise ValidationError("There is no filter to save: search or filter first.")
        others = SavedFilter.objects.visible_to(member).exclude(name=name)
        if others.count() >= MOST:
            raise ValidationError(f"You have {MOST} saved filters; delete one first.")
    except ValidationError as refused:
        messages.error(request, str(refused.message))
        return see_other(back)
    query = wanted.address().removeprefix("?")
    key: dict[str, Any] = {"team_id": member.team_id, "owner_id": member.user_id, "name": name}
    SavedFilter.objects.update_or_create(**key, defaults={"query": query})
    messages.success(request, f"The filter “{name}” is saved.")
    return see_other(back)


@requires("read")
@require_http_methods(["GET", "HEAD", "POST"])
def saved_filter(request: HttpRequest, filter_id: int) -> HttpResponse:
    """Show the page that renames or deletes a filter."""
    kept = SavedFilter.objects.visible_to(member_of(request)).filter(pk=filter_id).first()
    if kept is None:
        raise Http404
    if request.method != "POST":
        return _page(request, kept)
    if request.POST.get("act") == "delete":
        kept.delete()
        messages.success(request, f"The filter “{kept.name}” is deleted.")
        return see_other("chains:library")
    typed = request.POST.get("name", "")
    try:
        kept.name = _name(typed)
        with transaction.atomic():
            kept.save(update_fields=["name"])
    except ValidationError as refused:
        return _page(request, kept, typed, str(refused.message))
    except IntegrityError:
        return _page(request, kept, typed, "You have another filter of this name.")
    return see_other(f"{reverse('chains:library')}?{kept.query}")


@requires("read")
@require_safe
def filter_counts(request: HttpRequest) -> HttpResponse:
    """Count the matching chains. `skip` is the number of filters that are already counted."""
    member, until = member_of(request), time.monotonic() + AT_ONCE
    skip = small_number(request.GET.get("skip", "")) or 0
    waiting = filters_of(member)[skip:]
    library = library_of(member)
    counts: list[tuple[int, int]] = []
    for kept in waiting:
        counts.append((kept.pk, fitting_entries(library, read_filter(QueryDict(kept.query)), member).count()))
        if time.monotonic() > until:
            break
    rest = skip + len(counts) if len(counts) < len(waiting) else 0
    return render(request, "chains/library/_filter_counts.html", {"counts": counts, "rest": rest})


def _page(request: HttpRequest, kept: SavedFilter, typed: str | None = None, error: str = "") -> HttpResponse:
    context = {
        "filter": kept,
        "typed": kept.name if typed is None else typed,
        "error": error,
        "address": f"{reverse('chains:library')}?{kept.query}",
    }
    return render(request, "chains/library/saved_filter.html", context, status=422 if error else 200)


def _name(typed: str) -> str:
    name = " ".join(storable(typed).split())
    if not name:
        raise ValidationError("A filter needs a name.")
    if len(name) > LONGEST_NAME:
        raise ValidationError(f"A name has at most {LONGEST_NAME} characters; this one has {len(name)}.")
    return name
