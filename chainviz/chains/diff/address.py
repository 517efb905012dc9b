"""Read the address of a page of changes: the window, the layout, a run to unfold, a change to show alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlencode

from django.http import HttpRequest

from chainviz.core.chain.paths import Path

MOST_ELEMENTS = 950
"""The most elements of the changes on one page; with the rest of the page there are fewer than 1,400."""


@dataclass(frozen=True, slots=True)
class DiffQuery:
    """The query of a page of changes."""

    start: int = 1
    """The first change of the window."""
    until: int = 0
    """The last change of the window instead; 0 if it is not given."""
    layout: str = "split"
    fold: int | None = None
    """An unchanged run to unfold, by the place of its first message in the version after."""
    row: int = 0
    """The first row of the run, or of a text shown alone."""
    change: int = 0
    """A change to show alone; 0 for none."""
    text: int = 0
    lines: int = 0
    """The number of unchanged lines to unfold in place of their fold; 0 for none."""
    room: int = MOST_ELEMENTS
    scope: str = ""
    """Distinguishes the ids of this comparison from those of another one on the same page."""


def read_diff_query(request: HttpRequest) -> DiffQuery:
    """Invalid values count as absent: an address is not a form."""

    def number(name: str, otherwise: int) -> int:
        value = request.GET.get(name, "")
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else otherwise

    fold = number("fold", -1)
    return DiffQuery(
        start=max(1, number("from", 1)),
        until=number("until", 0),
        layout="unified" if request.GET.get("layout") == "unified" else "split",
        fold=None if fold < 0 else fold,
        row=number("row", 0),
        change=number("change", 0),
        text=number("text", 0),
        lines=number("lines", 0),
    )


def query(**values: object) -> str:
    return "?" + urlencode({name: value for name, value in values.items() if value not in (None, "")})


def with_query(page: str, **values: object) -> str:
    """`page` may have a query already."""
    added = query(**values).removeprefix("?")
    return f"{page}{'&' if '?' in page else '?'}{added}" if added else page


@dataclass(frozen=True, slots=True)
class SideLink:
    """A link to comment on the node on one side of a change."""

    label: str
    href: str
    chip: str = ""
    """HTML of the notes on the node, such as its threads."""


class Links(Protocol):
    """The addresses of a page of changes."""

    @property
    def page(self) -> str:
        """The page of all changes itself; it may have a query."""

    def before(self, path: Path) -> str: ...
    def after(self, path: Path) -> str: ...
    def edit(self, path: Path) -> str:
        """Return the address for an edit; "" if the version after cannot be edited."""

    def comments(self, old: Path | None, new: Path | None) -> tuple[SideLink, ...]:
        """Return links to comment on the nodes on either side; empty if nobody can."""

    def restore(self, message: int, part: int | None = None) -> str:
        """Return what the page's form sends to restore a part of the version before, or the nodes of one of its
        messages. Empty if the page has no such form."""

    def lines(self, change: int, text: int, row: int) -> str:
        """The page that shows one text of one change from a row on."""


@dataclass(frozen=True, slots=True)
class NoLinks:
    """A page of changes that leads to no node and on which nothing can be changed."""

    page: str

    def before(self, path: Path) -> str:
        return ""

    def after(self, path: Path) -> str:
        return ""

    def edit(self, path: Path) -> str:
        return ""

    def comments(self, old: Path | None, new: Path | None) -> tuple[SideLink, ...]:
        return ()

    def restore(self, message: int, part: int | None = None) -> str:
        return ""

    def lines(self, change: int, text: int, row: int) -> str:
        return with_query(self.page, change=change, text=text or "", row=row or "")


@dataclass(frozen=True, slots=True)
class ChangeLinks:
    """The addresses for the rows of one change."""

    page: Links
    change: int

    def lines(self, text: int, row: int) -> str:
        return self.page.lines(self.change, text, row)

    def unfold(self, text: int, row: int, lines: int) -> str:
        """Return the address that shows this many unchanged lines in place of their fold."""
        return f"{self.lines(text, row)}&lines={lines}"
