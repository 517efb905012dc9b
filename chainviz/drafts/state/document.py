"""The download of a chain as a state document, and what an imported one said of itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainviz.core.formats import get_format
from chainviz.core.state.document import State, state_document, unknown_members
from chainviz.core.state.export import exported_in, is_state_format, raw_texts
from chainviz.core.state.processed_length import provider_length
from chainviz.core.usage.beside import members_beside
from chainviz.store.models import Snapshot
from chainviz.store.query.state import StatePart
from chainviz.store.transfer.document_context import context_of


def document_of(part: StatePart, provider: str, processed: int | None) -> Iterator[bytes]:
    """`processed` counts stored messages of the chain; None: what the document says, else up to the last AI message.

    Refused, before anything is yielded, where the chain is written for another provider.
    """
    chain = part.chain
    dialect = exported_in(chain.format, provider)
    recorded = recorded_length(part) if processed is None else processed
    seen = part.answered if recorded is None else recorded
    length = provider_length(seen, part.origins()) if dialect.packs else seen
    state = State(provider, processed_length=length, others=unknown_members(_members(chain.snapshot)))
    return state_document(state, raw_texts(part.sources(), dialect))


def recorded_length(part: StatePart) -> int | None:
    """The processed_length that the document of the chain says, in messages of the chain; None where it says none or is no
    state document."""
    found = _members(part.chain.snapshot).get("processed_length")
    if type(found) is not int:
        return None
    return part.seen_messages(found) if get_format(part.chain.format).packs else found


def _members(snapshot: Snapshot) -> dict[str, Any]:
    return members_beside(context_of(snapshot)) if is_state_format(snapshot.format) else {}
