"""A result as one HTML file to post in an issue: numbers and places, and no words of messages. It says what it contains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from chainviz.accounts.models import member_of
from chainviz.chains.exports.documents import END, begin_html
from chainviz.chains.exports.view import require_unlocked
from chainviz.chains.models import Chain
from chainviz.chains.render.visible_text import safe
from chainviz.core.counts import count_text
from chainviz.core.diff.chains import ChainDiff
from chainviz.core.diff.groups import Side
from chainviz.core.secrets.scan import scan_text
from chainviz.web.formatting import byte_text

MOST_CHANGES = 200
TITLES = "The titles of the chains"
NOT_SHARED = ("What messages say: texts, reasoning, arguments and results of tools", "Names of files, and everything around the messages")


@dataclass(frozen=True, slots=True)
class SharedTable:
    title: str
    head: Sequence[str]
    rows: Iterable[Sequence[str]]


@dataclass(frozen=True, slots=True)
class SharedPage:
    file_name: str
    title: str
    lead: str
    contains: Sequence[str]
    tables: Sequence[SharedTable] = field(default_factory=tuple)


def share_page(request: HttpRequest, contents: Sequence[tuple[Chain, int | None]], page: SharedPage) -> HttpResponse:
    """Answer with the page as a download. Raises ExportLocked or PermissionDenied if a chain and version may not leave."""
    if "export" not in member_of(request).permissions:
        raise PermissionDenied
    for chain, version in contents:
        require_unlocked(chain, version)
    headers = {"Content-Disposition": f'attachment; filename="{page.file_name}"'}
    return HttpResponse("".join(_html(page)), content_type="text/html; charset=utf-8", headers=headers)


def changes_table(diff: ChainDiff) -> SharedTable:
    """Return every change with its kind, places and sizes; of many changes the first ones, and a row with the number of
    the others."""
    changes = diff.changes
    rows = [(str(each.kind), _place(each.old), _place(each.new), _size(each.old), _size(each.new)) for each in changes[:MOST_CHANGES]]
    if len(changes) > MOST_CHANGES:
        rows.append((count_text(len(changes) - MOST_CHANGES, "more change"), "", "", "", ""))
    return SharedTable("Changes", ("Change", "Before", "After", "Size before", "Size after"), rows)


def _place(side: Side) -> str:
    if side.first is None or side.last is None:
        return ""
    first, last = side.first.number, side.last.number
    return first if first == last else f"{first}–{last}"


def _size(side: Side) -> str:
    return f"{count_text(side.measure.messages, 'message')}, {byte_text(side.measure.size)}" if side.first else ""


class _Words:
    """Escape words, and mask whatever looks like a secret in them."""

    def __init__(self) -> None:
        self.masked = 0

    def html(self, text: str) -> str:
        for found in reversed(scan_text(text)):
            text = f"{text[: found.start]}[{found.rule}]{text[found.end :]}"
            self.masked += 1
        return safe(text)


def _html(page: SharedPage) -> Iterable[str]:
    words = _Words()
    yield begin_html(words.html(page.title))
    yield f"<p>{words.html(page.lead)}</p>\n"
    for table in page.tables:
        head = "".join(f"<th>{words.html(each)}</th>" for each in table.head)
        rows = "".join("<tr>" + "".join(f"<td>{words.html(each)}</td>" for each in row) + "</tr>\n" for row in table.rows)
        yield f"<h2>{words.html(table.title)}</h2>\n<table><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table>\n"
    yield _list("In this page", page.contains) + _list("Not in this page", NOT_SHARED)
    masked = f"{count_text(words.masked, 'possible secret')} masked." if words.masked else "No secrets found in this page."
    yield f'<p class="muted">{masked} Made with chainviz on {timezone.now():%d %B %Y}; no scripts, loads nothing.</p>\n{END}'


def _list(title: str, items: Sequence[str]) -> str:
    return f"<h2>{title}</h2>\n<ul>{''.join(f'<li>{safe(each)}</li>' for each in items)}</ul>\n"
