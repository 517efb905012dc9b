"""Render a window of the chain: rows with the bodies of open ones, and the amount above and below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict
from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.explorer.row_views import NO_NOTES, Drawing, RowNotes, changed_rows, row_notes, row_view, titled
from chainviz.chains.explorer.subject import Subject, ViewState
from chainviz.chains.explorer.summarized_nodes import replaced_line
from chainviz.chains.render.large_pair import LARGE, LargeNode, large_header_html, large_pair_html
from chainviz.chains.render.node import ALL, PairNode, Parted, StepQuery, header_html, pair_html
from chainviz.chains.render.parts import Reading
from chainviz.chains.render.rows import Row, outline_html, rows_html
from chainviz.core.chain.messages import AI, HUMAN, Message, Part
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.formats.traces.inspect_log import attached
from chainviz.store.content.beginnings import MANY
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import StoredMessage
from chainviz.store.content.message_shapes import StoredShape
from chainviz.store.query.windows import ALL_OPEN, MOST, Folds, Window, WindowRow, folded_rows, run_of, window, windows_around
from chainviz.web.http import small_number

ROWS, MOST_ROWS = 36, 80
LISTED = 28
"""The number of rows of the outline on a whole page."""
LONG_RUN = 15
"""The fewest pairs of a section whose run is one row in the outline."""
ABOVE = 6
"""The number of rows above a requested row."""
MOST_ELEMENTS = 280
MOST_HTML = 400_000
"""A window ends when its HTML has this many bytes."""
FIRST_HTML = 11_000
"""The same for the window on a whole page. It is more than a screen; further rows are loaded when the person scrolls."""
ROW_HTML = 500
"""The approximate size of a closed row in bytes."""
READ_NEXT = 12
"""The number of messages of a large pair that are read together."""
SMALL = 50_000
"""The size in bytes up to which a node is read before it is known whether the window has room for it."""
MOST_CHIPS = 3
READ_TOGETHER = 3_000_000
"""The most bytes of neighbouring open nodes that are read at once."""


@dataclass(frozen=True, slots=True)
class WindowPage:
    rows: tuple[Row, ...]
    html: SafeString
    before: int
    after: int
    """The estimated number of rows above and below, for the scroll bar."""
    messages: int
    """The number of messages of the chain."""
    up_url: str = ""
    down_url: str = ""


def reading_of(subject: Subject, view: ViewState, repair_url: str = "") -> Reading:
    def attachment(hash: str) -> str | None:
        return attached(subject.stored.surroundings.texts(), hash)

    return Reading(subject.base_url, view.as_written, repair_url, attachment)


def draw_window(subject: Subject, view: ViewState, reading: Reading, found: Window) -> Drawing[WindowPage]:
    """Draw a window that a page loads later."""
    notes = notes_in(subject, span_of(found))
    page = window_page(subject, view, reading, found, notes)
    return Drawing(page, span_of(found), notes, len(page.html))


def draw_windows(
    subject: Subject, view: ViewState, reading: Reading, found: Window, listed: Window
) -> Drawing[tuple[WindowPage, WindowPage]]:
    """Draw the window of a whole page, and the one of the outline beside it."""
    span = span_of(found, open_rows(listed))
    notes = notes_in(subject, span)
    window = window_page(subject, view, reading, found, notes, FIRST_HTML)
    outline = outline_page(subject, listed, notes)
    return Drawing((window, outline), span, notes, len(window.html) + len(outline.html))


def window_page(subject: Subject, view: ViewState, reading: Reading, found: Window, notes: RowNotes, most: int = MOST_HTML) -> WindowPage:
    """Return the page of a window with the notes of its rows, which ends when its HTML has `most` bytes."""
    chain = subject.stored
    rows, noted = _noted(subject, found.rows, notes), replace(reading, marks=notes.marks)
    _read_ahead(chain, view, rows, most)
    rows, up, down = _with_bodies(found, rows, lambda row: _body_of(chain, view, noted, row), most)
    context = _context(subject, rows)
    whole = subject.snapshot.size
    before, after = _around(chain, found.folds, rows)
    return WindowPage(
        tuple(rows),
        mark_safe(rows_html([*context, *rows], subject.base_url, whole)),  # the renderer escapes
        before,
        after,
        found.total,
        _url(subject, view, up, "before") if up else "",
        _url(subject, view, down, "down") if down else "",
    )


def around(chain: StoredChain, path: Path, folds: Folds, count: int = ROWS) -> Window:
    """Return a window with some rows above `path`, for context. Near the end it has more of them, so that rows that are
    added later move nothing."""
    count = min(count, MOST)
    return _filled(chain, path, count, windows_around(chain, path, (ABOVE, count, folds))[0])


def first_windows(chain: StoredChain, path: Path, view: ViewState) -> tuple[Window, Window]:
    """Return the window of `around`, and the one for the outline beside it."""
    found, listed = windows_around(chain, path, (ABOVE, ROWS, view.folds), _listed_around(chain, path, view))
    return _filled(chain, path, ROWS, found), listed


def outline_around(chain: StoredChain, path: Path, view: ViewState) -> Window:
    """Return the window of the outline on a whole page whose first row is `path`."""
    return windows_around(chain, path, _listed_around(chain, path, view))[0]


def _listed_around(chain: StoredChain, path: Path, view: ViewState) -> tuple[int, int, Folds]:
    """Return the numbers of rows of the outline before `path` and from it on: all rows, if they are few."""
    folds = outline_folds(chain, view, path.section)
    if not chain.outline.listing.section_count:
        return 0, LISTED, folds
    before, total = _rows_before(chain, folds, path), _rows_before(chain, folds, None)
    above = before if total <= LISTED else min(before, max(ABOVE, LISTED - (total - before)))
    return above, max(ABOVE, LISTED - above), folds


def outline_folds(chain: StoredChain, view: ViewState, section: int) -> Folds:
    """Return the folds of the outline. If the chain has several sections, only `section` is open, and all of its pairs are listed only
    if they are few, or the chain shows them."""
    if chain.outline.listing.section_count <= 1:
        return ALL_OPEN
    return replace(view.folds, open=False, exceptions=frozenset({section}), fewest=LONG_RUN)


def _filled(chain: StoredChain, path: Path, count: int, found: Window) -> Window:
    missing = ABOVE + count - len(found.rows)
    if found.up is None or found.down is not None or not missing:
        return found
    return replace(windows_around(chain, path, (ABOVE + missing, count, found.folds))[0], optional=missing)


def read_window(chain: StoredChain, query: QueryDict, folds: Folds) -> Window:
    """Read the window that an address asks for.
    `around=PATH`, `near=MESSAGE` (the position of a scroll bar or the minimap, counted from 0), or `from=PATH` with
    `dir`:
    `down` (with the row itself), `after` or `before` (without it).
    """
    count = min(small_number(query.get("n", "")) or ROWS, MOST_ROWS)
    near = small_number(query.get("near", ""))
    if near is not None and len(chain):
        return window(chain, _row_at(chain, min(near, len(chain) - 1)), "down", count, folds)
    middle, first = query.get("around", ""), query.get("from", "")
    if middle:
        return around(chain, parse_path(middle).node, folds, count)
    start = parse_path(first).node if first else None
    direction = query.get("dir", "down")
    if direction == "before":
        return replace(window(chain, start, "up", count, folds), optional=count)
    found = window(chain, start, "down", count + (direction == "after"), folds)
    return replace(found, rows=found.rows[1:]) if direction == "after" else found


def _row_at(chain: StoredChain, message: int) -> Path:
    """Return the path of the row of a message. The first message of a section has the row of the section."""
    path = chain.outline.path_at(message).node
    return Path(path.section) if path == Path(path.section, 0, 0) else path


def outline_page(subject: Subject, found: Window, notes: RowNotes) -> WindowPage:
    rows = _noted(subject, found.rows, notes)
    before, after = _around(subject.stored, found.folds, rows)
    html = mark_safe(outline_html(rows, subject.base_url, subject.snapshot.size))
    return WindowPage(tuple(rows), html, before, after, found.total)


def body_html(chain: StoredChain, reading: Reading, path: Path, asked: StepQuery = ALL) -> str:
    """Return an opened node, or further pieces of it."""
    span = chain.span(path)
    is_long = len(span) > LARGE
    rows = chain.rows(span.start, span.start + 1 if is_long else span.stop)
    replaced = replaced_line(chain, path, reading.base_url) if not asked.start and chain.bodies.are_written(rows[:1]) else ""
    is_large = is_long or sum(len(row.shape.parts) for row in rows) > MANY
    if path.pair == 0:
        if is_large:
            return replaced + large_header_html(reading, LargeNode(path, None, [rows[0].shape], _Bodies(chain, rows).parts), asked)
        return replaced + header_html(reading, path, chain.bodies.begun(rows[:1])[0], asked)
    if is_large:
        return replaced + large_pair_html(reading, _large_pair(chain, path, span, rows), asked)
    size = sum(row.shape.size for row in rows)
    messages = chain.bodies.begun(rows) if size <= READ_TOGETHER else None
    node = replace(_pair_node(chain, path, rows, messages), is_last=span.stop == len(chain))
    return replaced + pair_html(reading, node, asked)


def _pair_node(chain: StoredChain, path: Path, rows: Sequence[StoredMessage], messages: list[Message] | None) -> PairNode:
    shapes = [row.shape for row in rows]
    has_ai = bool(shapes) and shapes[0].role == AI
    skip = int(has_ai)

    def read(place: int) -> Message:
        at = place + skip
        return messages[at] if messages is not None else chain.bodies.begun(rows[at : at + 1])[0]

    known: Sequence[Parted] = shapes if messages is None else messages
    return PairNode(path, read(-1) if has_ai else None, known[skip:], read)


class _Rows(Sequence[StoredMessage]):
    """Message rows that are read on first use, READ_NEXT together."""

    def __init__(self, chain: StoredChain, span: range) -> None:
        self._chain = chain
        self._span = span
        self._read: dict[int, StoredMessage] = {}

    def __len__(self) -> int:
        return len(self._span)

    def __getitem__(self, place: Any) -> Any:
        index = self._span[place]
        if index not in self._read:
            stop = min(index + READ_NEXT, self._span.stop)
            self._read |= zip(range(index, stop), self._chain.rows(index, stop), strict=True)
        return self._read[index]


class _Shapes(Sequence[StoredShape]):
    def __init__(self, rows: Sequence[StoredMessage], first: int) -> None:
        self._rows = rows
        self._first = first

    def __len__(self) -> int:
        return len(self._rows) - self._first

    def __getitem__(self, place: Any) -> Any:
        return self._rows[range(self._first, len(self._rows))[place]].shape


class _Bodies:
    """Parts of messages; of neighbours that have few parts, READ_NEXT are read together."""

    def __init__(self, chain: StoredChain, rows: Sequence[StoredMessage], first: int = 0) -> None:
        self._chain = chain
        self._rows = rows
        self._first = first
        self._read: dict[int, Message] = {}

    def parts(self, place: int, wanted: range) -> Sequence[Part]:
        at = place + self._first
        if len(self._rows[at].shape.parts) > MANY:
            return self._chain.bodies.parts(self._rows[at], wanted)
        if at not in self._read:
            near = range(at, min(at + READ_NEXT, len(self._rows)))
            few = [each for each in near if len(self._rows[each].shape.parts) <= MANY]
            self._read |= zip(few, self._chain.bodies.begun([self._rows[each] for each in few]), strict=True)
        return self._read[at].parts[wanted.start : wanted.stop]


def _large_pair(chain: StoredChain, path: Path, span: range, first: Sequence[StoredMessage]) -> LargeNode:
    """Return the data of a large pair. `first`: the rows of the pair, or of its first message if there are more than LARGE."""
    rows: Sequence[StoredMessage] = first if len(first) == len(span) else _Rows(chain, span)
    has_ai = first[0].shape.role == AI
    bodies = _Bodies(chain, rows, int(has_ai))
    return LargeNode(path, first[0].shape if has_ai else None, _Shapes(rows, int(has_ai)), bodies.parts)


def titled_rows(chain: StoredChain, rows: tuple[WindowRow, ...], refusing: str = "") -> list[Row]:
    """Return rows of a page with the titles of their sections, and marks for errors of the provider `refusing`."""
    humans = {row.path.section: row.first for row in reversed(rows) if row.kind in ("section", "header") and _is_human(row.first)}
    untitled = [row for row in rows if row.kind == "section" and row.headers > 1 and row.path.section not in humans]
    chain.read([piece for row in untitled for piece in chain.outline.pieces(*_after_first(row))])
    for row in untitled:
        humans[row.path.section] = next(filter(_is_human, chain.shapes_in(*_after_first(row))), None)
    shown = [(row, row_view(row, refusing)) for row in rows]
    return [titled(view, humans.get(row.path.section)) if row.kind == "section" else view for row, view in shown]


def _is_human(shape: StoredShape | None) -> bool:
    return shape is not None and shape.role == HUMAN


def _after_first(section: WindowRow) -> tuple[int, int]:
    """Return the range of the header messages that may name a section that begins with a system message."""
    return section.start + 1, section.start + min(section.headers, 4)


def span_of(*windows: Window) -> range:
    """Return the messages with which the rows of these windows begin."""
    rows = [row for found in windows for row in (*found.rows[:1], *found.rows[-1:])]
    stops = (row.start + max(1, row.messages if row.kind in ("pair", "run") else 1) for row in rows)
    return range(min((row.start for row in rows), default=0), max(stops, default=0))


def open_rows(outline: Window) -> Window:
    """Return the rows of an outline without closed sections, whose messages are far apart."""
    return replace(outline, rows=tuple(row for row in outline.rows if row.is_open or row.kind == "run"))


def notes_in(subject: Subject, span: range) -> RowNotes:
    return row_notes(subject, span.start, span.stop) if span else NO_NOTES


def _noted(subject: Subject, found: tuple[WindowRow, ...], notes: RowNotes) -> list[Row]:
    """Return the rows with the marks of a draft and with their notes."""
    changed = changed_rows(subject.changed, found)
    rows = titled_rows(subject.stored, found, subject.refusing)
    for i, row in enumerate(rows):
        if row.kind == "run":
            row = replace(row, chip=_chips_in(row, notes))
        elif row.path in notes.chips:
            row = replace(row, chip=notes.chips[row.path], noted=notes.states[row.path], below=notes.below[row.path])
        rows[i] = replace(row, is_changed=True) if row.path in changed else row
    return rows


def _chips_in(run: Row, notes: RowNotes) -> str:
    """Return the chips of the first pairs of a run that have one."""
    first = run.path.pair or 0
    inside = range(first, first + run.count)
    pairs = sorted(path for path in notes.chips if path.section == run.path.section and path.pair in inside and path.message is None)
    return "".join(notes.chips[path] for path in pairs[:MOST_CHIPS])


def _is_open(chain: StoredChain, view: ViewState, row: Row) -> bool:
    return row.kind in ("header", "pair") and view.is_open(row.path, row.role, chain.outline.section(row.path.section).measure.pairs)


def _read_ahead(chain: StoredChain, view: ViewState, rows: Sequence[Row], most: int) -> None:
    """Read the messages of open nodes at once, as many as may fit; large ones are read only if they are rendered."""
    spans: list[range] = []
    for row in rows:
        if row.size < SMALL and row.count <= READ_NEXT and most > 0 and _is_open(chain, view, row):
            spans.append(range(row.start, row.start + row.count))
            most -= row.size
    chain.bodies.read_ahead([message for span in spans for message in chain.rows(span.start, span.stop)])


def _body_of(chain: StoredChain, view: ViewState, reading: Reading, row: Row) -> str:
    """Return the opened node as HTML; empty if the row is closed."""
    if not _is_open(chain, view, row):
        return ""
    asked = StepQuery(part=view.part) if view.part and view.part.node == row.path else ALL
    return f'<div class="node-body">{body_html(chain, reading, row.path, asked)}{row.below}</div>'


def _with_bodies(found: Window, rows: list[Row], body_of: Callable[[Row], str], most: int) -> tuple[list[Row], Path | None, Path | None]:
    """Return as many rows as fit on a page, and the paths of the first rows that were left out above and below."""
    first = min(found.optional, len(rows))
    order = [*range(first, len(rows)), *reversed(range(first))]
    elements = size = 0
    for count, i in enumerate(order):
        body = body_of(rows[i])
        if body:
            rows[i] = replace(rows[i], is_open=True, body=body)
            elements += body.count("<") - body.count("</")
        size += ROW_HTML + len(body)
        elements += 8
        if (elements > MOST_ELEMENTS or size > most) and count > ABOVE and count + 1 < len(order):
            start, stop = (i, len(rows)) if i < first else (first, i + 1)
            up = rows[start].path if start else found.up
            down = rows[stop].path if stop < len(rows) else found.down
            return rows[start:stop], up, down
    return rows, found.up, found.down


def _context(subject: Subject, rows: list[Row]) -> list[Row]:
    """Return the row of the section in which the window begins."""
    if not rows or rows[0].kind == "section":
        return []
    found = window(subject.stored, Path(rows[0].path.section), "down", 1)
    return [replace(row, is_context=True) for row in titled_rows(subject.stored, found.rows, subject.refusing)]


def _around(chain: StoredChain, folds: Folds, rows: list[Row]) -> tuple[int, int]:
    if not rows:
        return 0, 0
    total = _rows_before(chain, folds, None)
    before = _rows_before(chain, folds, rows[0].path)
    return before, max(0, total - before - len(rows))


def _rows_before(chain: StoredChain, folds: Folds, path: Path | None) -> int:
    """Return the number of rows before `path`, or of all rows, with the current folds."""
    outline = chain.outline
    place = None if path is None else outline.section(path.section)
    sections = outline.listing.section_count if place is None else place.number - 1
    shown = [outline.section(number).measure.rows for number in folds.exceptions if number <= sections]
    inside = outline.listing.total.rows if place is None else place.before.rows
    count = sections + (inside - sum(shown) if folds.open else sum(shown))
    count -= folded_rows(outline, folds, sections + 1)
    if place is None or path is None or path.pair is None:
        return count
    row, run = place.row_of(path), run_of(outline, place, folds)
    saved = len(run) - 1 if run and row >= run.stop else 0
    return count + 1 + row - place.before.rows - saved


def _url(subject: Subject, view: ViewState, path: Path, direction: str) -> str:
    query = f"&{view.query}" if view.query else ""
    return f"{subject.base_url}rows?from={path}&dir={direction}{query}"
