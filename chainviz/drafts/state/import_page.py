"""Import a state: check a document, and add it as the next version of the chain or as a new chain."""

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
from chainviz.chains.uploads.state_files import StateRefused, readable_messages, require_state
from chainviz.chains.uploads.tray import TrayLine
from chainviz.core.chain.chain import Splice, apply_splices
from chainviz.core.chain.messages import Message
from chainviz.core.counts import count_text
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.source import open_source
from chainviz.core.errors import ChainError, Refused
from chainviz.core.formats import FORMATS, get_format
from chainviz.core.formats.frameworks.goaitools_state import GoaitoolsState
from chainviz.core.load import load_source
from chainviz.core.operations.contract import Decision
from chainviz.core.state.document import State, provider_length, seen_messages, with_length, write_state
from chainviz.core.state.export import continuation, is_state_format, provider_of
from chainviz.core.state.faults import MOST_BYTES, StateFile, read_state, salvage
from chainviz.drafts import services
from chainviz.drafts.operations.choices import moved_on, to_draft
from chainviz.drafts.operations.proposal import Proposal
from chainviz.drafts.target import Target, target_of
from chainviz.store.history.steps import NewStep
from chainviz.store.query.state import StatePart
from chainviz.web.http import see_other, small_number


@dataclass(frozen=True)
class ImportPage:
    target: Target
    arrival: Arrival | None
    """A refused file, which waits for a decision."""
    readable: int = 0
    """The number of its readable messages."""
    error: str = ""
    text: str = ""
    """Pasted text that was refused."""
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
    """Import the uploaded files or the pasted text. Raises Refused if that is not possible."""
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
    with services.add_step(target, proposal) as draft:
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
        raise Refused("Choose a file, or paste the text of a state file.")
    return [SimpleUploadedFile(f"Pasted {timezone.now():%d %b %H.%M}.json", pasted.encode("utf-8", "surrogatepass"))]


def _waits(arrival: Arrival) -> bool:
    """Return True if the file is still stored and small enough to be compared."""
    return staging.is_there(arrival.waiting) and arrival.size <= MOST_BYTES


def _answer(request: HttpRequest, target: Target, waiting: Arrival | None, error: str = "") -> HttpResponse:
    provider = provider_of(target.stored.format)
    readable = 0
    if waiting is not None and provider and _waits(waiting):
        readable = readable_messages(read_state(staging.path_of(waiting.waiting).read_bytes(), provider), provider)
    page = ImportPage(target, waiting, readable, error, request.POST.get("text", ""), as_chain=request.POST.get("as") == "chain")
    return render(request, "drafts/state/import.html", {"page": page}, status=422 if error else 200)


# The import of a state document as a step of the person's draft.


TOO_LARGE = "A chain or a state of more than 32 MB cannot be compared here. Import the state as a new chain."


def import_proposal(part: StatePart, provider: str, file: StateFile, *, salvaged: bool) -> Proposal:
    """Add the document to the person's draft as a step. Raises StateRefused if it has a problem, unless `salvaged` takes its readable
    messages; Refused if nothing changes or the document is too large."""
    if max(len(file.content), part.chain.snapshot.stored) > MOST_BYTES:
        raise Refused(TOO_LARGE)
    if not salvaged:
        require_state(file.content, file)
    state = salvage(file, provider).state
    messages = _messages(state)
    chain = part.chain
    changes = tuple(continuation(chain.slice(part.start, len(chain)), part.start, messages))
    around = _surroundings(part, state, messages, changes)
    if not changes and around is None:
        raise Refused("The state has the same messages as the chain, so nothing changes.")
    added, removed = sum(each.added for each in changes), sum(each.removed for each in changes)
    said = f"{count_text(added, 'message')} added, {removed:,} removed"
    report = [Decision("", "import_state", said)]
    return Proposal(NewStep(changes, "edit", {"action": "import_state"}, report, around))


def _messages(state: State) -> tuple[Message, ...]:
    if not state.messages:
        return ()
    name = next(each.name for each in FORMATS if isinstance(each, GoaitoolsState) and each.provider == state.provider)
    with open_source(write_state(state)) as source:
        return load_source(source, name)[0].messages


def _surroundings(part: StatePart, state: State, messages: tuple[Message, ...], changes: tuple[Splice, ...]) -> DocumentContext | None:
    """Return the document with the processed_length of the imported state; None if the chain has none or it stays the same."""
    chain = part.chain
    if not is_state_format(chain.format):
        return None
    length = state.processed_length
    if get_format(chain.format).packs:
        seen = seen_messages(length, [message.source for message in messages])
        after = apply_splices(chain.slice(0, len(chain)), changes)
        length = provider_length(seen, [message.source for message in after])
    return chain.surroundings.rewritten(lambda text: with_length(text, length))
