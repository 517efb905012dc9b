"""Open a session of the index: its chain in the library, created as a working copy if there is none."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.folders.opening import Opened, open_file
from chainviz.chains.library.filter import library_address, read_filter
from chainviz.chains.library.listing import fitting_entries
from chainviz.chains.library.sessions import library_of
from chainviz.chains.models import Chain, ChainQuerySet, WorkingCopy
from chainviz.chains.uploads.arrivals import receive_local
from chainviz.chains.uploads.local_files import chains_from
from chainviz.chains.working_copies.kept import keep
from chainviz.core.counts import count_text
from chainviz.core.errors import DocumentError
from chainviz.sessions_index.models import Session, SessionQuerySet
from chainviz.web.http import see_other, small_numbers

MOST_OPENED, MOST_BYTES = 300, 256_000_000
"""The most sessions that one request opens, and their total size."""


def session_for(request: HttpRequest, session_id: int) -> Session:
    found = Session.objects.visible_to(member_of(request)).filter(pk=session_id).first()
    if found is None:
        raise Http404("There is no such session.")
    return found


def open_session(member: Membership, session: Session) -> Opened:
    """Raise DocumentError, naming the session's file."""
    known = {chain.pk for chain in chains_from(member, Path(session.address))}
    opened = open_file(member, Path(session.address), session.pk)
    now = timezone.now()
    WorkingCopy.objects.filter(chain__in=known, session=session).update(opened_at=now)
    return opened


def chains_of(member: Membership, sessions: Iterable[Session]) -> tuple[list[Chain], list[str]]:
    """Return the chains of sessions, opened if necessary, and a sentence for each that could not be opened now."""
    chains, sentences = list[Chain](), list[str]()
    for session in sessions:
        try:
            opened = open_session(member, session)
        except DocumentError as error:
            sentences.append(str(error))
            continue
        chains += [chain for chain in opened.chains if not chain.is_in_bin]
        if opened.arrival is not None:
            sentences.append(f"“{session.title}” is large and is being read; tick it again when it is there.")
    return chains, sentences


@requires("files")
@require_safe
def session(request: HttpRequest, session_id: int) -> HttpResponse:
    """Redirect to the chain of a session, or show a page with a button that opens it."""
    found = session_for(request, session_id)
    copy = found.copies.select_related("chain").filter(chain__trashed_at=None).order_by("pk").first()
    if copy is not None:
        return see_other("chains:chain", copy.chain_id)
    return render(request, "chains/working_copies/session.html", {"session": found})


@requires("files")
@require_POST
def open_view(request: HttpRequest, session_id: int) -> HttpResponse:
    """Redirect to the session's chain, or to the page of its import if it is large or can only be kept as raw text."""
    found = session_for(request, session_id)
    try:
        opened = open_session(member_of(request), found)
    except DocumentError as error:
        if error.raw:
            return see_other("chains:arrival", receive_local(member_of(request), Path(found.address), found.pk).pk)
        return render(request, "chains/working_copies/session.html", {"session": found, "error": str(error)}, status=422)
    if opened.arrival is not None:
        return see_other("chains:arrival", opened.arrival.pk)
    chains = [chain for chain in opened.chains if not chain.is_in_bin]
    if not chains:
        messages.warning(request, "This session is in the bin; restore it there.")
        return see_other("chains:bin")
    return see_other("chains:chain", max(chains, key=lambda chain: chain.messages).pk)


def ticked(request: HttpRequest) -> list[int]:
    """Return keys of the ticked chains and of the chains of ticked sessions, which are opened. A message names what failed."""
    member = member_of(request)
    sessions = Session.objects.visible_to(member).filter(pk__in=small_numbers(request.POST.getlist("session")))
    chains, sentences = chains_of(member, sessions.order_by("-changed_at"))
    for sentence in sentences:
        messages.warning(request, sentence)
    return [*small_numbers(request.POST.getlist("chain")), *(chain.pk for chain in chains)]


def chosen_chains(request: HttpRequest, *, opens_sessions: bool = True) -> ChainQuerySet:
    """Return the ticked chains, or all that fit the filter of the table, and the chains of the sessions among them."""
    member = member_of(request)
    own = Chain.objects.visible_to(member).in_library().order_by("-changed_at", "-pk")
    if "all" not in request.POST:
        return own.filter(pk__in=ticked(request))
    wanted = read_filter(QueryDict(request.POST.get("filter", "")))
    found = fitting_entries(library_of(member), wanted, member)
    opened = _open_all(request, found.sessions) if opens_sessions else []
    return own.filter(Q(pk__in=found.chains.values("pk")) | Q(pk__in=opened))


def _open_all(request: HttpRequest, sessions: SessionQuerySet) -> list[int]:
    """Open as many sessions as one request can read, and add a message with the number of those that are left."""
    rows = list(sessions.order_by("-changed_at"))
    sizes = accumulate(row.size for row in rows[:MOST_OPENED])
    count = sum(size <= MOST_BYTES for size in sizes) or 1
    chains, sentences = chains_of(member_of(request), rows[:count])
    for sentence in sentences:
        messages.warning(request, sentence)
    if left := len(rows) - count:
        told = count_text(left, "older session is", "older sessions are")
        messages.warning(request, f"{told} left out: narrow the filter to reach them.")
    return [chain.pk for chain in chains]


@requires("save")
@require_POST
def keep_chosen(request: HttpRequest) -> HttpResponse:
    """Keep the chosen chains and sessions in the library."""
    count = keep(chosen_chains(request))
    messages.success(request, f"{count_text(count, 'copy is', 'copies are')} kept in the library.")
    return see_other(library_address(request.POST.get("filter", "")))
