"""Show the nodes that a summary replaced, in the content before its step. A branch does not have them."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from chainviz.chains.explorer.row_views import row_view
from chainviz.chains.models import Chain
from chainviz.chains.render.rows import Row
from chainviz.core.chain.paths import Path
from chainviz.store.content.chain import StoredChain
from chainviz.store.lineage import Replacement, first_version_with, last_version_before, replacement_of, same_node
from chainviz.store.models import Version
from chainviz.store.query.windows import Window, window
from chainviz.web.formatting import byte_text
from chainviz.web.templatetags.chainviz import icon

SHOWN = 100
"""The most nodes listed at once."""


def nodes_in_words(found: Replacement) -> str:
    if found.first.pair is None or found.last.pair is None:
        number = found.last.section - found.first.section + 1
        return f"{number:,} section{'' if number == 1 else 's'}"
    number = found.last.pair - found.first.pair + 1
    return f"{number:,} pair{'' if number == 1 else 's'}"


def version_with(found: Replacement) -> Version | None:
    """Return the first version with the summary, or None while it is in a draft."""
    return first_version_with((found.step, *found.repeated))


@dataclass(frozen=True)
class ReplacedRow:
    row: Row
    href: str
    """The address of the node in the older version; "" if that version does not have it unchanged."""
    body_href: str


@dataclass(frozen=True)
class ReplacedPage:
    replacement: Replacement
    made_in: int | None
    old_number: int | None
    rows: tuple[ReplacedRow, ...]
    next_href: str


def replaced_page(chain: Chain, found: Replacement, address: str, start: Path | None = None) -> ReplacedPage:
    made, before = version_with(found), last_version_before(found.step)
    rows, following = _rows(found, start or found.first)
    links = _Links(chain, found.old, before)
    shown = tuple(
        ReplacedRow(row, links.to(row, "at", f"#{row.path.dom_id}"), links.to(row, "node") if row.kind != "section" else "") for row in rows
    )
    return ReplacedPage(
        found, made.number if made else None, before.number if before else None, shown, f"{address}?from={following}" if following else ""
    )


def _rows(found: Replacement, start: Path) -> tuple[list[Row], Path | None]:
    shown: Window = window(found.old, start, "down", SHOWN)
    inside = [row for row in shown.rows if _place(found.first) <= _place(row.path) <= _place(found.last, end=True)]
    goes_on = len(inside) == len(shown.rows) and shown.down is not None
    following = shown.down if goes_on and shown.down and _place(shown.down) <= _place(found.last, end=True) else None
    return [row_view(row) for row in inside], following


def _place(path: Path, *, end: bool = False) -> tuple[int, int]:
    missing = 1 << 60 if end else -1
    return path.section, missing if path.pair is None else path.pair


class _Links:
    """Finds nodes of a step's parent in the version before the step."""

    def __init__(self, chain: Chain, old: StoredChain, version: Version | None) -> None:
        self.old = old
        self.base = reverse("chains:version", args=[chain.pk, version.number]) if version else ""
        self.same = version is not None and version.snapshot_id == old.snapshot.pk
        self.there = StoredChain(version.snapshot) if version is not None and not self.same else None

    def to(self, row: Row, view: str, anchor: str = "") -> str:
        path = row.path if self.same else same_node(self.old, self.there, row.path) if self.there else None
        return f"{self.base}{view}/{path}{anchor if self.same else ''}" if path is not None else ""


def replaced_line(chain: StoredChain, path: Path, base_url: str) -> str:
    """Return the box at the top of an open summary; "" if the node is not a summary. Its content is loaded when it is opened."""
    found = replacement_of(chain, path)
    if found is None:
        return ""
    made = version_with(found)
    where = f"made in version {made.number}" if made else "made in this draft"
    address = f"{base_url}replaced/{path}"
    return (
        f'<details class="replaced-box" data-lazy="{address}"><summary>{icon("chevron", "chevron")}{icon("summary")}'
        f"<span>Replaces <b>{nodes_in_words(found)}</b> · {byte_text(found.before)} → {byte_text(found.after)}, {where}</span></summary>"
        f'<div data-lazy-body><a href="{address}">Show what it replaced</a></div></details>'
    )
