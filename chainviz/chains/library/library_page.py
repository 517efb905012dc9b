"""The library: the table of chains, files on their way, and the samples for an empty one.

A notice above the table is about chains that were just added, with a button to undo it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.db.models import Count, Max, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chainviz.accounts.audit import not_recorded, note, recorded_together
from chainviz.accounts.models import Membership, member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains import services
from chainviz.chains.access import binned_chain_for
from chainviz.chains.folders.choose_folders import ChainFolders, chain_folders
from chainviz.chains.library.cells import chips, rule_choices, verdict_choices
from chainviz.chains.library.columns import ALWAYS, COLUMNS, choose_columns
from chainviz.chains.library.entries import Entries, Totals
from chainviz.chains.library.filter import DEFAULT_ORDER, Filter, library_address, notices, read_filter
from chainviz.chains.library.listing import Listing, View, folded_of, listing, with_open_draft
from chainviz.chains.library.pasted_error import suspects
from chainviz.chains.library.reading import reading_of
from chainviz.chains.library.saved_filters import filters_of
from chainviz.chains.library.search import not_indexed
from chainviz.chains.library.sessions import ENDING_WORDS, HEALTH_WORDS, USAGE_WORDS, Library, agents_in, library_of
from chainviz.chains.models import Arrival, Chain, ChainQuerySet
from chainviz.chains.samples import load_samples
from chainviz.chains.uploads.imports import RAW_TEXT
from chainviz.chains.uploads.tray import tray_of
from chainviz.chains.welcome import is_first_page
from chainviz.core.formats import FORMATS, format_label
from chainviz.sessions_index.models import SessionQuerySet
from chainviz.store.prepared_query import PreparedQuery
from chainviz.web.context import leave_tour, start_tour
from chainviz.web.formatting import folder_name
from chainviz.web.http import own_page, page_or_fragment, see_other, small_number, wants_fragment

ROWS_COOKIE = "library_rows"
"""The cookie for wide row spacing, written by library.js."""
QUICK = frozenset(("q", "order", "health", "agent", "running", "problems"))
"""Filters in the first line, the search field or the side of the page."""
OFFERED = 100
"""The most tools and models in the filter."""
MOST_PROJECTS, MOST_NAMED = 12, 100
"""Projects that the side names at once, and after a click."""
NAMED = 8
"""The number of formats named on the page."""


@requires("read")
@require_safe
def library(request: HttpRequest) -> HttpResponse:
    """Show the library; an empty one redirects to the first page, unless the address has a query."""
    is_plain = not request.GET and not wants_fragment(request)
    if is_plain and is_first_page(request) and not Chain.objects.visible_to(member_of(request)).exists():
        return see_other("chains:welcome")
    return library_page(request)


@requires("upload")
@require_POST
def samples(request: HttpRequest) -> HttpResponse:
    load_samples(member_of(request))
    return see_other("chains:library")


@requires("upload")
@require_POST
def tour(request: HttpRequest) -> HttpResponse:
    """Start the tour with the broken sample or an own file, or leave it and stay on `page`, as `act` says."""
    act = request.POST.get("act", "")
    if act == "leave":
        return leave_tour(see_other(own_page(request, request.POST.get("page", ""), "/")))
    if act == "own":
        return start_tour(see_other("chains:welcome"))
    broken = load_samples(member_of(request))[0]
    return start_tour(see_other("chains:chain", broken.pk), broken.pk)


@requires("read")
@require_POST
@not_recorded
def columns(request: HttpRequest) -> HttpResponse:
    """Save the columns that a person chose; `act=reset` restores the default."""
    is_reset = request.POST.get("act") == "reset"
    choose_columns(person_of(request), [] if is_reset else [*ALWAYS, *request.POST.getlist("column")])
    return see_other(library_address(request.POST.get("query", "")))


def library_page(request: HttpRequest) -> HttpResponse:
    """Show the library; after a failed upload, with the reason. An API error in the search field opens the chain with its id."""
    member = member_of(request)
    kept, everything = Chain.objects.visible_to(member).in_library(), library_of(member)
    counted = counts(member, everything)  # counted first, so that a chain that is added meanwhile is new
    wanted, folders = read_filter(request.GET), chain_folders(member, kept)
    shown = listing(everything, wanted, View(member, request.GET.get("page", 1), folders, folded_of(request)))
    found = suspects(kept, request.GET.get("q", "").strip())
    if found.only and wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": found.only.fix_url or found.only.url})
    is_roomy = request.GET.get("rows", request.COOKIES.get(ROWS_COOKIE, "")) == "roomy"
    context = {
        **counted,
        "listing": shown,
        "newest": max([counted["newest"], *(chain.pk for chain in shown.chains)]),
        "reading": reading_of(member),
        "is_roomy": is_roomy,
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
        "density_address": wanted.address(rows="" if is_roomy else "roomy"),
        **side(request, wanted, folders, shown.projects if wanted == Filter() else projects_in(everything)),
        **_addresses(shown),
        **({} if wants_fragment(request) else _around_the_table(request, wanted, everything, folders)),
    }
    return page_or_fragment(request, "chains/library/library.html", "chains/library/_table.html", context)


@requires("read")
@require_safe
def filter_fields(request: HttpRequest) -> HttpResponse:
    """Return the fields of the filter that the address states, as a fragment that the page loads on demand."""
    everything = library_of(member_of(request))
    folders = chain_folders(member_of(request), everything.chains)
    context = {"filter": read_filter(request.GET), **RECORDED, **_field_choices(everything, folders)}
    return render(request, "chains/library/_filter_fields.html", context)


RECORDED = {"ending_choices": ENDING_WORDS.items(), "usage_choices": USAGE_WORDS.items()}
"""The choices of what sessions record, for the fields of the filter."""


def _around_the_table(request: HttpRequest, wanted: Filter, everything: Library, folders: ChainFolders) -> dict[str, Any]:
    """Return the values that only the whole page needs, not the fragment of the table."""
    is_asked = "filters" in request.GET
    return {
        "format_words": _first_labels(),
        "health_choices": HEALTH_WORDS.items(),
        **RECORDED,
        "agent_choices": agents_in(everything),
        "asked_fields": is_asked,
        "unseen_filters": {} if is_asked else {name: value for name, value in wanted.values.items() if name not in QUICK},
        "fields_address": wanted.address(filters="1"),
        **(_field_choices(everything, folders) if is_asked else {}),
    }


def _field_choices(everything: Library, folders: ChainFolders) -> dict[str, Any]:
    """Return the values of the filter's fields that chains and sessions have, most frequent first."""
    kept, sessions = everything.chains, everything.sessions.order_by()
    formats = sorted({*kept.order_by().values_list("format", flat=True), *sessions.values_list("format", flat=True)} - {""})
    tools = Counter(dict(sessions.values_list("tools__name").annotate(Count("pk", distinct=True))))
    models = Counter(dict(sessions.values_list("model").annotate(Count("pk"))))
    problems = sessions.exclude(problem_rows=None).values_list("provider", "problem_rows__rule").annotate(Count("pk"))
    rules = Counter({f"{provider}:{rule}": count for provider, rule, count in problems})
    for called, model, broken in kept.values_list("tools", "model", "rules_broken"):
        tools.update(name for name, _ in called)
        models.update([model])
        rules.update(broken)
    return {
        "format_choices": [(name, format_label(name)) for name in formats],
        "verdict_choices": verdict_choices(),
        "project_choices": sorted(set(folders.projects.values())),
        "all_tools": [name for name, _ in tools.most_common(OFFERED) if name],
        "all_models": [name for name, _ in models.most_common(OFFERED) if name],
        "all_rules": rules,
        "rule_choices": rule_choices(name for name, _ in rules.most_common()),
    }


def _addresses(shown: Listing) -> dict[str, str]:
    page, wanted = shown.page, shown.filter
    return {
        "previous_address": wanted.address(page=page.previous_page_number()) if page.has_previous() else "",
        "next_address": wanted.address(page=page.next_page_number()) if page.has_next() else "",
    }


def _just_binned(request: HttpRequest) -> list[Chain]:
    """Return the chains in the address that were just moved to the bin and can still be restored."""
    numbers = [int(each) for each in request.GET.get("binned", "").split(".") if each.isdecimal() and len(each) < 19]
    return list(Chain.objects.visible_to(member_of(request)).in_bin().filter(pk__in=numbers[:200])) if numbers else []


def _first_labels() -> str:
    """Return the best-known formats, and the number of others."""
    labels = [each.label for each in FORMATS if each.name != RAW_TEXT]
    return f"{', '.join(labels[:NAMED])} and {len(labels) - NAMED} more"


# The side of the library: its parts with their counts, folders, saved filters, and the size of the library.


def counts(member: Membership, shown: Library | None = None) -> dict[str, int]:
    """Count the chains and sessions that a person may see. `newest` and `newest_session` are the keys of the chain and the
    session that were added last."""
    shown = shown or library_of(member)
    found = next(iter(_chain_counts(member.team_id)), _NO_CHAINS)
    sessions = shown.keep("counts", _count_sessions)
    copies = shown.copies.aggregate(
        count=Count("pk"),
        bytes=Sum("size", default=0),
        refused=Count("pk", filter=Q(health="refused")),
        secrets=Count("pk", filter=Q(working_copy__session__secrets__gt=0)),
    )
    return found | {
        "chains": found["chains"] - copies["count"] + sessions["count"],
        "bytes": found["bytes"] - copies["bytes"] + sessions["bytes"],
        "refused": found["refused"] - copies["refused"] + sessions["refused"],
        "with_secrets": sum(each["count"] for each in _secret_counts(member.team_id)) - copies["secrets"] + sessions["secrets"],
        "newest_session": sessions["newest"],
        "drafted": sum(each["count"] for each in _draft_counts(member.team_id, member.user_id)),
    }


def _of_team(team: int) -> ChainQuerySet:
    return Chain.objects.visible_to(Membership(team_id=team))


_NO_CHAINS = {"chains": 0, "bytes": 0, "with_problems": 0, "refused": 0, "binned": 0, "newest": 0}
_IS_KEPT = Q(trashed_at=None)
_chain_counts = PreparedQuery[Any](
    lambda team: (
        _of_team(team)
        .values("team")
        .annotate(
            chains=Count("pk", filter=_IS_KEPT),
            bytes=Sum("size", filter=_IS_KEPT, default=0),
            with_problems=Count("pk", filter=_IS_KEPT & (Q(problems__gt=0) | Q(warnings__gt=0))),
            refused=Count("pk", filter=_IS_KEPT & Q(health="refused")),
            binned=Count("pk", filter=~_IS_KEPT),
            newest=Max("pk"),
        )
    )
)
_secret_counts = PreparedQuery[Any](
    lambda team: _of_team(team).in_library().filter(working_copy__session__secrets__gt=0).values("team").annotate(count=Count("pk"))
)
_draft_counts = PreparedQuery[Any](
    lambda team, person: with_open_draft(_of_team(team).in_library(), person).values("team").annotate(count=Count("pk"))
)


def _count_sessions(sessions: SessionQuerySet) -> dict[str, int]:
    return sessions.aggregate(
        count=Count("pk"),
        bytes=Sum("size", default=0),
        refused=Count("pk", filter=Q(health="refused")),
        secrets=Count("pk", filter=Q(secrets__gt=0)),
        newest=Max("pk", default=0),
    )


def projects_in(shown: Library) -> Mapping[str, Totals]:
    """Return the totals of each project, the one with the newest row first."""
    return Entries(shown.chains, shown.sessions, shown.state).by_project()


def side(request: HttpRequest, wanted: Filter, folders: ChainFolders, totals: Mapping[str, Totals]) -> dict[str, Any]:
    member = member_of(request)
    projects = [(project, folder_name(project), each) for project, each in totals.items() if project]
    return {
        "projects": projects[:MOST_PROJECTS],
        "older_projects": projects[MOST_PROJECTS:MOST_NAMED],
        "shows_drafts": replace(wanted, order=DEFAULT_ORDER) == Filter(only_drafts=True),
        "folders": folders.by_folder(),
        "saved_filters": filters_of(member),
    }


# The bin. A chain in it is lost only when a person types its title.


@requires("bin")
@require_safe
def bin(request: HttpRequest) -> HttpResponse:
    chains = Chain.objects.visible_to(member_of(request)).in_bin().order_by("-trashed_at")
    return render(request, "chains/bin/bin.html", {"chains": chains})


@requires("bin")
@require_POST
@recorded_together
def to_bin(request: HttpRequest) -> HttpResponse:
    chains = Chain.objects.visible_to(member_of(request)).in_library().filter(pk__in=_numbers_in(request))
    moved = services.to_bin(chains)
    note(request, chains=moved)
    return see_other(library_address(request.POST.get("filter", ""), binned=".".join(map(str, moved))))


@requires("bin")
@require_POST
@recorded_together
def from_bin(request: HttpRequest) -> HttpResponse:
    asked = _numbers_in(request, "only") or _numbers_in(request)
    chains = Chain.objects.visible_to(member_of(request)).in_bin().filter(pk__in=asked)
    restored = services.from_bin(chains)
    note(request, chains=[each.pk for each in restored])
    if restored:
        what = f"“{restored[0].title}” is" if len(restored) == 1 else f"{len(restored)} chains are"
        messages.success(request, f"{what} back in the library.")
    return see_other(library_address(request.POST.get("filter", "")))


@requires("delete")
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = binned_chain_for(request, chain_id)
    if request.method != "POST":
        return render(request, "chains/bin/delete.html", {"chain": chain})
    typed = request.POST.get("title", "")
    if not chain.is_called(typed):
        error = f"That is not the title. Type “{chain.title}” or “{chain.file_name}”, or cancel."
        return render(request, "chains/bin/delete.html", {"chain": chain, "typed": typed, "error": error}, status=422)
    services.delete_for_good(chain)
    messages.success(request, f"“{chain.title}” was deleted permanently.", extra_tags=f"{chain_id}:")
    return see_other("chains:bin")


def _numbers_in(request: HttpRequest, name: str = "chain") -> list[int]:
    found = map(small_number, request.POST.getlist(name))
    return [number for number in found if number is not None]


LINKED = 5


@dataclass(frozen=True, slots=True)
class JustAdded:
    arrival: Arrival
    count: int
    first: Sequence[Chain]

    @property
    def more(self) -> int:
        return self.count - len(self.first)


def just_added(request: HttpRequest) -> JustAdded | None:
    """Return the upload in the address, without chains that are already in the bin."""
    number = small_number(request.GET.get("added", ""))
    if number is None:
        return None
    arrival = Arrival.objects.visible_to(member_of(request)).filter(pk=number, state=Arrival.State.DONE).first()
    if arrival is None:
        return None
    chains = Chain.objects.visible_to(member_of(request)).in_library().filter(pk__in=arrival.added)
    count = chains.count()
    return JustAdded(arrival, count, list(chains.order_by("pk")[:LINKED])) if count else None
