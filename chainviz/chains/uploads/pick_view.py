"""Which chains? A file with several message lists, or one that more than one format could have written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import arrival_for
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.render.numbers import count_text
from chainviz.chains.uploads import arrivals
from chainviz.chains.uploads.format_choices import choices_of, format_in
from chainviz.core.formats import FORMATS, format_label
from chainviz.web.responses import see_other

LINKED = 5
"""Chains that are linked after they were added."""


@dataclass(frozen=True, slots=True)
class PickRow:
    key: str
    title: str
    begins: str
    format_label: str
    messages: str
    size: int
    problems: int | None
    """None where they were not counted."""
    unchecked: bool
    """Fields that carry tools or instructions were not understood."""
    chain: Chain | None
    is_picked: bool
    earlier: int
    """So many other rows are earlier states of it."""
    is_earlier: bool


@requires("upload")
@require_http_methods(["GET", "HEAD", "POST"])
def pick(request: HttpRequest, arrival_id: int) -> HttpResponse:
    arrival = arrival_for(request, arrival_id)
    if arrival.state != Arrival.State.CHOOSING:
        return see_other("chains:library")
    if request.method != "POST":
        return _page(request, arrival)
    picks = sorted({row["key"] for row in arrival.found} & set(request.POST.getlist("pick")))
    if not picks:
        return _page(request, arrival, error="Pick at least one chain.")
    arrivals.take_in(arrival, {"picks": picks, "format": format_in(request.POST), "versions": "versions" in request.POST})
    if arrival.is_running:
        return see_other("chains:arrival", arrival.pk)
    if arrival.is_failed:
        return see_other("chains:library")
    chain = arrival.chain
    if chain is None:
        messages.success(request, _added(member_of(request), arrival, picks))
    arrivals.forget(arrival)
    return see_other("chains:chain", chain.pk) if chain is not None else see_other("chains:library")


def _added(member: Membership, arrival: Arrival, picks: Sequence[str]) -> str:
    """How many chains were added, with links to the first of them."""
    added = Chain.objects.visible_to(member).filter(file_name=arrival.name, pointer__in=picks).order_by("-pk")
    shown = [(reverse("chains:chain", args=[each.pk]), each.title) for each in added[: min(LINKED, len(picks))]]
    links = format_html_join(", ", '<a href="{}">{}</a>', shown)
    more = f" and {len(picks) - LINKED:,} more" if len(picks) > LINKED else ""
    return format_html("{} added: {}{}.", count_text(len(picks), "chain"), links, more)


def _page(request: HttpRequest, arrival: Arrival, error: str = "") -> HttpResponse:
    labels = {each.name: each.label for each in FORMATS}
    likely = [name for name in arrival.found[0]["formats"][1:] if name in labels]
    found = {row["formats"][0] for row in arrival.found}
    others = sorted(set(labels) - set(likely) - (found if len(found) == 1 else set()), key=labels.__getitem__)
    context = {
        "arrival": arrival,
        "rows": _rows(member_of(request), arrival, set(request.POST.getlist("pick")) if error else None),
        "earlier": sum(1 for row in arrival.found if row.get("final")),
        "error": error,
        "notes": list(dict.fromkeys(note for row in arrival.found for note in row["notes"])),
        "found": min(found) if len(found) == 1 else "",
        "found_label": f"{format_label(min(found))} (found)" if len(found) == 1 else "As found, each its own",
        "choices": choices_of(min(found)) if len(found) == 1 else [],
        "likely": [(name, labels[name]) for name in likely],
        "others": [(name, labels[name]) for name in others],
    }
    return render(request, "chains/uploads/pick.html", context, status=422 if error else 200)


def _rows(member: Membership, arrival: Arrival, picked: set[str] | None) -> list[PickRow]:
    earlier = Counter(row.get("final", "") for row in arrival.found)
    kept = Chain.objects.visible_to(member).in_bulk([row["chain"] for row in arrival.found if row["chain"]])
    return [
        PickRow(
            key=row["key"],
            title=row["title"],
            begins=row["begins"],
            format_label=format_label(row["formats"][0]),
            messages="" if row["messages"] is None else f"{row['messages']:,}",
            size=row["size"],
            problems=row.get("problems"),
            unchecked=row.get("unchecked", False),
            chain=kept.get(row["chain"]),
            is_picked=row["key"] in picked if picked is not None else not row.get("final"),
            earlier=earlier[row["key"]],
            is_earlier=bool(row.get("final")),
        )
        for row in sorted(arrival.found, key=lambda row: bool(row.get("final")))
    ]
