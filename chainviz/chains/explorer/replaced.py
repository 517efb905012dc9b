"""What a summary stands for: the nodes it replaced, in the version before, found again in every later version.

A step writes its messages as a run of their own, so a summary is known by where its first message lies, wherever the
node has moved since; where later steps wrote it anew (edited, redacted, merged), by what it took the place of. The
report of the step that made it says which nodes it replaced. A branch begins a history of its own and knows no more.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from chainviz.chains.explorer.row_views import row_view
from chainviz.chains.models import Chain
from chainviz.chains.render.rows import Row
from chainviz.core.chain.paths import Path, parse_path
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.content.message_reader import StoredMessage, pieces_of
from chainviz.store.content.pieces import Places, runs_in
from chainviz.store.lineage.origins import origins
from chainviz.store.models import Snapshot, Version
from chainviz.store.query.windows import Window, window
from chainviz.web.formatting.byte_text import byte_text
from chainviz.web.templatetags.chainviz import icon

OPERATION = "summarize"
SHOWN = 100
"""Nodes listed at once."""


@dataclass(frozen=True)
class Replacement:
    """What the report of the step that made a summary says about it."""

    step: Snapshot
    """The content with the summary in it."""
    again: tuple[Snapshot, ...]
    """The same step repeated on a newer version."""
    first: Path
    last: Path
    reason: str
    before: int
    after: int

    @property
    def old(self) -> StoredChain:
        assert self.step.parent is not None
        return StoredChain(self.step.parent)

    @property
    def nodes(self) -> str:
        if self.first.pair is None or self.last.pair is None:
            number = self.last.section - self.first.section + 1
            return f"{number:,} section{'' if number == 1 else 's'}"
        number = self.last.pair - self.first.pair + 1
        return f"{number:,} pair{'' if number == 1 else 's'}"


def replacement_of(chain: StoredChain, path: Path) -> Replacement | None:
    """None where the node is no summary that was made here."""
    span = chain.span(path)
    first = next(iter(chain.rows(span.start, span.start + 1)), None)
    if first is None:
        return None
    # one query where nothing was ever summarized, as in most chains
    made = Snapshot.objects.filter(history=chain.snapshot.history_id, operation=OPERATION)
    steps = list(made.select_related("parent").order_by("pk"))
    for message in origins(chain.snapshot, first) if steps else ():
        named = [step for step in steps if message.run in runs_in(step.pieces, is_key=step.key_id is None)]
        found = _reported(named[0], tuple(named[1:]), message) if named else None  # the first one wrote the run
        if found is not None:
            return found
    return None


def _reported(step: Snapshot, again: tuple[Snapshot, ...], message: StoredMessage) -> Replacement | None:
    """From the rows of the report about this message: several, where the summary was written in several texts."""
    index = Places(pieces_of(step)).index(message.run, message.position)
    if index < 0:
        return None
    becomes = str(StoredChain(step).outline.path_at(index).node)
    rows = [row for row in unpack(step.report) if row.get("action") == OPERATION and row.get("becomes") == becomes]
    if not rows:
        return None
    return Replacement(
        step,
        again,
        parse_path(rows[0]["path"]),
        parse_path(rows[-1].get("until") or rows[-1]["path"]),
        rows[0]["reason"],
        sum(row["bytes_before"] for row in rows),
        sum(row["bytes_after"] for row in rows),
    )


def version_with(found: Replacement) -> Version | None:
    """The first version that holds the summary; None while it is in a draft."""
    return next((version for step in (found.step, *found.again) if (version := _first_after(step))), None)


def _first_after(step: Snapshot) -> Version | None:
    later = Snapshot.objects.filter(history=step.history_id, pk__gte=step.pk)
    parents = dict(later.values_list("pk", "parent"))
    for version in Version.objects.filter(history=step.history_id, snapshot__gte=step.pk).order_by("number"):
        at: int | None = version.snapshot_id
        while at is not None and at > step.pk:
            at = parents.get(at)
        if at == step.pk:
            return version
    return None


def version_before(step: Snapshot) -> Version | None:
    """The newest version that is, or lies before, what the step changed."""
    at: Snapshot | None = step.parent
    while at is not None:
        found = Version.objects.filter(history=step.history_id, snapshot=at).order_by("number").first()
        if found is not None:
            return found
        at = at.parent
    return None


@dataclass(frozen=True)
class ReplacedRow:
    row: Row
    href: str
    """The node in the older version; "" where that version has it otherwise."""
    body_href: str


@dataclass(frozen=True)
class ReplacedPage:
    replacement: Replacement
    made_in: int | None
    old_number: int | None
    rows: tuple[ReplacedRow, ...]
    next_href: str


def replaced_page(chain: Chain, found: Replacement, address: str, start: Path | None = None) -> ReplacedPage:
    made, before = version_with(found), version_before(found.step)
    rows, following = _rows(found, start or found.first)
    links = _Links(chain, found.old, before)
    shown = tuple(
        ReplacedRow(
            row, links.to(row, "at", f"#{row.path.dom_id}"), links.to(row, "node") if row.kind != "section" else ""
        )
        for row in rows
    )
    return ReplacedPage(
        found,
        made.number if made else None,
        before.number if before else None,
        shown,
        f"{address}?from={following}" if following else "",
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
    """Nodes of the content a step changed, found again in the version before it."""

    def __init__(self, chain: Chain, old: StoredChain, version: Version | None) -> None:
        self.old = old
        self.base = reverse("chains:version", args=[chain.pk, version.number]) if version else ""
        self.same = version is not None and version.snapshot_id == old.snapshot.pk
        self.there = StoredChain(version.snapshot) if version is not None and not self.same else None

    def to(self, row: Row, view: str, anchor: str = "") -> str:
        path = row.path if self.same else self._moved(row)
        return f"{self.base}{view}/{path}{anchor if self.same else ''}" if path is not None else ""

    def _moved(self, row: Row) -> Path | None:
        if self.there is None:
            return None
        first = next(iter(self.old.rows(row.start, row.start + 1)))
        place = 0
        for run, start, length in pieces_of(self.there.snapshot):
            if run == first.run and start <= first.position < start + length:
                found = self.there.outline.path_at(place + first.position - start)
                return Path(found.section) if row.kind == "section" else found.node
            place += length
        return None


def replaced_line(chain: StoredChain, path: Path, base_url: str) -> str:
    """A box for the top of an opened summary, filled when it is opened; nothing where the node is none."""
    found = replacement_of(chain, path)
    if found is None:
        return ""
    made = version_with(found)
    where = f"made in version {made.number}" if made else "made in this draft"
    address = f"{base_url}replaced/{path}"
    return (
        f'<details class="replaced-box" data-lazy="{address}"><summary>{icon("chevron", "chevron")}{icon("summary")}'
        f"<span>Replaces <b>{found.nodes}</b> · {byte_text(found.before)} → {byte_text(found.after)}, {where}</span></summary>"
        f'<div data-lazy-body><a href="{address}">Show what it replaced</a></div></details>'
    )
