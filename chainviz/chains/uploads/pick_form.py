"""What a person picked of the chains of a file. The form carries it from page to page, so nothing is stored before it is sent.

Places of rows travel as ranges such as "0-4,7": thousands of picks are a few letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import QueryDict

from chainviz.core.chain.prefixes import earlier_states
from chainviz.core.formats import format_label
from chainviz.web.query_params import small_number, typed_words

ROWS = 100

VERSIONS, FINAL, EACH = "versions", "final", "each"
"""What becomes of earlier states: versions of their final state, nothing, or chains of their own."""

Row = dict[str, Any]


@dataclass(frozen=True)
class PickForm:
    rows: Sequence[Row]
    """What was found, in file order; a place is an index here."""
    states: str
    picked: frozenset[int] = frozenset()
    """A row that stands for its earlier states is picked with them."""
    words: str = ""
    number: int = 1
    """Of the page that is shown."""

    @cached_property
    def finals(self) -> list[int]:
        places = {row["key"]: place for place, row in enumerate(self.rows)}
        return [places[row["final"]] if row.get("final") else place for place, row in enumerate(self.rows)]

    @cached_property
    def earlier(self) -> list[tuple[int, ...]]:
        """For each row the places of its earlier states, the oldest first."""
        return earlier_states(self.finals, [row["messages"] for row in self.rows])

    @property
    def repeated(self) -> int:
        """How many rows are earlier states of another one."""
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
        return [
            place
            for place, final in enumerate(self.finals)
            if (self.states == EACH or final == place) and wanted in self._text(place)
        ]

    @cached_property
    def page(self) -> Page[int]:
        shown: Page[int] = Paginator(self.fitting, ROWS).get_page(self.number)
        return shown

    def ticked(self, places: Iterable[int], is_on: bool) -> PickForm:
        """The same with rows ticked or not, and what is folded under them."""
        meant = set(places) & self.free
        if self.states != EACH:
            meant |= {place for place, final in enumerate(self.finals) if final in meant} & self.free
        return replace(self, picked=self.picked | meant if is_on else self.picked - meant)

    def _text(self, place: int) -> str:
        row = self.rows[place]
        return f"{row['title']} {row['begins']} {format_label(row['formats'][0])}".lower()


def new_form(rows: Sequence[Row]) -> PickForm:
    """All is picked that is not in the library yet; earlier states become versions."""
    form = PickForm(rows, VERSIONS if any(row.get("final") for row in rows) else EACH)
    return replace(form, picked=form.free)


def sent_form(rows: Sequence[Row], data: QueryDict) -> PickForm:
    """What was sent. Without "picked", which a page fills in, the ticks are all there is."""
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
    """After a button that shows something: another page, the filtered rows, or those all ticked or not."""
    if act in ("all", "none"):
        return form.ticked(form.fitting, act == "all")
    return replace(form, number=small_number(act.removeprefix("page:")) or 1)


def to_ranges(places: Iterable[int]) -> str:
    runs = groupby(enumerate(sorted(places)), key=lambda pair: pair[1] - pair[0])
    ends = ((run[0][1], run[-1][1]) for run in (list(each) for _, each in runs))
    return ",".join(f"{start}-{end}" if end > start else f"{start}" for start, end in ends)


def from_ranges(text: str, most: int) -> frozenset[int]:
    """The places below `most` that a text names; what is no range is left out."""
    found: set[int] = set()
    for part in text.split(",")[:most]:
        first, _, last = part.partition("-")
        start, end = small_number(first), small_number(last or first)
        if start is not None and end is not None:
            found.update(range(start, min(end + 1, most)))
    return frozenset(found)
