"""The third view of a comparison: whole files, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.http import HttpRequest
from django.utils.safestring import SafeString

from chainviz.chains.diff import diff_html
from chainviz.chains.diff.address import MOST_ELEMENTS, query
from chainviz.chains.diff.changes_page import DiffView
from chainviz.chains.diff.compare import from_job_result
from chainviz.chains.diff.diff_html import Hunk, Lines, More, Row, line_elements
from chainviz.chains.diff.groups import LINES_UNFOLDED
from chainviz.chains.diff.part_rows import in_lines
from chainviz.chains.page_jobs import COMPARE_FILES, JobNeeded
from chainviz.core.counts import count_text
from chainviz.core.diff.align import Equal, Gap
from chainviz.core.diff.documents import BEGINNING, Document, DocumentDiff, LineReader, Mark, Place, compare_documents
from chainviz.core.diff.lines import CONTEXT, DiffRow, TextDiff, plain
from chainviz.jobs.tasks import JobContext
from chainviz.store.models import Snapshot
from chainviz.store.transfer.exports import export_utf8
from chainviz.web.http import small_number, wants_fragment

# Compares the files of two snapshots, as they would be exported, line by line: long ones by a job, once.


MOST_COMPARED = 4 << 20
"""The most bytes of the messages of both files; a job compares larger ones."""


def document_of(snapshot: Snapshot) -> Document:
    return lambda: export_utf8(snapshot)


def compare_files(old: Snapshot, new: Snapshot) -> DocumentDiff:
    """Raise JobNeeded on a page of long files that nobody has compared yet."""
    return _cached_diff(old.pk, new.pk, bytes(old.digest), bytes(new.digest))


@lru_cache(maxsize=16)
def _cached_diff(old_id: int, new_id: int, old_digest: bytes, new_digest: bytes) -> DocumentDiff:
    """Cache only places of lines, no content. The key includes the digests, since a number may be used again."""
    old, new = (Snapshot.objects.get(pk=pk) for pk in (old_id, new_id))
    if old.stored + new.stored <= MOST_COMPARED:
        return compare_documents(document_of(old), document_of(new))
    digests = old_digest.hex() + new_digest.hex()
    needed = JobNeeded(COMPARE_FILES, new.history_id, before=old_id, after=new_id, digests=digests)
    packed = from_job_result(needed)
    return compare_documents(document_of(old), document_of(new)) if packed is None else _unpacked(packed)


def compare_files_by_job(context: JobContext, *, before: int, after: int, digests: str, chain: int | None) -> list[Any] | None:
    """Compare two files in a job. `chain` names the job's chain. None if a purge changed one of them meanwhile."""
    old, new = (Snapshot.objects.filter(pk=pk).first() for pk in (before, after))
    if old is None or new is None or (bytes(old.digest) + bytes(new.digest)).hex() != digests:
        return None
    found = compare_documents(document_of(old), document_of(new))
    return [found.equal, found.old_lines, found.new_lines, found.is_coarse, found.old_marks, found.new_marks]


def _unpacked(packed: list[Any]) -> DocumentDiff:
    equal, old_lines, new_lines, is_coarse, old_marks, new_marks = packed
    marks = (tuple(Mark(*each) for each in some) for some in (old_marks, new_marks))
    return DocumentDiff(tuple(Equal(*each) for each in equal), old_lines, new_lines, is_coarse, *marks)


# The lines of two files as rows of a comparison, from any place on: only the lines of the window are laid out.


AT_ONCE = 300
"""The number of lines of either side that are read together."""


class FileRows:
    def __init__(self, old: Snapshot, new: Snapshot) -> None:
        self.diff = compare_files(old, new)
        self.end = Place(self.diff.old_lines, self.diff.new_lines)
        self._old = LineReader(document_of(old), self.diff.old_marks)
        self._new = LineReader(document_of(new), self.diff.new_marks)

    def rows(self, start: Place, stop: Place) -> Iterator[DiffRow]:
        """Yield the rows between two places."""
        for step in self.diff.steps(start):
            if isinstance(step, Equal):
                here = Place(step.old, step.new)
                length = min(step.length, stop.old - here.old, stop.new - here.new)
                yield from self._same(here, length)
            else:
                here = Place(step.old_start, step.new_start)
                yield from self._changed(here, Place(min(step.old_stop, stop.old), min(step.new_stop, stop.new)))
            if here.old >= stop.old and here.new >= stop.new:
                return

    def _same(self, start: Place, length: int) -> Iterator[DiffRow]:
        for first in range(0, length, AT_ONCE):
            old, new = start.old + first + 1, start.new + first + 1
            for i, line in enumerate(self._new.between(new - 1, new - 1 + min(AT_ONCE, length - first))):
                spans = plain(line)
                yield DiffRow("same", old + i, new + i, spans, spans)

    def _changed(self, start: Place, stop: Place) -> Iterator[DiffRow]:
        old, new = start
        while old < stop.old or new < stop.new:
            befores = self._old.between(old, min(old + AT_ONCE, stop.old))
            afters = self._new.between(new, min(new + AT_ONCE, stop.new))
            for row in TextDiff("\n".join(befores), "\n".join(afters)).rows(context=None):
                assert isinstance(row, DiffRow), "nothing is folded"
                yield row._replace(old_no=row.old_no and old + row.old_no, new_no=row.new_no and new + row.new_no)
            if not befores and not afters:
                return
            old, new = old + len(befores), new + len(afters)


def after(rows: list[DiffRow], start: Place) -> Place:
    """Return the place behind some rows that begin at `start`."""
    return Place(
        max([start.old, *(row.old_no for row in rows if row.old_no)]), max([start.new, *(row.new_no for row in rows if row.new_no)])
    )


# The third view of a comparison: the whole files, line by line. A fold leads to all lines from there on.


FILE = "file"
"""The value of `view` in an address."""
OF_A_CHANGE = 300
"""The most elements of one change among others; a link leads to all its lines."""


@dataclass(frozen=True, slots=True)
class Window:
    """The window that an address asks for: changes from a number on, or all lines from a place on."""

    first: int
    place: Place | None
    layout: str
    lines: int = 0
    """The number of unchanged lines to unfold in their place, from `place` on; 0 for a page."""

    @classmethod
    def of(cls, request: HttpRequest) -> Window | None:
        """Read the window from the address; None if it does not ask for the files. Invalid values count as absent."""
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
    """Compare files. `page` is the address of the comparison. Raises JobNeeded if the files are long and nobody
    compared them yet."""
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
    """Return the lines that a fold left out, with a fold for those that are too many."""
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
        """Yield the first and last lines of an unchanged range, and a fold of those between."""
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
    """Return the rows that fit, at least one, and whether there are more."""
    found: list[DiffRow] = []
    for row in rows:
        room -= line_elements(row)
        if room < 0 and found:
            return found, True
        found.append(row)
    return found, False
