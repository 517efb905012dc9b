"""What has changed in the library since a page showed it: rows that look different now, and chains that the page lacks.

An open page asks again and again, as the page of folders does. A stream of events would hold a thread of the server for
each open tab, and would still have to ask the database and the disk in turns; a question that finds nothing costs a few
queries and one look at the state of each file shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.audit.record import leave_unrecorded
from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.folders.chain_folders import chain_folders
from chainviz.chains.folders.choose_folders import sees_files
from chainviz.chains.folders.opening import read_grown
from chainviz.chains.library.cells import Row, is_running, row_of
from chainviz.chains.library.columns import chosen_columns
from chainviz.chains.library.filter import read_filter
from chainviz.chains.library.fitting import fitting
from chainviz.chains.library.listing import ROWS_WITH_HITS, View, listing
from chainviz.chains.library.side import counts
from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.web.query_params import small_number

MOST_ROWS = 200
"""That one page asks about: those that it came with, and the new ones above them."""
READ = ("team", "history", "version", "format", "problems", "verdicts", "messages", "size", "checksum")
"""The columns that notes are made from. Of all others, the checksum says whether they have changed."""


@dataclass(frozen=True, slots=True)
class ShownRow:
    chain: Chain
    """With the columns of READ only."""
    path: str
    """Of the file that it came from."""
    is_running: bool


@dataclass(frozen=True, slots=True)
class ShownRows:
    """The rows of a page, in no order, and the marks that they have there."""

    rows: list[ShownRow]
    marks: Mapping[int, str]

    @property
    def chains(self) -> list[Chain]:
        return [row.chain for row in self.rows]


@requires("read")
@require_POST
def refresh(request: HttpRequest) -> HttpResponse:
    """Answers 204 where nothing has changed. Files that have grown are read first."""
    member = member_of(request)
    wanted, marks = read_filter(QueryDict(request.POST.get("query", ""))), _marks_of_page(request.POST)
    shown = _shown(member, marks)
    if read_grown(member, [row.chain for row in shown.rows if row.path]):
        shown = _shown(member, marks)
    else:
        leave_unrecorded(request)
    newest, named = _number(request.POST, "newest"), _number(request.POST, "named")
    added = _added(member, newest)
    new = fitting(added, wanted, member).count() if added.exists() else 0
    context = {
        "page": shown,
        "columns": lambda: {column.name for column in chosen_columns(member.user)},
        "new": new,
        "has_news": new != named,
        "filter_query": wanted.address().removeprefix("?"),
        "newest": newest,
        "is_inserted": bool(marks) and new <= ROWS_WITH_HITS,
        "counts": lambda: counts(member),
    }
    changes = render_to_string("chains/library/_refreshed.html", context, request).strip()
    return HttpResponse(changes, status=200 if changes else 204)


@requires("read")
@require_safe
def new_rows(request: HttpRequest) -> HttpResponse:
    """The chains that were added after a page was made, above its other rows: those stay where they are, and ticked."""
    member, wanted, newest = member_of(request), read_filter(request.GET), _number(request.GET, "newest")
    added = _added(member, newest)
    shown = listing(added, wanted, View(member, folders=chain_folders(member, added)))
    context = {
        "listing": shown,
        "filter_query": wanted.address().removeprefix("?"),
        "newest": max((chain.pk for chain in shown.page), default=newest),
    }
    return render(request, "chains/library/_new_rows.html", context)


def row_marks(rows: Iterable[Row | ShownRow], *notes: Mapping[int, Any]) -> dict[int, str]:
    """By chain, what differs where its row looks different. `notes`: what else is said of chains, such as open drafts."""
    return {row.chain.pk: _mark(row, [found.get(row.chain.pk) for found in notes]) for row in rows}


def changed_rows(shown: ShownRows, marks: Mapping[int, str]) -> list[Row]:
    """Those of which the mark is another one on the page."""
    changed = [row for row in shown.rows if marks[row.chain.pk] != shown.marks[row.chain.pk]]
    chains = Chain.objects.in_bulk([row.chain.pk for row in changed])
    largest = max((row.chain.size for row in shown.rows), default=0)
    return [row_of(chains[row.chain.pk], largest, row.path) for row in changed if row.chain.pk in chains]


def _mark(row: Row | ShownRow, notes: list[Any]) -> str:
    facts = (bytes(row.chain.checksum or b""), row.is_running, notes)
    return sha256(repr(facts).encode("utf-8", "replace")).hexdigest()[:12]


def _marks_of_page(asked: QueryDict) -> dict[int, str]:
    named = zip(map(small_number, asked.getlist("chain")), asked.getlist("mark"), strict=False)
    return {key: mark for key, mark in islice(named, MOST_ROWS) if key is not None}


def _shown(member: Membership, marks: Mapping[int, str]) -> ShownRows:
    """Also chains that are in the bin by now."""
    chains = Chain.objects.visible_to(member).filter(pk__in=marks)
    if not sees_files(member):
        return ShownRows([ShownRow(chain, "", False) for chain in chains.only(*READ)], marks)
    paths = [(chain, _path(chain)) for chain in chains.select_related("local_file").only(*READ, "local_file")]
    return ShownRows([ShownRow(chain, path, is_running(path)) for chain, path in paths], marks)


def _path(chain: Chain) -> str:
    file = getattr(chain, "local_file", None)
    return file.path if file is not None else ""


def _added(member: Membership, newest: int) -> ChainQuerySet:
    return Chain.objects.visible_to(member).in_library().filter(pk__gt=newest)


def _number(asked: QueryDict, name: str) -> int:
    return small_number(asked.get(name, "")) or 0
