"""Import a state: a document is checked and becomes the next version of the chain, or a chain of its own."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import arrival_for
from chainviz.chains.models import Arrival
from chainviz.chains.uploads import arrivals, staging
from chainviz.chains.uploads.state_files import StateRefused, readable_messages
from chainviz.chains.uploads.tray import TrayLine
from chainviz.core.errors import ChainError, Refused
from chainviz.core.state.export import provider_of
from chainviz.core.state.faults import read_state
from chainviz.core.state.file_notes import MOST_BYTES
from chainviz.drafts import services
from chainviz.drafts.operations.responses import moved_on, to_draft
from chainviz.drafts.state.import_step import TOO_LARGE, import_proposal
from chainviz.drafts.target import Target, target_of
from chainviz.store.query.state import StatePart
from chainviz.web.query_params import small_number
from chainviz.web.responses import see_other


@dataclass(frozen=True)
class ImportPage:
    target: Target
    arrival: Arrival | None
    """A file that was refused and waits."""
    readable: int = 0
    """Messages of it that can be read."""
    error: str = ""
    text: str = ""
    """Pasted, and refused."""
    as_chain: bool = False

    @property
    def line(self) -> TrayLine | None:
        return TrayLine(self.arrival) if self.arrival is not None else None

    @property
    def provider(self) -> str:
        return provider_of(self.target.stored.format)

    @property
    def address(self) -> str:
        return reverse("drafts:state_import", args=[self.target.chain.pk]) + self.target.query

    @property
    def state_address(self) -> str:
        return reverse("drafts:state", args=[self.target.chain.pk]) + self.target.query


@requires("draft")
@require_http_methods(["GET", "HEAD", "POST"])
def state_import(request: HttpRequest, chain_id: int) -> HttpResponse:
    target = target_of(request, chain_id)
    number = small_number(request.POST.get("file_waiting") or request.GET.get("file", ""))
    waiting = arrival_for(request, number) if number is not None else None
    if request.method != "POST":
        return _answer(request, target, waiting)
    try:
        return _import(request, target, waiting)
    except ChainError as refused:
        return _answer(request, target, waiting, str(refused))


def _import(request: HttpRequest, target: Target, waiting: Arrival | None) -> HttpResponse:
    """Raises Refused where nothing can be imported."""
    if request.POST.get("seen") != target.seen:
        raise Refused(moved_on(target))
    upload, *more = _uploads(request, waiting)
    if request.POST.get("as") == "chain":
        if more:
            for each in (upload, *more):
                arrivals.receive(member_of(request), each)
            return see_other("chains:library")
        arrival = arrivals.receive(member_of(request), upload)
        is_choosing = arrival.state == Arrival.State.CHOOSING
        return see_other("chains:pick" if is_choosing else "chains:arrival", arrival.pk)
    if more:
        raise Refused("Choose one file to change this chain, or import the files as new chains.")
    provider = provider_of(target.stored.format)
    if not provider:
        raise Refused("No provider stores messages in the format of this chain. Import the state as a new chain.")
    if (upload.size or 0) > MOST_BYTES:
        raise Refused(TOO_LARGE)
    file = read_state(upload.read(), provider)
    upload.seek(0)
    try:
        proposal = import_proposal(StatePart.of(target.stored), provider, file, salvaged=waiting is not None)
    except StateRefused as refused:
        kept = arrivals.receive_refused(member_of(request), upload, refused)
        return see_other(f"{ImportPage(target, kept).address}&file={kept.pk}")
    with services.taking(target, proposal) as draft:
        pass
    if waiting is not None:
        arrivals.forget(waiting)
    return to_draft(draft)


def _uploads(request: HttpRequest, waiting: Arrival | None) -> list[UploadedFile[bytes]]:
    if waiting is not None:
        if not _waits(waiting):
            raise Refused("The file is no longer here. Choose it again.")
        return [SimpleUploadedFile(waiting.name, staging.path_of(waiting.waiting).read_bytes())]
    files = [file for file in request.FILES.getlist("file") if isinstance(file, UploadedFile)]
    if files:
        return files
    pasted = request.POST.get("text", "")
    if not pasted.strip():
        raise Refused("Choose a file, or paste the text of a state document.")
    return [SimpleUploadedFile(f"Pasted {timezone.now():%d %b %H.%M}.json", pasted.encode("utf-8", "surrogatepass"))]


def _waits(arrival: Arrival) -> bool:
    """Whether its bytes are there and few enough to be compared."""
    return staging.is_there(arrival.waiting) and arrival.size <= MOST_BYTES


def _answer(request: HttpRequest, target: Target, waiting: Arrival | None, error: str = "") -> HttpResponse:
    provider = provider_of(target.stored.format)
    readable = 0
    if waiting is not None and provider and _waits(waiting):
        readable = readable_messages(read_state(staging.path_of(waiting.waiting).read_bytes(), provider), provider)
    page = ImportPage(
        target, waiting, readable, error, request.POST.get("text", ""), as_chain=request.POST.get("as") == "chain"
    )
    return render(request, "drafts/state/import.html", {"page": page}, status=422 if error else 200)
