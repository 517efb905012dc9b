"""The readable messages of a state document that has a problem. The reference discards them all; here a person decides."""

from __future__ import annotations

from dataclasses import dataclass

from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.source import open_source
from chainviz.core.documents.unit_reader import UnitReader
from chainviz.core.errors import DocumentError
from chainviz.core.formats import get_format
from chainviz.core.formats.offers import look
from chainviz.core.state.document import State
from chainviz.core.state.faults import Fault, StateFile, fault_of
from chainviz.core.state.raw_messages import dialect_of


@dataclass(frozen=True, slots=True)
class Gap:
    """A message that could not be read."""

    place: int
    """Its index in the document, from 0."""
    reason: str
    text: str
    """As the document spells it."""


@dataclass(frozen=True, slots=True)
class Salvaged:
    state: State
    gaps: tuple[Gap, ...] = ()


def salvage(file: StateFile, provider: str = "") -> Salvaged:
    """The messages that can be read, as a state of `provider` (else of the one the document names).

    Refused where neither names a provider that is known. A processed_length counts the readable messages among the first.
    """
    provider = provider or file.found.provider
    dialect_of(provider)
    is_cut = file.problem is not None and file.problem.fault is Fault.INVALID_JSON and not file.found.messages
    found = _complete_messages(file.content) if is_cut else file.found.messages
    gaps = tuple(
        Gap(place, reason, text) for place, text in enumerate(found) if (reason := fault_of(json_edit.parse(text)))
    )
    gone = {gap.place for gap in gaps}
    readable = tuple(text for place, text in enumerate(found) if place not in gone)
    seen = file.found.processed_length - sum(place < file.found.processed_length for place in gone)
    return Salvaged(State(provider, readable, seen, file.found.others), gaps)


def _complete_messages(content: bytes) -> tuple[str, ...]:
    """The messages before the place where the JSON breaks."""
    try:
        with open_source(content) as source:
            found = look(source, get_format("goaitools_state"), salvage=True).lists[0]
            return tuple(unit.text for unit in UnitReader(source, found, salvage=True))
    except DocumentError:
        return ()
