"""Update an open page of the library: rows that look different, and chains that the page does not have yet.

The page polls, like the page of folders. A stream of events would need a server thread for each open tab, and would still have to poll
the database and the disk. A request without changes costs a few queries and one check of each shown file.
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

from chainviz.accounts.audit import leave_unrecorded
from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.folders.choose_folders import chain_folders, sees_files
from chainviz.chains.folders.opening import read_grown
from chainviz.chains.library.cells import Row, SessionRow, is_running, row_of
from chainviz.chains.library.columns import chosen_columns
from chainviz.chains.library.filter import Filter, read_filter
from chainviz.chains.library.library_page import counts
from chainviz.chains.library.listing import ROWS_WITH_HITS, View, fitting, listing
from chainviz.chains.library.reading import reading_of
from chainviz.chains.library.sessions import Library, fitting_sessions, library_of
from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.sessions_index.models import Session
from chainviz.sessions_index.services import scan_if_due
from chainviz.web.http import small_number

MOST_ROWS = 200
"""The most rows that a page may ask about: its own rows and the new ones above them."""
READ = ("team", "history", "version", "format", "provider", "problems", "own_problems", "verdicts", "messages", "size", "checksum")
"""The columns from which notes are made. The checksum shows whether any other column has changed."""


@dataclass(frozen=True, slots=True)
class ShownRow:
    chain: Chain
    """The chain, with only the columns of READ."""
    path: str
    """The path of the file that it came from."""
    is_running: bool


@dataclass(frozen=True, slots=True)
class ShownRows:
    """The rows of a page, in no order, with their marks on the page."""

    rows: list[ShownRow]
    marks: Mapping[int, str]

    @property
    def chains(self) -> list[Chain]:
        return [row.chain for row in self.rows]


@requires("read")
@require_POST
def refresh(request: HttpRequest) -> HttpResponse:
    """Return the changed rows, or 204 if nothing has changed. Files that have grown are read first."""
    member = member_of(request)
    wanted, marks = read_filter(QueryDict(request.POST.get("query", ""))), _marks_of_page(request.POST)
    shown = _rows_on_page(member, marks)
    if read_grown(member, [row.chain for row in shown.rows if row.path]):
        shown = _rows_on_page(member, marks)
    else:
        leave_unrecorded(request)
    if member.may("files"):
        scan_if_due(member.team)
    newest, named = _number(request.POST, "newest"), _number(request.POST, "named")
    added, sessions = _added(member, newest), _number(request.POST, "newest_session")
    new = fitting(added, wanted, member).count() if added.exists() else 0
    more = _new_sessions(member, wanted, sessions)
    context = {
        "page": shown,
        "columns": lambda: {column.name for column in chosen_columns(member.user)},
        "new": new + more,
        "has_news": new + more != named,
        "session_rows": _changed_sessions(member, request.POST),
        "reading": reading_of(member),
        "filter_query": wanted.address().removeprefix("?"),
        "newest": newest,
        "newest_session": sessions,
        "news_query": f"newest={newest}&newest_session={sessions}&{wanted.address().removeprefix('?')}",
        "is_inserted": bool(marks) and not more and new <= ROWS_WITH_HITS,
        "counts": lambda: counts(member),
        "listing": lambda: listing(library_of(member), wanted, View(member)),
    }
    changes = render_to_string("chains/library/_refreshed.html", context, request).strip()
    return HttpResponse(changes, status=200 if changes else 204)


@requires("read")
@require_safe
def new_rows(request: HttpRequest) -> HttpResponse:
    """Show the chains that were added since the page was rendered, above its other rows, which keep their order and ticks."""
    member, wanted, newest = member_of(request), read_filter(request.GET), _number(request.GET, "newest")
    added = _added(member, newest)
    library = Library(added, Session.objects.none(), added.none())
    shown = listing(library, wanted, View(member, folders=chain_folders(member, added)))
    context = {
        "listing": shown,
        "filter_query": wanted.address().removeprefix("?"),
        "newest": max((chain.pk for chain in shown.chains), default=newest),
        "newest_session": _number(request.GET, "newest_session"),
    }
    return render(request, "chains/library/_new_rows.html", context)


def _new_sessions(member: Membership, wanted: Filter, newest: int) -> int:
    added = Session.objects.visible_to(member).filter(pk__gt=newest)
    if not added.exists():
        return 0
    library = library_of(member)
    return fitting_sessions(library.sessions.filter(pk__gt=newest), wanted, library.copies.none()).count()


def _changed_sessions(member: Membership, asked: QueryDict) -> list[SessionRow]:
    """Return the sessions of a page whose rows have changed since the page was rendered."""
    named = zip(map(small_number, asked.getlist("session")), asked.getlist("session-mark"), strict=False)
    marks = {key: mark for key, mark in islice(named, MOST_ROWS) if key is not None}
    rows = map(SessionRow, Session.objects.visible_to(member).filter(pk__in=marks))
    return [row for row in rows if row.mark != marks[row.session.pk]]


def row_marks(rows: Iterable[Row | ShownRow], *notes: Mapping[int, Any]) -> dict[int, str]:
    """Return a mark for each chain, which changes if its row looks different. `notes` are further facts of chains, such as open drafts."""
    return {row.chain.pk: _mark(row, [found.get(row.chain.pk) for found in notes]) for row in rows}


def changed_rows(shown: ShownRows, marks: Mapping[int, str]) -> list[Row]:
    """Return the rows whose mark differs from the one on the page."""
    changed = [row for row in shown.rows if marks[row.chain.pk] != shown.marks[row.chain.pk]]
    chains = Chain.objects.select_related("working_copy__session").in_bulk([row.chain.pk for row in changed])
    largest = max((row.chain.size for row in shown.rows), default=0)
    return [row_of(chains[row.chain.pk], largest, row.path) for row in changed if row.chain.pk in chains]


def _mark(row: Row | ShownRow, notes: list[Any]) -> str:
    facts = (bytes(row.chain.checksum or b""), row.is_running, notes)
    return sha256(repr(facts).encode("utf-8", "replace")).hexdigest()[:12]


def _marks_of_page(asked: QueryDict) -> dict[int, str]:
    named = zip(map(small_number, asked.getlist("chain")), asked.getlist("mark"), strict=False)
    return {key: mark for key, mark in islice(named, MOST_ROWS) if key is not None}


def _rows_on_page(member: Membership, marks: Mapping[int, str]) -> ShownRows:
    """Return the chains of the rows, including those that were moved to the bin meanwhile."""
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
