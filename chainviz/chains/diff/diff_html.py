"""Render the changes of two chains as HTML: the same structure for the split and the unified view.

A line of text is one element: its number and sign are drawn by the style sheet from attributes, so that a page of
changes stays small and copied text is clean. Its input is escaped text in which invisible characters are written out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Literal

from django.templatetags.static import static
from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.diff.address import SideLink
from chainviz.chains.render.visible_text import safe
from chainviz.core.diff.lines import DiffRow, Spans

WORD_TAGS = {"added": "ins", "removed": "del"}


@dataclass(frozen=True, slots=True)
class Lines:
    """Rows of a text that follow one another: all unchanged, or all changed."""

    rows: tuple[DiffRow, ...]

    @property
    def is_changed(self) -> bool:
        return self.rows[0].kind != "same"


@dataclass(frozen=True, slots=True)
class Label:
    """The heading of the lines below: a part of a message, on the side or sides where it exists."""

    icon: str
    before: str | None
    after: str | None
    text: int = 0
    """The number of the text within its change."""
    restore: str = ""
    """What the page's form sends to restore the earlier text; empty if that is not possible."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Nodes that others replaced, one short line each."""

    side: Literal["before", "after"]
    title: str
    nodes: tuple[tuple[str, str, str, str], ...]
    """(number, role, text, size)"""
    beside: tuple[Row, ...] = ()
    """The rows of the other side: the summary."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence in place of lines: what moved from where."""

    icon: str
    text: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A short value that changed; None if that side has none."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class More:
    """Lines that are not on this page, with the link that shows them."""

    text: str
    href: str
    is_fold: bool = False
    """True if the rows are unchanged and more follow them."""
    unfold_href: str = ""
    """The address of the rows that replace a fold."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One change of a file."""

    number: int
    """The number of the change, from 1."""
    rows: tuple[Lines | More, ...]


Row = Lines | Label | Listed | Sentence | Fact | More | Hunk


@dataclass(frozen=True, slots=True)
class Group:
    """One change: what happened to a node, or to a run of nodes."""

    place: int
    """The number of the change, from 1."""
    number: str
    """The place of the node as pages show it: 2.3, or 2.3 → 2.4."""
    href: str
    role: str
    title: str
    is_code: bool
    """True if the title is the name of a tool."""
    state: str
    icon: str
    word: str
    """The kind of change in one or two words."""
    sizes: str
    rows: tuple[Row, ...]
    edit_href: str = ""
    comments: tuple[SideLink, ...] = ()
    restore: str = ""
    """What the page's form sends to restore the nodes; empty if that is not possible."""
    scope: str = ""
    """Identifies the comparison, if a page shows two."""

    @property
    def dom_id(self) -> str:
        return f"{self.scope}change-{self.place}"


@dataclass(frozen=True, slots=True)
class Fold:
    """A run of unchanged nodes; with `rows` if it is unfolded."""

    text: str
    href: str
    dom_id: str
    is_open: bool = False
    rows: tuple[tuple[str, str, str, str, str], ...] = ()
    """(number, role, text, size, address)"""
    more: More | None = None
    icon: str = "expand"
    """Another icon; the line then leads elsewhere and unfolds nothing."""


ROLE_ICONS = {"system": "system", "human": "human", "ai": "ai", "tool": "tool", "summary": "summary"}


def render(items: Iterable[Group | Fold]) -> SafeString:
    return mark_safe("".join(_group(item) if isinstance(item, Group) else fold(item) for item in items))


def render_rows(rows: Iterable[Row]) -> SafeString:
    """Render rows outside a group."""
    return mark_safe("".join(map(_row, rows)))


def count_elements(item: Group | Fold) -> int:
    """Estimate the number of HTML elements of `item`, the unit of a page's window."""
    if isinstance(item, Fold):
        return 5 + 6 * len(item.rows)
    return 12 + sum(row_elements(row) for row in item.rows)


def row_elements(row: Row) -> int:
    if isinstance(row, Hunk):
        return 1 + sum(map(row_elements, row.rows))
    if isinstance(row, Lines):
        return 1 + sum(map(line_elements, row.rows))
    if isinstance(row, Listed):
        return 6 + 7 * len(row.nodes) + sum(map(row_elements, row.beside))
    return 6


def line_elements(row: DiffRow) -> int:
    """Count the HTML elements of a line on both sides: itself, and its marked words."""
    return 2 + sum(span.marked or bool(span.skipped) for span in (*row.old, *row.new))


def _icon(name: str) -> str:
    return f'<svg class="icon" aria-hidden="true"><use href="{static("icons/icons.svg")}#{escape(name)}"/></svg>'


def _mark(role: str) -> str:
    return f'<span class="role-mark" data-role="{escape(role)}">{_icon(ROLE_ICONS.get(role, "info"))}</span>'


def _group(group: Group) -> str:
    title = safe(group.title)
    number = escape(group.number)
    place = f'<a class="node-number" href="{escape(group.href)}">{number}</a>' if group.href else number
    edit = (
        f'<a class="button" data-size="small-icon" href="{escape(group.edit_href)}" aria-label="Edit {number}" '
        f'title="Edit">{_icon("edit")}</a>'
        if group.edit_href
        else ""
    )
    comments = "".join(map(_comment, group.comments))
    side = f", {group.scope.strip('-').replace('-', ' ')}" if group.scope else ""
    return (
        f'<section class="diff-group" id="{group.dom_id}" data-change-stop tabindex="-1" '
        f'aria-label="Change {group.place}{escape(side)}: {number} {escape(group.word)}">'
        f'<div class="diff-group-head">{_mark(group.role)}{place}'
        f"<b>{f'<code>{title}</code>' if group.is_code else title}</b>"
        f'<span class="badge" data-state="{escape(group.state)}">{_icon(group.icon)}{escape(group.word)}</span>'
        f'<span class="push-end delta" data-state="quiet">{escape(group.sizes)}</span>{_restore_all(group)}{comments}{edit}</div>'
        f"{''.join(map(_row, group.rows))}</section>"
    )


def _comment(link: SideLink) -> str:
    if not link.href:
        return ""
    label = escape(link.label)
    return (
        f'<a class="button" data-size="small-icon" href="{escape(link.href)}" aria-label="{label}" '
        f'title="{label}">{link.chip or _icon("comment")}</a>'
    )


def _row(row: Row) -> str:
    match row:
        case Lines():
            return _lines(row)
        case Label():
            return _label(row)
        case Listed():
            return _listed(row)
        case Fact():
            return _fact(row)
        case Sentence():
            text = safe(row.text)
            said = f'<a href="{escape(row.href)}">{text}</a>' if row.href else text
            return f'<p class="diff-said">{_icon(row.icon)}{said}</p>'
        case Hunk():
            return (
                f'<section class="diff-hunk" id="change-{row.number}" data-change-stop tabindex="-1" '
                f'aria-label="Change {row.number}">{"".join(map(_row, row.rows))}</section>'
            )
        case More():
            kind = "diff-fold" if row.is_fold else "diff-more"
            unfold = f' hx-get="{escape(row.unfold_href)}" hx-target="this" hx-swap="outerHTML"' if row.unfold_href else ""
            return f'<a class="{kind}" href="{escape(row.href)}"{unfold}>{_icon("expand")}{escape(row.text)}</a>'


def _lines(lines: Lines) -> str:
    """Render lines. Both sides are in one grid: a removed line in its left column, an added one in its right."""
    if not lines.is_changed:
        rows = "".join(
            f'<div class="diff-line" data-n="{row.old_no}">{_words(row.old)}</div>'
            f'<div class="diff-line" data-n="{row.new_no}" data-twin>{_words(row.new)}</div>'
            for row in lines.rows
        )
        return f'<div class="diff-lines">{rows}</div>'
    rows = "".join(_line(row.old_no, row.old, "removed") + _line(row.new_no, row.new, "added") for row in lines.rows)
    return f'<div class="diff-lines" data-changed>{rows}</div>'


def _line(number: int | None, spans: Spans, change: str) -> str:
    if number is None:
        return ""
    is_whole = all(span.marked for span in spans)
    words = _words(spans, "" if is_whole else WORD_TAGS[change])
    return f'<div class="diff-line" data-n="{number}" data-change="{change}">{words}</div>'


def _words(spans: Spans, tag: str = "") -> str:
    out = []
    for span in spans:
        if span.skipped:
            out.append(f'<span class="diff-skipped">… {span.skipped:,} characters …</span>')
        else:
            out.append(f"<{tag}>{safe(span.text)}</{tag}>" if span.marked and tag else safe(span.text))
    return "".join(out)


def _label(label: Label) -> str:
    def side(text: str | None, button: str = "") -> str:
        if text is None:
            return '<div class="diff-side" data-empty></div>'
        return f'<p class="diff-side diff-side-label">{_icon(label.icon)}{safe(text)}{button}</p>'

    same = " data-same" if label.before == label.after else ""
    return f'<div class="diff-row" data-label{same}>{side(label.before, _restore(label))}{side(label.after)}</div>'


def _restore(label: Label) -> str:
    if not label.restore:
        return ""
    return (
        f'<button class="button push-end" data-size="small" form="restore" name="part" value="{escape(label.restore)}">'
        f'{_icon("restore")}Restore this text<span class="for-readers">: {safe(label.before or "")}</span></button>'
    )


def _restore_all(group: Group) -> str:
    if not group.restore:
        return ""
    words = f"Restore {escape(group.number)} as before"
    return (
        f'<button class="button" data-size="small-icon" form="restore" name="part" value="{escape(group.restore)}" '
        f'aria-label="{words}" title="{words}">{_icon("restore")}</button>'
    )


def _fact(fact: Fact) -> str:
    def side(value: str | None, tag: str) -> str:
        if value is None:
            return '<div class="diff-side" data-empty></div>'
        return f'<p class="diff-side diff-fact"><span>{safe(fact.name)}</span> <{tag}>{safe(value) or "none"}</{tag}></p>'

    return f'<div class="diff-row">{side(fact.before, "del")}{side(fact.after, "ins")}</div>'


def _listed(listed: Listed) -> str:
    nodes = "".join(
        f'<li><span class="number">{escape(number)}</span>{_mark(role)}<span>{safe(text)}</span>'
        f'<span class="number">{escape(size)}</span></li>'
        for number, role, text, size in listed.nodes
    )
    change = "removed" if listed.side == "before" else "added"
    filled = (
        f'<div class="diff-side"><p class="diff-side-label">{_icon("section")}{escape(listed.title)}</p>'
        f'<ul class="replaced-list" data-change="{change}">{nodes}</ul></div>'
    )
    other = f'<div class="diff-beside-rows">{"".join(map(_row, listed.beside))}</div>'
    return f'<div class="diff-beside">{filled + other if listed.side == "before" else other + filled}</div>'


def fold(fold: Fold) -> str:
    """Render a link that shows the run: htmx puts it in place, without scripts the page is loaded with it unfolded."""
    if fold.icon != "expand":
        return f'<{_link(fold.href)} class="diff-fold">{_icon(fold.icon)}{escape(fold.text)}</{_tag(fold.href)}>'
    if not fold.is_open:
        return (
            f'<a class="diff-fold" id="{fold.dom_id}" href="{escape(fold.href)}#{fold.dom_id}" hx-get="{escape(fold.href)}" '
            f'hx-target="this" hx-swap="outerHTML">{_icon("expand")}{escape(fold.text)}</a>'
        )
    rows = "".join(
        f'<li><{_link(href)}><span class="number">{escape(number)}</span>{_mark(role)}'
        f'<span>{safe(text)}</span><span class="number">{escape(size)}</span></{_tag(href)}></li>'
        for number, role, text, size, href in fold.rows
    )
    more = _row(fold.more) if fold.more else ""
    return (
        f'<section class="diff-unfolded" id="{fold.dom_id}" aria-label="{escape(fold.text)}">'
        f'<p class="diff-fold">{_icon("quiet")}{escape(fold.text)}</p><ul class="same-list">{rows}</ul>{more}</section>'
    )


def _tag(href: str) -> str:
    return "a" if href else "div"


def _link(href: str) -> str:
    """Return the start of a link, or of a plain line if there is nothing to link to."""
    return f'a href="{escape(href)}"' if href else "div"
