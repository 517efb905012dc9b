"""Ask which chains to import from a file with several message lists, or with one that more than one format could have
written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import arrival_for
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.uploads import arrivals
from chainviz.chains.uploads.imports import choices_of, format_in
from chainviz.core.documents.detection.sequences import earlier_states
from chainviz.core.formats import FORMATS, format_label
from chainviz.web.http import page_or_fragment, see_other, small_number, typed_words

# What a person picked of the chains of a file. The form carries it from page to page, so nothing is stored before it
# is sent. Places of rows travel as ranges such as "0-4,7": thousands of picks are a few letters.


ROWS = 100

VERSIONS, FINAL, EACH = "versions", "final", "each"
"""What earlier states become: versions of their final state, nothing, or separate chains."""

Row = dict[str, Any]


@dataclass(frozen=True)
class PickForm:
    rows: Sequence[Row]
    """The chains that were found, in file order; a place is an index here."""
    states: str
    picked: frozenset[int] = frozenset()
    """The picked rows. If a row has earlier states, they are picked too."""
    words: str = ""
    number: int = 1
    """The number of the current page."""

    @cached_property
    def finals(self) -> list[int]:
        places = {row["key"]: place for place, row in enumerate(self.rows)}
        return [places[row["final"]] if row.get("final") else place for place, row in enumerate(self.rows)]

    @cached_property
    def earlier(self) -> list[tuple[int, ...]]:
        """For each row the indexes of its earlier states, the oldest first."""
        return earlier_states(self.finals, [row["messages"] for row in self.rows])

    @property
    def repeated(self) -> int:
        """The number of rows that are earlier states of another one."""
        return sum(final != place for place, final in enumerate(self.finals))

    @cached_property
    def free(self) -> frozenset[int]:
        """The places of rows that are not in the library yet."""
        return frozenset(place for place, row in enumerate(self.rows) if not row["chain"])

    @property
    def candidates(self) -> frozenset[int]:
        """What can be ticked, on all pages."""
        return frozenset(place for place in self.free if self.states == EACH or self.finals[place] == place)

    @property
    def chosen(self) -> list[str]:
        """The keys of the lists that become chains."""
        return [self.rows[place]["key"] for place in sorted(self.picked & self.candidates)]

    @cached_property
    def fitting(self) -> list[int]:
        """The places of the rows that fit the filter."""
        wanted = self.words.lower()
        return [place for place, final in enumerate(self.finals) if (self.states == EACH or final == place) and wanted in self._text(place)]

    @cached_property
    def page(self) -> Page[int]:
        shown: Page[int] = Paginator(self.fitting, ROWS).get_page(self.number)
        return shown

    def ticked(self, places: Iterable[int], is_on: bool) -> PickForm:
        """Return the form with these rows, and those folded under them, ticked or not."""
        meant = set(places) & self.free
        if self.states != EACH:
            meant |= {place for place, final in enumerate(self.finals) if final in meant} & self.free
        return replace(self, picked=self.picked | meant if is_on else self.picked - meant)

    def _text(self, place: int) -> str:
        row = self.rows[place]
        return f"{row['title']} {row['begins']} {format_label(row['formats'][0])}".lower()


def new_form(rows: Sequence[Row]) -> PickForm:
    """Return a form with everything ticked that is not in the library yet; earlier states become versions."""
    form = PickForm(rows, VERSIONS if any(row.get("final") for row in rows) else EACH)
    return replace(form, picked=form.free)


def sent_form(rows: Sequence[Row], data: QueryDict) -> PickForm:
    """Read the submitted form. Without "picked", which a page fills in, only the ticks count."""
    keys = set(data.getlist("pick"))
    ticks = {place for place, row in enumerate(rows) if row["key"] in keys}
    words = typed_words(data.get("q", ""), 200)
    asked = data.get("states", "")
    states = asked if asked in (VERSIONS, FINAL, EACH) else EACH
    if "picked" not in data:
        return PickForm(rows, states, words=words).ticked(ticks, True)
    # ticks mean what the rows stood for when they were shown
    was = data.get("rendered", states)
    form = PickForm(rows, was, from_ranges(data.get("picked", ""), len(rows)))
    shown = from_ranges(data.get("shown", ""), len(rows))
    form = form.ticked(shown, False).ticked(ticks & shown, True)
    return PickForm(rows, states, form.picked & form.free, words, small_number(data.get("page", "")) or 1)


def acted(form: PickForm, act: str) -> PickForm:
    """Return the form after a button: another page, the filtered rows, or all of them ticked or not."""
    if act in ("all", "none"):
        return form.ticked(form.fitting, act == "all")
    return replace(form, number=small_number(act.removeprefix("page:")) or 1)


def to_ranges(places: Iterable[int]) -> str:
    runs = groupby(enumerate(sorted(places)), key=lambda pair: pair[1] - pair[0])
    ends = ((run[0][1], run[-1][1]) for run in (list(each) for _, each in runs))
    return ",".join(f"{start}-{end}" if end > start else f"{start}" for start, end in ends)


def from_ranges(text: str, most: int) -> frozenset[int]:
    """Return the places below `most` that a text names; invalid ranges are skipped."""
    found: set[int] = set()
    for part in text.split(",")[:most]:
        first, _, last = part.partition("-")
        start, end = small_number(first), small_number(last or first)
        if start is not None and end is not None:
            found.update(range(start, min(end + 1, most)))
    return frozenset(found)


MOST_STATES = 30
"""The most earlier states that a row lists."""
MOST_NOTES = 20


@dataclass(frozen=True, slots=True)
class EarlierState:
    number: int
    """The number of the version that it becomes."""
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
    """The number of problems, or None if they were not counted."""
    unchecked: bool
    """True if fields with tools or instructions were not understood."""
    chain: Chain | None
    is_picked: bool
    earlier: int
    """The number of earlier states of it in the file."""
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
    return _redirect_after(arrival)


def _redirect_after(arrival: Arrival) -> HttpResponse:
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
    more = [f"{len(notes) - MOST_NOTES:,} more notes are on the chains’ pages."] if len(notes) > MOST_NOTES else []
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
    return page_or_fragment(request, "chains/uploads/pick.html", "chains/uploads/_pick_rows.html", context, status=422 if error else 200)


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
    """Return the buttons that tick all rows that match the filter, on all pages, or none."""
    which = f"these {len(form.fitting):,}" if form.words else f"all {len(form.fitting):,}"
    return [("all", f"Tick {which}"), ("none", f"Untick {which}")] if form.fitting else []


def _formats(arrival: Arrival) -> dict[str, object]:
    """Return the formats in which the file may be read."""
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
