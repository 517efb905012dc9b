"""Unchanged runs between two changes: folded into one line, or unfolded row by row."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse

from chainviz.chains.diff import diff_html as diff_rows
from chainviz.chains.diff.address import Asked, with_query
from chainviz.chains.diff.compared import Compared
from chainviz.chains.diff.diff_html import Fold, More
from chainviz.chains.diff.groups import teaser_of, title_of, unfolded_lines
from chainviz.chains.render.numbers import count_text
from chainviz.core.diff import chains as core
from chainviz.core.diff.rows import Measure as RowMeasure
from chainviz.web.formatting.byte_text import byte_text
from chainviz.web.htmx import wants_fragment

ROWS_UNFOLDED = 60


def fold_of(compared: Compared, group: core.Group, asked: Asked) -> Fold:
    start = group.new.start
    is_open = asked.fold == start
    text = _run_text(group)
    window = {"from": asked.start if asked.start > 1 else "", "until": asked.until or ""}
    href = with_query(compared.links.page, fold=start, **window)
    if not is_open:
        return Fold(text, href, f"{asked.scope}same-{start}")
    return unfolded(compared, group, asked)


def departed(compared: Compared, group: core.Group, asked: Asked) -> Fold:
    """One line for a row from which nothing is missing but a result that is in another row now."""
    assert group.new.first is not None and group.other is not None
    text = f"{group.new.first.number} · its result is in {group.other.number} now, unchanged"
    href = compared.links.after(group.other)
    return Fold(text, href, f"{asked.scope}same-{group.new.start}", icon="sort")


def unfolded(compared: Compared, group: core.Group, asked: Asked) -> Fold:
    """The rows of an unchanged run from a message on."""
    start = min(max(asked.row, group.new.start), group.new.stop - 1)
    found = list(compared.new_rows.rows(start, min(group.new.stop, start + 6 * ROWS_UNFOLDED)))[:ROWS_UNFOLDED]
    rows = []
    for row in found:
        role, title, is_code = title_of(row)
        teaser = teaser_of(row)
        words = f"{title} {teaser}" if teaser and not (is_code and teaser.startswith(title)) else teaser or title
        rows.append((row.path.number, role, words, byte_text(row.size), compared.links.after(row.path)))
    more = None
    if found and found[-1].stop < group.new.stop:
        left = group.new.stop - found[-1].stop
        href = with_query(compared.links.page, fold=group.new.start, row=found[-1].stop)
        more = More(f"{count_text(left, 'more message')}", href)
    return Fold(_run_text(group), "", f"{asked.scope}same-{group.new.start}", is_open=True, rows=tuple(rows), more=more)


def asks_to_unfold(request: HttpRequest, asked: Asked) -> bool:
    return wants_fragment(request) and (asked.fold is not None or asked.lines > 0)


def fold_answer(compared: Compared, asked: Asked) -> HttpResponse:
    """The fragment that takes the place of a folded run, or of folded lines; 404 where there is no such run."""
    if asked.lines and 0 < asked.change <= len(compared.diff.changes):
        return HttpResponse(diff_rows.render_rows(unfolded_lines(compared, asked)))
    group = None if asked.fold is None else compared.diff.groups.same_at(asked.fold)
    if group is None:
        raise Http404
    return HttpResponse(diff_rows.render([unfolded(compared, group, asked)]))


def _run_text(group: core.Group) -> str:
    measure: RowMeasure = group.new.measure
    what = (
        count_text(measure.pairs, "unchanged pair")
        if measure.pairs
        else count_text(measure.messages, "unchanged message")
    )
    first, last = group.new.first, group.new.last
    where = "" if first is None or last is None else _range(first.number, last.number)
    return f"… {what} · {where} · {byte_text(measure.size)}"


def _range(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"
