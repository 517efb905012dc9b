"""The State page: two columns for the next call, and a form that changes the call, appends to the chain, or downloads the state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.exports.downloads import require_unlocked
from chainviz.chains.usage import last_call
from chainviz.core.chain.messages import SYSTEM
from chainviz.core.errors import ChainError, Refused
from chainviz.core.formats import get_format
from chainviz.core.operations.edit import Edit, EditOptions
from chainviz.core.operations.repair import Repair, RepairOptions
from chainviz.core.state.document import VERSION, State, is_shared, provider_length, state_document, unknown_members
from chainviz.core.state.export import (
    STARTS_WITH_SYSTEM,
    NextCall,
    call_after,
    exported_in,
    is_state_format,
    provider_of,
    raw_texts,
    require_readable,
)
from chainviz.core.usage.document_usage import members_beside
from chainviz.drafts.operations.choices import moved_on, to_draft
from chainviz.drafts.operations.run import change
from chainviz.drafts.state import what_if
from chainviz.drafts.state.what_if import Fit, StateRow, WhatIf, fit_of
from chainviz.drafts.target import Target, target_of
from chainviz.store.content.spans import SourceSpan
from chainviz.store.models import Snapshot
from chainviz.store.outline.build import outline_of
from chainviz.store.query.state import StatePart
from chainviz.store.transfer.document_context import context_of
from chainviz.web.formatting import byte_text
from chainviz.web.http import page_or_fragment, small_number

EDIT = Edit()
FIXES = {"drop_systems": "drop-message", "note_systems": "note-system"}
"""The button for each fix of refused system messages, and the fix."""


@dataclass(frozen=True)
class StatePage:
    """The values of the page. The template computes nothing."""

    target: Target
    part: StatePart
    call: NextCall
    entered: WhatIf
    start: int | None
    """The first row of the window of all rows; None to show only notable what_if."""
    column: str = "stored"
    """The column that a narrow screen shows: stored or sent."""
    error: str = ""
    append_text: str = ""
    anyway_address: str = ""
    """The address that downloads a new state although the chain's document is not understood; "" if the download was not refused."""

    @property
    def chain(self) -> Any:
        return self.target.chain

    @property
    def address(self) -> str:
        return reverse("drafts:state", args=[self.target.chain.pk]) + self.target.query

    @property
    def step_address(self) -> str:
        return reverse("drafts:state_step", args=[self.target.chain.pk]) + self.target.query

    @property
    def document_address(self) -> str:
        address = reverse("drafts:state_document", args=[self.target.chain.pk]) + self.target.query
        return f"{address}&processed_length={self.processed}"

    @cached_property
    def provider(self) -> str:
        return provider_of(self.target.stored.format)

    @property
    def recorded_version(self) -> object:
        return recorded_version(self.part)

    @cached_property
    def document_size(self) -> str:
        """The size of the document. For longer chains it is the size of the messages in the upload, white space included."""
        size = document_size(self.part, self.provider, self.processed)
        return f"about {byte_text(self.target.stored.snapshot.stored)}" if size is None else byte_text(size)

    @property
    def refused_systems(self) -> str:
        """The reason why a program rejects the state with its system messages; "" if it accepts it."""
        if self.provider == "anthropic" and self.systems:
            return "Anthropic rejects system messages among the stored ones; they belong in the call."
        if self.part.first_role == SYSTEM:
            return STARTS_WITH_SYSTEM
        return ""

    @property
    def warnings(self) -> list[str]:
        return [warning for warning in self.call.warnings if warning != STARTS_WITH_SYSTEM]

    @property
    def processed(self) -> int:
        return self.call.seen if self.entered.processed is None else self.entered.processed

    @property
    def packs(self) -> bool:
        """True if one message of the provider may contain several of the chain."""
        return bool(self.provider) and get_format(self.target.stored.format).packs

    @cached_property
    def fit(self) -> Fit:
        return fit_of(self.call, self.entered.window)

    @cached_property
    def recorded_tokens(self) -> int:
        """The prompt tokens of the last call, which the file records; 0 without them, or in a chain that was changed since."""
        snapshot = self.target.stored.snapshot
        call = None if snapshot.operation else last_call(outline_of(snapshot))
        return call.usage.input if call else 0

    @cached_property
    def systems(self) -> int:
        return self.part.systems

    @property
    def leading_size(self) -> int:
        return sum(message.size for message in self.call.leading)

    def leading_rows(self) -> Iterator[StateRow]:
        return what_if.leading_rows(self.call)

    def next_rows(self) -> Iterator[StateRow]:
        return what_if.next_rows(self.call)

    @cached_property
    def rows(self) -> list[StateRow]:
        if self.start is None:
            return what_if.notable_rows(self.part, self.call)
        return what_if.window_rows(self.part, self.call, self.start, self.stop)

    @property
    def stop(self) -> int:
        return min(len(self.part), (self.start or 0) + what_if.WINDOW)

    @property
    def previous(self) -> int | None:
        return max(0, self.start - what_if.WINDOW) if self.start else None

    @property
    def following(self) -> int | None:
        if self.start is None:
            return None
        return self.stop if self.stop < len(self.part) else None

    @property
    def windows(self) -> list[tuple[int, str]]:
        return what_if.window_choices(self.target.context_window, self.entered.window)


@requires("read")
@require_http_methods(["GET", "HEAD", "POST"])
def state(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Show the state page. A posted form is a what-if, which changes nothing."""
    return _page(request, target_of(request, chain_id))


@requires("draft")
@require_POST
def step(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Append a message without a call, or fix the stored system messages, as a step of the person's draft."""
    target = target_of(request, chain_id)
    try:
        if request.POST.get("seen") != target.seen:
            raise Refused(moved_on(target))
        act = request.POST.get("act", "")
        return to_draft(change(target, Repair(), _fix_of(act, target)) if act in FIXES else change(target, EDIT, _appended(request)))
    except ChainError as refused:
        return _page(request, target, str(refused))


def _fix_of(act: str, target: Target) -> RepairOptions:
    refuses_all = provider_of(target.stored.format) == "anthropic"
    rules = ("system-in-state", "mid-system") if refuses_all else ("system-in-state",)
    return RepairOptions(only=rules, choose=tuple(f"{rule}={FIXES[act]}" for rule in rules), content=False)


def _appended(request: HttpRequest) -> EditOptions:
    """Append a message at the end of the chain. The model has not seen it."""
    text = request.POST.get("append_text", "").replace("\r\n", "\n")
    if not text.strip():
        raise Refused("Enter the text to append.")
    action = "add_event" if request.POST.get("act") == "add_event" else "append"
    role = "system" if request.POST.get("append_role") == "system" else "human"
    return EditOptions.model_validate({"action": action, "role": role, "text": text})


def _page(request: HttpRequest, target: Target, error: str = "", anyway_address: str = "") -> HttpResponse:
    part = StatePart.of(target.stored)
    entered = what_if.of_chain(target.stored.slice(0, part.start), recorded_length(part), target.context_window)
    if request.method == "POST":
        entered = what_if.read(request.POST, entered)
    given = request.POST if request.method == "POST" else request.GET
    processed = part.count_to_last_answer if entered.processed is None else entered.processed
    call = call_after(part, processed, entered.leading_messages, entered.user_message)
    start = _start(given, part)
    column = "sent" if given.get("column") == "sent" else "stored"
    page = StatePage(target, part, call, entered, start, column, error, given.get("append_text", ""), anyway_address)
    names = ("drafts/state/state.html", "drafts/state/_state.html")
    return page_or_fragment(request, *names, {"page": page}, status=422 if error else 200)


def _start(given: Mapping[str, Any], part: StatePart) -> int | None:
    """Return the start of the window from a button or link, or from the form."""
    if given.get("rows") == "notable":
        return None
    place = small_number(given.get("from") or given.get("at", ""))
    return None if place is None else min(place, max(0, len(part) - 1))


@requires("export")
@require_safe
def document(request: HttpRequest, chain_id: int) -> HttpResponseBase:
    """Download the state document."""
    target = target_of(request, chain_id)
    part = StatePart.of(target.stored)
    processed = small_number(request.GET.get("processed_length", ""))
    anyway = request.GET.get("anyway") == "1"
    try:
        content = document_of(part, provider_of(part.chain.format), processed, anyway=anyway)
    except Refused as refused:
        query = request.GET.copy()
        query["anyway"] = "1"
        return _page(request, target, str(refused), "" if anyway else f"{request.path}?{query.urlencode()}")
    require_unlocked(target.chain, None if target.draft else target.version.number)
    headers = {"Content-Disposition": content_disposition_header(True, _file_name(target)) or "attachment"}
    return StreamingHttpResponse(content, content_type="application/json", headers=headers)


def _file_name(target: Target) -> str:
    name = (target.chain.file_name or "chain").rsplit(".", 1)[0]
    return f"{name} state.json"


# The download of a chain as a state document, and the recorded values of an imported one.


MOST_MEASURED = 5_000
"""The longest chain, in messages, whose document is measured for the page."""


def document_of(part: StatePart, provider: str, processed: int | None, *, anyway: bool = False) -> Iterator[bytes]:
    """Yield the state document. `processed` counts stored messages of the chain; None takes the value of the chain's document, or counts up
    to the last AI message. `anyway` writes a new state even if the chain's document is not understood.

    Raises Refused, before anything is yielded, if the chain is written for another provider or its document is not understood.
    """
    dialect = exported_in(part.chain.format, provider)
    if not anyway:
        require_readable(_members(part.chain.snapshot), part.chain.surroundings.unread)
    recorded = recorded_length(part) if processed is None else processed
    seen = part.count_to_last_answer if recorded is None else recorded
    length = provider_length(seen, part.origins()) if dialect.packs else seen
    return state_document(_state(part, provider, length), raw_texts(part.sources(), dialect))


def document_size(part: StatePart, provider: str, processed: int) -> int | None:
    """Return the size of the state document in bytes; None for a chain that is too long to measure for a page."""
    if len(part) > MOST_MEASURED:
        return None
    size = sum(map(len, state_document(_state(part, provider, processed), ())))
    before: SourceSpan | None = None
    for span in (span for spans in part.origins() for span in spans):
        if before is None or not is_shared(span, before):
            size += span.length + (before is not None)
        before = span
    return size


def _state(part: StatePart, provider: str, length: int) -> State:
    return State(provider, processed_length=length, others=unknown_members(_members(part.chain.snapshot)))


def recorded_version(part: StatePart) -> object:
    """Return the version in the chain's state document; that of a new document if it has none."""
    return _members(part.chain.snapshot).get("version", VERSION)


def recorded_length(part: StatePart) -> int | None:
    """Return the processed_length in the chain's document, in messages of the chain; None if it has none or is not a
    state document."""
    found = _members(part.chain.snapshot).get("processed_length")
    if type(found) is not int:
        return None
    return part.seen_messages(found) if get_format(part.chain.format).packs else found


def _members(snapshot: Snapshot) -> dict[str, Any]:
    return members_beside(context_of(snapshot)) if is_state_format(snapshot.format) else {}
