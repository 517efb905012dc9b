"""The page of changes: its window, its links, and the sums.

Changes are numbered from 1. A page shows as many as its elements allow, from a change on or up to one, with unchanged runs folded
between them. Nothing is refused for its size: what does not fit has a link.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from django.utils.safestring import SafeString

from chainviz.chains.diff import diff_html as diff_rows
from chainviz.chains.diff.address import DiffQuery, with_query
from chainviz.chains.diff.compare import WORDS, Compared
from chainviz.chains.diff.diff_html import Fold
from chainviz.chains.diff.groups import build_alone, build_group, departed, fold_of
from chainviz.core.counts import count_text
from chainviz.core.diff import chains as core
from chainviz.core.diff.group_table import GroupTable
from chainviz.core.usage.model_catalog import estimated_tokens
from chainviz.store.models import Snapshot
from chainviz.store.outline.build import outline_of
from chainviz.web.formatting import byte_text, tokens_text


@dataclass(frozen=True, slots=True)
class Badge:
    state: str
    icon: str
    text: str


@dataclass(frozen=True, slots=True)
class DiffView:
    total: int
    heading: str
    legend: tuple[Badge, ...]
    html: SafeString
    layout: str
    note: str
    previous_href: str = ""
    previous_text: str = ""
    next_href: str = ""
    next_text: str = ""
    other_layout_href: str = ""
    other_layout_text: str = ""
    file_href: str = ""
    """The address of the comparison of the files; empty if they are not compared."""
    nodes_href: str = ""
    """The address of the comparison of the nodes, if this is that of the files."""
    empty_title: str = "No difference"
    empty_text: str = "Both sides have the same messages with the same content, byte for byte."


def diff_view(compared: Compared, asked: DiffQuery, heading: str = "") -> DiffView:
    """Return the view of a comparison. `heading`: the text above all changes; by default their number."""
    changes = compared.diff.changes
    total = len(changes)
    base = {
        "total": total,
        "heading": heading or count_text(total, "change"),
        "legend": legend_of(compared),
        "layout": asked.layout,
        "note": " ".join(compared.diff.notes),
        **_other_layout(compared.links.page, asked),
    }
    if 0 < asked.change <= total:
        group = build_alone(compared, asked.change, changes[asked.change - 1], asked.text, asked.row)
        heading = f"Change {asked.change:,} of {total:,}"
        return DiffView(**{**base, "heading": heading}, html=diff_rows.render([group]), **_back_to(compared.links.page, asked))  # type: ignore[arg-type]
    if not total and compared.diff.notes:
        return DiffView(**{**base, "note": "", "empty_text": base["note"]}, html=SafeString())  # type: ignore[arg-type]
    items, first, last = _window(compared, asked)
    links = _around(first, last, compared, asked)
    return DiffView(**base, html=diff_rows.render(items), **links)  # type: ignore[arg-type]


def legend_of(compared: Compared) -> tuple[Badge, ...]:
    counts = compared.diff.counts
    return tuple(Badge(*WORDS[kind][:2], f"{number:,} {compared.word(kind)}") for kind, number in counts.items())


def _window(compared: Compared, asked: DiffQuery) -> tuple[list[diff_rows.Group | Fold], int, int]:
    """Return the items of the page, and the numbers of its first and last change."""
    groups = compared.diff.groups.visible
    places = _places(compared.diff.groups)
    total = len(places)
    if not total:
        return [], 0, 0
    if asked.until:
        return _window_up(compared, asked, places, min(asked.until, total))
    first = last = min(asked.start, total)
    items: list[diff_rows.Group | Fold] = []
    room = asked.room
    # an unchanged run before the first change belongs to the page
    at = places[first - 1] - (first == 1 or _is_run(groups, places[first - 1] - 1))
    for i in range(max(at, 0), len(groups)):
        last = _number(places, i) if groups[i].is_change else last
        item = _item(compared, asked, groups[i], last)
        room -= diff_rows.count_elements(item)
        if room < 0 and any(isinstance(each, diff_rows.Group) for each in items):
            return items, first, last - groups[i].is_change
        items.append(item)
    return items, first, last


def _window_up(compared: Compared, asked: DiffQuery, places: Sequence[int], last: int) -> tuple[list[diff_rows.Group | Fold], int, int]:
    groups = compared.diff.groups.visible
    items: list[diff_rows.Group | Fold] = []
    room, first = asked.room, last
    for i in range(places[last - 1], -1, -1):
        number = _number(places, i) if groups[i].is_change else first
        item = _item(compared, asked, groups[i], number)
        room -= diff_rows.count_elements(item)
        if room < 0 and items:
            break
        items.append(item)
        first = number
    return items[::-1], first, last


def _item(compared: Compared, asked: DiffQuery, group: core.Group, number: int) -> diff_rows.Group | Fold:
    if group.is_change:
        return replace(build_group(compared, number, group), scope=asked.scope)
    return departed(compared, group, asked) if group.is_departure else fold_of(compared, group, asked)


def _places(groups: GroupTable) -> list[int]:
    """Return the indices of the changes among the listed groups."""
    changes = set(groups.changes.places)
    return [i for i, place in enumerate(groups.visible.places) if place in changes]


def _number(places: Sequence[int], place: int) -> int:
    return bisect_left(places, place) + 1


def _is_run(groups: Sequence[core.Group], place: int) -> bool:
    return place >= 0 and not groups[place].is_change


def _around(first: int, last: int, compared: Compared, asked: DiffQuery) -> dict[str, str]:
    page, total = compared.links.page, len(compared.diff.changes)
    layout = asked.layout if asked.layout != "split" else ""
    links: dict[str, str] = {}
    if first > 1:
        links["previous_href"] = with_query(page, until=first - 1, layout=layout)
        links["previous_text"] = f"{count_text(first - 1, 'change')} before"
    if last < total:
        links["next_href"] = with_query(page, **{"from": last + 1, "layout": layout})
        links["next_text"] = f"{count_text(total - last, 'more change')}"
    return links


def _back_to(page: str, asked: DiffQuery) -> dict[str, str]:
    return {
        "previous_href": with_query(page, **{"from": asked.change}) + f"#{asked.scope}change-{asked.change}",
        "previous_text": "All changes",
    }


def _other_layout(page: str, asked: DiffQuery) -> dict[str, str]:
    other = "split" if asked.layout == "unified" else "unified"
    start: dict[str, object] = {"from": asked.start if asked.start > 1 else ""}
    return {"other_layout_href": with_query(page, layout=other, **start), "other_layout_text": other.capitalize()}


# How much two versions differ in all: bytes, tokens, messages and problems, before and after.


@dataclass(frozen=True, slots=True)
class Measure:
    """One number before and after, with the widths of its two bars (of 100)."""

    name: str
    before: str
    after: str
    change: str
    state: str
    before_width: int
    after_width: int


def measures_of(before: Snapshot, after: Snapshot) -> tuple[Measure, ...]:
    old, new = outline_of(before), outline_of(after)
    rows = [
        ("Bytes", before.size, after.size, "bytes"),
        ("Tokens (estimate)", estimated_tokens(before.size), estimated_tokens(after.size), "tokens"),
        ("Messages", before.messages, after.messages, "count"),
        ("Structure problems", old.errors + old.warnings, new.errors + new.warnings, "count"),
    ]
    return measures(rows)


def measures(rows: Iterable[tuple[str, int, int, str]]) -> tuple[Measure, ...]:
    """Format measures from (name, before, after, kind): kind is bytes, tokens or count."""
    return tuple(_measure(*row) for row in rows)


def _measure(name: str, before: int, after: int, kind: str) -> Measure:
    most = max(before, after, 1)
    texts: dict[str, Callable[[int], str]] = {"bytes": byte_text, "tokens": tokens_text}
    text = texts.get(kind, "{:,}".format)
    difference = after - before
    change = ""
    if difference and kind != "count" and before and abs(difference) * 200 >= before:
        share = 100 * abs(difference) / before
        nearly_all = 0 < after < before and share > 99  # -100% is only for what is gone
        change = f"{'+' if difference > 0 else '−'}{f'{min(share, 99.9):.1f}' if nearly_all else round(share)}%"
    elif difference:
        change = f"{'+' if difference > 0 else '−'}{text(abs(difference))}"
    state = "ok" if difference < 0 else "quiet"
    return Measure(name, text(before), text(after), change or "no change", state, 100 * before // most, 100 * after // most)
