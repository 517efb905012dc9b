"""Which chains? A file with several message lists, or one that more than one format could have written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import arrival_for
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.uploads import arrivals
from chainviz.chains.uploads.format_choices import choices_of, format_in
from chainviz.chains.uploads.pick_form import EACH, FINAL, VERSIONS, PickForm, acted, new_form, sent_form, to_ranges
from chainviz.core.formats import FORMATS, format_label
from chainviz.web.htmx import page_or_fragment
from chainviz.web.responses import see_other

MOST_STATES = 30
"""Earlier states that a row names."""
MOST_NOTES = 20


@dataclass(frozen=True, slots=True)
class EarlierState:
    number: int
    """Of the version that it becomes."""
    title: str
    messages: int


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
    """So many other states of it lie in the file."""
    states: Sequence[EarlierState]
    """The first of them."""
    states_left: int
    is_earlier: bool


@requires("upload")
@require_http_methods(["GET", "HEAD", "POST"])
def pick(request: HttpRequest, arrival_id: int) -> HttpResponse:
    arrival = arrival_for(request, arrival_id)
    if arrival.state != Arrival.State.CHOOSING:
        return see_other("chains:library")
    if request.method != "POST":
        return _page(request, arrival, new_form(arrival.found))
    form = sent_form(arrival.found, request.POST)
    act = request.POST.get("act", "add")
    if act != "add":
        return _page(request, arrival, acted(form, act))
    if not form.chosen:
        return _page(request, arrival, form, error="Tick at least one chain.")
    how = {"picks": form.chosen, "format": format_in(request.POST), "versions": form.states == VERSIONS}
    arrivals.take_in(arrival, how)
    return _taken(arrival)


def _taken(arrival: Arrival) -> HttpResponse:
    if arrival.is_running:
        return see_other("chains:arrival", arrival.pk)
    if arrival.chain is None and not arrival.is_failed:
        return see_other(f"{reverse('chains:library')}?added={arrival.pk}")
    chain = arrival.chain
    if arrival.is_failed or chain is None:
        return see_other("chains:library")
    arrivals.forget(arrival)
    return see_other("chains:chain", chain.pk)


def _page(request: HttpRequest, arrival: Arrival, form: PickForm, error: str = "") -> HttpResponse:
    picked, shown = form.picked & form.candidates, set(form.page)
    notes = list(dict.fromkeys(note for row in arrival.found for note in row["notes"]))
    more = (
        [f"{len(notes) - MOST_NOTES:,} more notes are on the chains’ pages."] if len(notes) > MOST_NOTES else []
    )
    context = {
        "arrival": arrival,
        "form": form,
        "page": form.page,
        "rows": _rows(member_of(request), form),
        "total": len(form.candidates),
        "picked_count": len(picked),
        "elsewhere": len(picked - shown),
        "picked": to_ranges(form.picked),
        "shown": to_ranges(shown),
        "state_choices": _state_choices(form),
        "tick_acts": _tick_acts(form),
        "error": error,
        "notes": [*notes[:MOST_NOTES], *more],
        **_formats(arrival),
    }
    return page_or_fragment(
        request, "chains/uploads/pick.html", "chains/uploads/_pick_rows.html", context, status=422 if error else 200
    )


def _state_choices(form: PickForm) -> list[tuple[str, str, str]]:
    """Value, label and hint of what can become of earlier states."""
    finals = len(form.rows) - form.repeated
    chains = f"{finals:,} chain{'' if finals == 1 else 's'}"
    return [
        (VERSIONS, "As versions", f"{chains}; earlier states become the versions before the final one"),
        (FINAL, "Only the final states", f"{chains} with one version; earlier states are left out"),
        (EACH, "Each as its own chain", f"{len(form.rows):,} chains, to tick one by one"),
    ]


def _tick_acts(form: PickForm) -> list[tuple[str, str]]:
    """Of the buttons that tick all rows that fit the filter, on all pages, or none."""
    which = f"these {len(form.fitting):,}" if form.words else f"all {len(form.fitting):,}"
    return [("all", f"Tick {which}"), ("none", f"Untick {which}")] if form.fitting else []


def _formats(arrival: Arrival) -> dict[str, object]:
    """In which formats the file may be read."""
    labels = {each.name: each.label for each in FORMATS}
    likely = [name for name in arrival.found[0]["formats"][1:] if name in labels]
    found = {row["formats"][0] for row in arrival.found}
    others = sorted(set(labels) - set(likely) - (found if len(found) == 1 else set()), key=labels.__getitem__)
    return {
        "found": min(found) if len(found) == 1 else "",
        "found_label": f"{format_label(min(found))} (detected)" if len(found) == 1 else "As detected, each its own",
        "choices": choices_of(min(found)) if len(found) == 1 else [],
        "likely": [(name, labels[name]) for name in likely],
        "others": [(name, labels[name]) for name in others],
    }


def _rows(member: Membership, form: PickForm) -> list[PickRow]:
    chains = [form.rows[place]["chain"] for place in form.page]
    kept = Chain.objects.visible_to(member).in_bulk([chain for chain in chains if chain])
    return [_row(form, place, kept) for place in form.page]


def _row(form: PickForm, place: int, kept: dict[int, Chain]) -> PickRow:
    row = form.rows[place]
    is_folded = form.states != EACH
    earlier = form.earlier[place] if is_folded else ()
    return PickRow(
        key=row["key"],
        title=row["title"],
        begins=row["begins"],
        format_label=format_label(row["formats"][0]),
        messages="" if row["messages"] is None else f"{row['messages']:,}",
        size=row["size"],
        problems=row.get("problems"),
        unchecked=row.get("unchecked", False),
        chain=kept.get(row["chain"]),
        is_picked=place in form.picked,
        earlier=len(earlier),
        states=[
            EarlierState(number, form.rows[each]["title"], form.rows[each]["messages"])
            for number, each in enumerate(earlier[:MOST_STATES], 1)
        ],
        states_left=max(0, len(earlier) - MOST_STATES),
        is_earlier=bool(row.get("final")),
    )
