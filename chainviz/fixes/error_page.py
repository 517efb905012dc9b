"""The page for a pasted API error, and the same error on the page that fixes its session.

The page opens the session with the error's ids at the place of the error, with the smallest fix prepared. If no session has the ids, it
says what was tried. On the page of a session, the error has its place, the rule that it breaks, and the repairs that solve it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, pairwise
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.pasted_error import located
from chainviz.chains.explorer.place_views import request_numbers
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.library.pasted_error import Suspects, suspects
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.uploads.arrivals import take_in
from chainviz.chains.uploads.upload_view import answer_upload, receive_files, upload
from chainviz.chains.working_copies.opening import open_session
from chainviz.core.chain.messages import Message, Text, ToolCall, ToolResult
from chainviz.core.documents.source import open_source
from chainviz.core.errors import ChainError, DocumentError
from chainviz.core.formats.vendors import PROVIDERS, get_provider
from chainviz.core.load import load_source
from chainviz.core.operations.repair.fixes import CHOICES
from chainviz.core.pasted_errors.locate import what_was_tried
from chainviz.core.pasted_errors.message import ErrorMessage, read_error
from chainviz.core.providers.contract import Provider
from chainviz.fixes.by_error import addresses_with, ids_of
from chainviz.sessions_index.models import Session
from chainviz.web.http import see_other

LONGEST = 4_000
"""The longest error, in characters. A longer text is a transcript."""
NEWEST = 3
"""The number of sessions that the page lists if none has the ids of the error."""
MOST_SESSIONS = 2_000
"""The most sessions that are searched, latest changes first."""


@requires("read", to_post="upload")
@require_http_methods(["GET", "HEAD", "POST"])
def error_page(request: HttpRequest) -> HttpResponse:
    """Show the page. A submitted form searches the sessions of this machine; a text that is not an error is imported as a transcript."""
    if request.FILES:
        return _open_upload(request)
    text = (request.POST if request.method == "POST" else request.GET).get("text", "").strip()
    error = read_error(text[:LONGEST]) if text else None
    is_error = error is not None and len(text) <= LONGEST and _is_error(error, text)
    if request.method == "POST" and text and not is_error:
        return upload(request)
    member = member_of(request)
    found = suspects(Chain.objects.visible_to(member).in_library(), text) if is_error else Suspects()
    if found.have_id:
        return see_other(found.chains[0].fix_url)
    if error is not None and is_error and request.method == "POST":
        chain = _opened(member, error)
        if chain is not None:
            return see_other(fix_address(chain, text))
        return see_other(f"{reverse('error')}?{urlencode({'text': text, 'searched': 1})}")
    searched = "searched" in request.GET
    newest = Session.objects.visible_to(member).order_by("-changed_at")[:NEWEST] if searched else ()
    context = {
        "text": text,
        "error": error if is_error else None,
        "speakers": [get_provider(name).speaker for name in error.providers] if error else (),
        "suspects": found,
        "searched": searched,
        "newest": newest,
    }
    return render(request, "sessions/error.html", context)


def _open_upload(request: HttpRequest) -> HttpResponse:
    """Import a file with all its chains, and redirect to the fix of the one that the error is about."""
    about, received = request.POST.get("about", ""), receive_files(request)
    for arrival in received:
        if arrival.state == Arrival.State.CHOOSING:
            take_in(arrival, {"as": "all"})
    imported = [pk for arrival in received for pk in (arrival.chain_id, *arrival.added)]
    chains = Chain.objects.visible_to(member_of(request)).in_library().filter(pk__in=[pk for pk in imported if pk is not None])
    found = suspects(chains, about).chains
    chain = chains.filter(pk=found[0].chain).first() if found else chains.order_by("pk").first()
    return see_other(fix_address(chain, about)) if chain and about else answer_upload(request, received)


def _is_error(error: ErrorMessage, text: str) -> bool:
    """Return True if a text is a transcript: JSON that is certainly not an error, or a text that can be read as messages."""
    if error.is_sure or (error.looks_like_error and ids_of(error)):
        return True
    return not text.startswith(("{", "[")) and not _is_transcript(text)


def _is_transcript(text: str) -> bool:
    try:
        with open_source(text.encode("utf-8", "replace")) as source:
            return bool(load_source(source))
    except ChainError:
        return False


def fix_address(chain: Chain, text: str) -> str:
    return f"{reverse('fix_session', args=[chain.pk])}?{urlencode({'error': text[:LONGEST]})}"


def _opened(member: Membership, error: ErrorMessage) -> Chain | None:
    """Open the session with an id of the error that changed last. Return its chain and the id."""
    rows = Session.objects.visible_to(member).order_by("-changed_at")[:MOST_SESSIONS]
    by_address = {row.address: row for row in rows}
    for address in islice(addresses_with(ids_of(error), by_address), 3):
        try:
            opened = open_session(member, by_address[address])
        except DocumentError:
            continue
        chains = Chain.objects.filter(pk__in=[chain.pk for chain in opened.chains], trashed_at=None)
        found = suspects(chains, error.text)
        if found.have_id:
            return next(chain for chain in chains if chain.pk == found.chains[0].chain)
    return None


"""The most characters of a pasted error."""
AROUND = 1
"""The number of messages that are shown before and after the place."""
SHOWN = 240
"""The most characters of a message that are shown."""


@dataclass(frozen=True, slots=True)
class Choice:
    name: str
    label: str
    explanation: str


@dataclass(frozen=True, slots=True)
class Line:
    """A message around the place."""

    number: int | None
    """The number of the message in the request, from 0."""
    role: str
    text: str
    url: str
    is_place: bool


@dataclass(frozen=True, slots=True)
class PastedFix:
    error: str
    provider: Provider | None
    """The provider whose rules find the problem; None if none do."""
    pieces: tuple[tuple[str, bool], ...]
    """The text of the error in pieces; True marks an id or a place that was found."""
    problem: str
    """The problem that the rules find at the place, as a sentence; "" if they find none."""
    url: str
    """The address of the place in the chain."""
    lines: tuple[Line, ...]
    before: int
    """The number of messages before the shown ones."""
    after: int
    fixes: tuple[Choice, ...]
    """The repairs that solve the problem."""
    tried: tuple[str, ...]


def pasted_fix(subject: Subject, text: str) -> PastedFix:
    error = read_error(text[:LONGEST])
    found = located(subject.stored, error)
    best = found.problems[0] if found.problems else None
    place = best.message if best else min(found.places.best, default=-1)
    first, last = max(0, place - AROUND), min(len(subject.stored), place + AROUND + 1)
    lines = _lines(subject, first, last, place) if place >= 0 else ()
    return PastedFix(
        error=error.text,
        provider=found.provider if best and found.provider in PROVIDERS else None,
        pieces=_pieces(error.text, (*error.ids, *found.places.ids)),
        problem=best.text if best else "",
        url=f"{subject.base_url}at/{found.path}#{found.path.dom_id}" if found.path is not None else "",
        lines=lines,
        before=first if lines else 0,
        after=len(subject.stored) - last if lines else 0,
        fixes=tuple(Choice(name, *CHOICES[name]) for name in found.fixes if name in CHOICES),
        tried=tuple(what_was_tried(error, found)) if found.is_guess or best is None else (),
    )


def _lines(subject: Subject, first: int, last: int, place: int) -> tuple[Line, ...]:
    messages = subject.stored.slice(first, last)
    numbers = request_numbers(subject.stored, range(first, last))
    paths = [subject.stored.outline.path_at(index) for index in range(first, last)]
    return tuple(
        Line(numbers.get(index), message.role, _words(message), f"{subject.base_url}at/{path}#{path.dom_id}", index == place)
        for index, message, path in zip(range(first, last), messages, paths, strict=True)
    )


def _words(message: Message) -> str:
    """Return the beginning of a message's text."""
    texts = []
    for part in message.parts:
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, ToolCall):
            texts.append(f"{part.name} {part.arguments}")
        elif isinstance(part, ToolResult):
            texts.append(str(part.content))
    text = " ".join(" ".join(texts)[: 4 * SHOWN].split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _pieces(text: str, ids: tuple[str, ...]) -> tuple[tuple[str, bool], ...]:
    """Cut a text at the ids."""
    marks = {0, len(text)}
    inside = set[int]()
    for id in filter(None, ids):
        start = text.find(id)
        while start >= 0:
            marks |= {start, start + len(id)}
            inside.add(start)
            start = text.find(id, start + len(id))
    return tuple((text[begin:end], begin in inside) for begin, end in pairwise(sorted(marks)) if begin < end)
