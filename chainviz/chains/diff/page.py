"""The page of changes: which window of them is shown, where its links lead, and how much changed in all.

Changes are numbered from 1. A page shows as many as its elements allow, from a change on or up to one; unchanged runs lie
between them folded. Nothing is refused for its size: what does not fit has a link.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils.safestring import SafeString

from chainviz.chains.diff import diff_html as diff_rows
from chainviz.chains.diff.diff_html import Fold, More
from chainviz.chains.diff.groups import (
    WORDS,
    Compared,
    build_alone,
    build_group,
    count,
    number_of,
    teaser_of,
    title_of,
)
from chainviz.core.diff import chains as core
from chainviz.core.diff.rows import Measure as RowMeasure
from chainviz.web.formatting.byte_text import byte_text

MOST_ELEMENTS = 950
"""Of the changes on one page; with the page around them it stays below 1,400."""
ROWS_UNFOLDED = 60


@dataclass(frozen=True, slots=True)
class Asked:
    """What an address asks of a page of changes."""

    start: int = 1
    """First change of the window."""
    until: int = 0
    """Or its last one; 0 where it is not asked."""
    layout: str = "split"
    fold: int | None = None
    """An unchanged run to unfold, by the place of its first message in the version after."""
    row: int = 0
    """First row of it, or of a text shown alone."""
    change: int = 0
    """A change to show alone; 0 for none."""
    text: int = 0
    room: int = MOST_ELEMENTS
    scope: str = ""
    """Tells the ids of this comparison from another one's on the same page."""


def asked_of(request: HttpRequest) -> Asked:
    """Odd values are as good as none: an address is not a form."""

    def number(name: str, otherwise: int) -> int:
        value = request.GET.get(name, "")
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else otherwise

    fold = number("fold", -1)
    return Asked(
        start=max(1, number("from", 1)),
        until=number("until", 0),
        layout="unified" if request.GET.get("layout") == "unified" else "split",
        fold=None if fold < 0 else fold,
        row=number("row", 0),
        change=number("change", 0),
        text=number("text", 0),
    )


def query(**values: object) -> str:
    return "?" + urlencode({name: value for name, value in values.items() if value not in (None, "")})


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
    empty_title: str = "No difference"
    empty_text: str = "Both sides hold the same messages, byte for byte of their content."


def diff_view(compared: Compared, asked: Asked) -> DiffView:
    changes = compared.diff.changes
    total = len(changes)
    base = {
        "total": total,
        "heading": count(total, "change"),
        "legend": legend_of(compared.diff),
        "layout": asked.layout,
        "note": " ".join(compared.diff.notes),
        **_other_layout(asked),
    }
    if 0 < asked.change <= total:
        group = build_alone(compared, asked.change, changes[asked.change - 1], asked.text, asked.row)
        heading = f"Change {asked.change:,} of {total:,}"
        return DiffView(**{**base, "heading": heading}, html=diff_rows.render([group]), **_back_to(asked))  # type: ignore[arg-type]
    items, first, last = _window(compared, asked)
    links = _around(first, last, total, asked)
    return DiffView(**base, html=diff_rows.render(items), **links)  # type: ignore[arg-type]


def legend_of(diff: core.ChainDiff) -> tuple[Badge, ...]:
    return tuple(
        Badge(WORDS[kind][0], WORDS[kind][1], f"{number:,} {WORDS[kind][2]}") for kind, number in diff.counts.items()
    )


def _window(compared: Compared, asked: Asked) -> tuple[list[diff_rows.Group | Fold], int, int]:
    """Items of the page, and the numbers of its first and last change."""
    groups = compared.diff.groups
    places = _places(groups)
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
        if groups[i].kind == "same":
            item: diff_rows.Group | Fold = _fold(compared, groups[i], asked)
        else:
            last = _number(places, i)
            item = replace(build_group(compared, last, groups[i]), scope=asked.scope)
        room -= diff_rows.count_elements(item)
        if room < 0 and any(isinstance(each, diff_rows.Group) for each in items):
            return items, first, last - (groups[i].kind != "same")
        items.append(item)
    return items, first, last


def _window_up(
    compared: Compared, asked: Asked, places: Sequence[int], last: int
) -> tuple[list[diff_rows.Group | Fold], int, int]:
    groups = compared.diff.groups
    items: list[diff_rows.Group | Fold] = []
    room, first = asked.room, last
    for i in range(places[last - 1], -1, -1):
        if groups[i].kind == "same":
            item: diff_rows.Group | Fold = _fold(compared, groups[i], asked)
        else:
            item = replace(build_group(compared, _number(places, i), groups[i]), scope=asked.scope)
        room -= diff_rows.count_elements(item)
        if room < 0 and items:
            break
        items.append(item)
        if groups[i].kind != "same":
            first = _number(places, i)
    return items[::-1], first, last


def _places(groups: Sequence[core.Group]) -> list[int]:
    return [i for i, group in enumerate(groups) if group.is_change]


def _number(places: Sequence[int], place: int) -> int:
    return bisect_left(places, place) + 1


def _is_run(groups: Sequence[core.Group], place: int) -> bool:
    return place >= 0 and groups[place].kind == "same"


def _fold(compared: Compared, group: core.Group, asked: Asked) -> Fold:
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
        rows.append((number_of(row.path), role, words, byte_text(row.size), compared.links.after(row.path)))
    more = None
    if found and found[-1].stop < group.new.stop:
        left = group.new.stop - found[-1].stop
        more = More(
            f"{count(left, 'more message')}", compared.links.page + query(fold=group.new.start, row=found[-1].stop)
        )
    return Fold(_run_text(group), "", f"same-{group.new.start}", is_open=True, rows=tuple(rows), more=more)


def fold_fragment(compared: Compared, asked: Asked) -> SafeString | None:
    for group in compared.diff.groups:
        if group.kind == "same" and group.new.start == asked.fold:
            return diff_rows.render([unfolded(compared, group, asked.row or group.new.start)])
    return None


def _run_text(group: core.Group) -> str:
    measure: RowMeasure = group.new.measure
    what = count(measure.pairs, "unchanged pair") if measure.pairs else count(measure.messages, "unchanged message")
    first, last = group.new.first, group.new.last
    where = "" if first is None or last is None else _range(number_of(first), number_of(last))
    return f"… {what} · {where} · {byte_text(measure.size)}"


def _range(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def _around(first: int, last: int, total: int, asked: Asked) -> dict[str, str]:
    layout = asked.layout if asked.layout != "split" else ""
    links: dict[str, str] = {}
    if first > 1:
        links["previous_href"] = query(until=first - 1, layout=layout)
        links["previous_text"] = f"{count(first - 1, 'change')} before"
    if last < total:
        links["next_href"] = query(**{"from": last + 1, "layout": layout})
        links["next_text"] = f"{count(total - last, 'more change')}"
    return links


def _back_to(asked: Asked) -> dict[str, str]:
    return {
        "previous_href": query(**{"from": asked.change}) + f"#change-{asked.change}",
        "previous_text": "All changes",
    }


def _other_layout(asked: Asked) -> dict[str, str]:
    other = "split" if asked.layout == "unified" else "unified"
    start: dict[str, object] = {"from": asked.start if asked.start > 1 else ""}
    return {"other_layout_href": query(layout=other, **start), "other_layout_text": other.capitalize()}


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


def measures(rows: Iterable[tuple[str, int, int, str]]) -> tuple[Measure, ...]:
    """From (name, before, after, kind): kind is bytes, tokens or count."""
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
    return Measure(
        name, text(before), text(after), change or "no change", state, 100 * before // most, 100 * after // most
    )


def tokens_text(tokens: int) -> str:
    return (
        f"{tokens:,}" if tokens < 10_000 else f"{tokens / 1000:.1f}k" if tokens < 1_000_000 else f"{tokens / 1e6:.1f}M"
    )
