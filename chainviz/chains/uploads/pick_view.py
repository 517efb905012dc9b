"""Which chains? A file with several message lists, or one that more than one format could have written."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from chainviz.chains.access import arrival_for
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.uploads import arrivals
from chainviz.core.formats import FORMATS
from chainviz.web.responses import see_other


@dataclass(frozen=True, slots=True)
class PickRow:
    key: str
    title: str
    begins: str
    format_label: str
    messages: str
    size: int
    chain: Chain | None
    is_picked: bool


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
    chosen = request.POST.get("format", "")
    format = chosen if any(each.name == chosen for each in FORMATS) else ""
    arrivals.take_in(arrival, {"picks": picks, "format": format})
    if arrival.is_running:
        return see_other("chains:arrival", arrival.pk)
    if arrival.is_failed:
        return see_other("chains:library")
    chain = arrival.chain
    arrivals.forget(arrival)
    return see_other("chains:chain", chain.pk) if chain is not None else see_other("chains:library")


def _page(request: HttpRequest, arrival: Arrival, error: str = "") -> HttpResponse:
    labels = {each.name: each.label for each in FORMATS}
    likely = [name for name in arrival.found[0]["formats"][1:] if name in labels]
    found = {row["formats"][0] for row in arrival.found}
    others = sorted(set(labels) - set(likely) - (found if len(found) == 1 else set()), key=labels.__getitem__)
    context = {
        "arrival": arrival,
        "rows": _rows(arrival, labels, set(request.POST.getlist("pick")) if error else None),
        "error": error,
        "notes": list(dict.fromkeys(note for row in arrival.found for note in row["notes"])),
        "found_label": f"{labels.get(min(found), min(found))} (found)" if len(found) == 1 else "As found, each its own",
        "likely": [(name, labels[name]) for name in likely],
        "others": [(name, labels[name]) for name in others],
    }
    return render(request, "chains/uploads/pick.html", context, status=422 if error else 200)


def _rows(arrival: Arrival, labels: dict[str, str], picked: set[str] | None) -> list[PickRow]:
    kept = Chain.objects.visible_to(arrival.owner).in_bulk([row["chain"] for row in arrival.found if row["chain"]])
    return [
        PickRow(
            key=row["key"],
            title=row["title"],
            begins=row["begins"],
            format_label=labels.get(row["formats"][0], row["formats"][0]),
            messages="" if row["messages"] is None else f"{row['messages']:,}",
            size=row["size"],
            chain=kept.get(row["chain"]),
            is_picked=picked is None or row["key"] in picked,
        )
        for row in arrival.found
    ]
