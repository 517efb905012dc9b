"""The download of a chain as a state document, and what an imported one said of itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainviz.core.formats import get_format
from chainviz.core.state.document import VERSION, State, state_document, unknown_members
from chainviz.core.state.export import exported_in, is_state_format, raw_texts, require_readable
from chainviz.core.state.processed_length import is_shared, provider_length
from chainviz.core.usage.beside import members_beside
from chainviz.store.content.spans import SourceSpan
from chainviz.store.models import Snapshot
from chainviz.store.query.state import StatePart
from chainviz.store.transfer.document_context import context_of

MOST_MEASURED = 5_000
"""Messages whose lengths are summed for the page."""


def document_of(part: StatePart, provider: str, processed: int | None, *, anyway: bool = False) -> Iterator[bytes]:
    """Yield the state document. `processed` counts stored messages of the chain; None: what the document says, else up to the
    last AI message. `anyway` writes a new state also of a document that is not understood.

    Refused, before anything is yielded, where the chain is written for another provider or its document is not understood.
    """
    dialect = exported_in(part.chain.format, provider)
    if not anyway:
        require_readable(_members(part.chain.snapshot), part.chain.surroundings.unread)
    recorded = recorded_length(part) if processed is None else processed
    seen = part.answered if recorded is None else recorded
    length = provider_length(seen, part.origins()) if dialect.packs else seen
    return state_document(_state(part, provider, length), raw_texts(part.sources(), dialect))


def document_size(part: StatePart, provider: str, processed: int) -> int | None:
    """Bytes of that document; None for a chain that is too long to measure while a person waits."""
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
    """The version that the state document of the chain says; that of a new one where it says none."""
    return _members(part.chain.snapshot).get("version", VERSION)


def recorded_length(part: StatePart) -> int | None:
    """The processed_length that the document of the chain says, in messages of the chain; None where it says none or is no
    state document."""
    found = _members(part.chain.snapshot).get("processed_length")
    if type(found) is not int:
        return None
    return part.seen_messages(found) if get_format(part.chain.format).packs else found


def _members(snapshot: Snapshot) -> dict[str, Any]:
    return members_beside(context_of(snapshot)) if is_state_format(snapshot.format) else {}
