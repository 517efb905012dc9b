"""The third view of a comparison: the whole files, line by line. A fold leads to all lines from there on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.safestring import SafeString

from chainviz.chains.diff import diff_html
from chainviz.chains.diff.address import MOST_ELEMENTS, query
from chainviz.chains.diff.diff_html import Hunk, Lines, More, Row, line_elements
from chainviz.chains.diff.files.file_rows import FileRows, after
from chainviz.chains.diff.groups import LINES_UNFOLDED
from chainviz.chains.diff.page import DiffView
from chainviz.chains.diff.part_rows import in_lines
from chainviz.chains.render.numbers import count_text
from chainviz.core.diff.align import Gap
from chainviz.core.diff.files.documents import BEGINNING, Place
from chainviz.core.diff.lines import CONTEXT, DiffRow
from chainviz.store.models import Snapshot
from chainviz.web.htmx import wants_fragment
from chainviz.web.query_params import small_number

FILE = "file"
"""The value of `view` in an address."""
OF_A_CHANGE = 300
"""Elements of one change among others; all its lines are a link away."""


@dataclass(frozen=True, slots=True)
class Window:
    """What an address asks for: changes from a number on, or all lines from a place on."""

    first: int
    place: Place | None
    layout: str
    lines: int = 0
    """So many unchanged lines to unfold in their place, from `place` on; 0 where a page is asked for."""

    @classmethod
    def of(cls, request: HttpRequest) -> Window | None:
        """None where the address does not ask for the files. Invalid values count as absent."""
        if request.GET.get("view") != FILE:
            return None
        old, _, new = request.GET.get("line", "").partition("-")
        lines = small_number(old), small_number(new)
        place = Place(*lines) if None not in lines else None  # type: ignore[arg-type]
        layout = "unified" if request.GET.get("layout") == "unified" else "split"
        first = small_number(request.GET.get("from", "")) or 1
        unfolds = small_number(request.GET.get("lines", "")) if wants_fragment(request) else 0
        return cls(max(1, first), place, layout, unfolds or 0)


def file_view(old: Snapshot, new: Snapshot, window: Window, page: str) -> DiffView:
    """`page`: the address of the comparison. Raises JobNeeded where the files are long and nobody compared them yet."""
    rows = FileRows(old, new)
    drawn = _AllLines(rows, page, window.place) if window.place else _Changes(rows, page, window.first)
    total = len(rows.diff.gaps)
    other = "split" if window.layout == "unified" else "unified"
    coarse = " They were compared in blocks; some unchanged lines may be shown as changed."
    return DiffView(
        total=total,
        heading=f"{count_text(total, 'change')} in the file",
        legend=(),
        html=diff_html.render_rows(drawn.rows),
        layout=window.layout,
        note="The exported files. JSON is shown with one member per line." + coarse * rows.diff.is_coarse,
        other_layout_href=page + query(view=FILE, layout=other),
        other_layout_text=other.capitalize(),
        file_href=page + query(view=FILE),
        nodes_href=page,
        empty_text="The files differ only in white space.",
        **drawn.links,
    )


def unfolded(old: Snapshot, new: Snapshot, window: Window, page: str) -> SafeString:
    """The lines that a fold left out, with a fold for those that are too many."""
    rows, start = FileRows(old, new), window.place or BEGINNING
    count = min(window.lines, LINES_UNFOLDED)
    found: list[Row] = list(in_lines(list(rows.rows(start, Place(start.old + count, start.new + count)))))
    if window.lines > count and found:
        found.append(_fold(page, Place(start.old + count, start.new + count), window.lines - count))
    return diff_html.render_rows(found)


def _at(page: str, place: Place) -> str:
    return page + query(view=FILE, line=f"{place.old}-{place.new}")


def _fold(page: str, place: Place, hidden: int) -> More:
    href = _at(page, place)
    return More(f"… {count_text(hidden, 'unchanged line')}", href, is_fold=True, unfold_href=f"{href}&lines={hidden}")


class _AllLines:
    """All lines from a place on, as many as fit."""

    def __init__(self, files: FileRows, page: str, place: Place) -> None:
        here = Place(min(place.old, files.end.old), min(place.new, files.end.new))
        found, is_cut = _limited(files.rows(here, files.end), MOST_ELEMENTS)
        self.rows: list[Row] = list(in_lines(found))
        self.links = {"previous_href": page + query(view=FILE), "previous_text": "All changes"}
        if is_cut:
            self.links |= {"next_href": _at(page, after(found, here)), "next_text": "More lines"}


class _Changes:
    """Changes from a number on, with the lines around them."""

    def __init__(self, files: FileRows, page: str, first: int) -> None:
        self._files, self._page = files, page
        self.rows: list[Row] = []
        self.links: dict[str, str] = {}
        gaps = files.diff.gaps
        first = min(first, len(gaps))
        room, end, number = MOST_ELEMENTS, _end(gaps[first - 2]) if first > 1 else BEGINNING, first
        for number, gap in enumerate(gaps[max(0, first - 1) :], first):
            made = list(self._change(end, gap, number))
            room -= sum(map(diff_html.row_elements, made))
            if room < 0 and number > first:
                break
            self.rows += made
            end, number = _end(gap), number + 1
        if number > len(gaps) > 0:
            self.rows += self._unchanged(end, files.end, CONTEXT, 0)
        elif gaps:
            self.links |= {"next_href": page + query(view=FILE, **{"from": number})}
            self.links |= {"next_text": count_text(len(gaps) - number + 1, "more change")}
        if first > 1:
            self.links |= {"previous_href": page + query(view=FILE), "previous_text": "From the first change on"}

    def _change(self, end: Place, gap: Gap, number: int) -> Iterator[Row]:
        """`end`: of the change before."""
        start = Place(gap.old_start, gap.new_start)
        yield from self._unchanged(end, start, CONTEXT if number > 1 else 0, CONTEXT)
        found, is_cut = _limited(self._files.rows(start, _end(gap)), OF_A_CHANGE)
        rows: list[Lines | More] = list(in_lines(found))
        if is_cut:
            rows.append(More("Show the rest of this change", _at(self._page, after(found, start))))
        yield Hunk(number, tuple(rows))

    def _unchanged(self, start: Place, stop: Place, head: int, tail: int) -> Iterator[Row]:
        """The first and last lines of an unchanged stretch, and a fold of what lies between."""
        length = stop.old - start.old
        hidden = length - head - tail
        if hidden <= 1:
            yield from in_lines(list(self._files.rows(start, stop)))
            return
        folded = Place(start.old + head, start.new + head)
        yield from in_lines(list(self._files.rows(start, folded)))
        yield _fold(self._page, folded, hidden)
        yield from in_lines(list(self._files.rows(Place(stop.old - tail, stop.new - tail), stop)))


def _end(gap: Gap) -> Place:
    return Place(gap.old_stop, gap.new_stop)


def _limited(rows: Iterator[DiffRow], room: int) -> tuple[list[DiffRow], bool]:
    """Returns the rows that fit, at least one, and whether there are more."""
    found: list[DiffRow] = []
    for row in rows:
        room -= line_elements(row)
        if room < 0 and found:
            return found, True
        found.append(row)
    return found, False
