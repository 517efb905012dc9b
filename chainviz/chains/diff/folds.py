"""Unchanged runs between two changes: folded into one line, or unfolded row by row."""

from __future__ import annotations

from django.utils.safestring import SafeString

from chainviz.chains.diff import diff_html as diff_rows
from chainviz.chains.diff.address import Asked, query
from chainviz.chains.diff.diff_html import Fold, More
from chainviz.chains.diff.groups import Compared, teaser_of, title_of
from chainviz.chains.render.numbers import count_text
from chainviz.core.diff import chains as core
from chainviz.core.diff.rows import Measure as RowMeasure
from chainviz.web.formatting.byte_text import byte_text

ROWS_UNFOLDED = 60


def fold_of(compared: Compared, group: core.Group, asked: Asked) -> Fold:
    start = group.new.start
    is_open = asked.fold == start
    text = _run_text(group)
    href = compared.links.page + query(
        fold=start, **{"from": asked.start if asked.start > 1 else "", "until": asked.until or ""}
    )
    if not is_open:
        return Fold(text, href, f"{asked.scope}same-{start}")
    return unfolded(compared, group, asked.row or start)


def unfolded(compared: Compared, group: core.Group, start: int) -> Fold:
    """The rows of an unchanged run from a message on."""
    start = min(max(start, group.new.start), group.new.stop - 1)
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
        more = More(
            f"{count_text(left, 'more message')}", compared.links.page + query(fold=group.new.start, row=found[-1].stop)
        )
    return Fold(_run_text(group), "", f"same-{group.new.start}", is_open=True, rows=tuple(rows), more=more)


def fold_fragment(compared: Compared, asked: Asked) -> SafeString | None:
    for group in compared.diff.groups:
        if group.kind == "same" and group.new.start == asked.fold:
            return diff_rows.render([unfolded(compared, group, asked.row or group.new.start)])
    return None


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
