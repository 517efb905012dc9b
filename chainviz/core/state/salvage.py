"""Recover the readable messages of a state document with a problem, and describe its faults for uploads. goaitools discards such
messages; here a person decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.source import Source, open_source
from chainviz.core.documents.unit_reader import UnitReader
from chainviz.core.errors import DocumentError, Refused
from chainviz.core.formats import get_format
from chainviz.core.formats.frameworks.goaitools_state import GoaitoolsState
from chainviz.core.formats.offers import Offer, look
from chainviz.core.state.document import DIALECTS, State, dialect_of
from chainviz.core.state.faults import Fault, StateFile, fault_of, read_state


@dataclass(frozen=True, slots=True)
class Gap:
    """A message that could not be read."""

    place: int
    """The index of the message in the document, from 0."""
    reason: str
    text: str
    """The text of the message in the document."""


@dataclass(frozen=True, slots=True)
class Salvaged:
    state: State
    gaps: tuple[Gap, ...] = ()


def salvage(file: StateFile, provider: str = "") -> Salvaged:
    """Return the readable messages as a state of `provider`, or of the provider that the document names.

    processed_length is reduced by the unreadable messages that it counted. Raises Refused if neither provider is known.
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
    """Return the messages before the fault in the JSON."""
    try:
        with open_source(content) as source:
            found = look(source, get_format("goaitools_state"), salvage=True).lists[0]
            return tuple(unit.text for unit in UnitReader(source, found, salvage=True))
    except DocumentError:
        return ()


MOST_BYTES = 32_000_000
"""The largest file that is checked, in bytes, because the checks keep the whole document in memory."""
MOST_NOTED = 20


def is_state_file(source: Source, offers: Sequence[Offer]) -> bool:
    """Return True if the file is a single state document of at most MOST_BYTES."""
    return len(offers) == 1 and isinstance(offers[0].formats[0], GoaitoolsState) and source.size <= MOST_BYTES


def with_state_notes(source: Source, offers: Sequence[Offer]) -> list[Offer]:
    """Return the offers, with a note for each fault of a state document."""
    found = list(offers)
    for note in _notes(read_state(source.read(0, source.size))) if is_state_file(source, offers) else ():
        found = [offer.noted(note) for offer in found]
    return found


def _notes(file: StateFile) -> Iterator[str]:
    if file.problem and file.problem.fault is not Fault.CORRUPTED_MESSAGE:
        yield str(file.problem)
    gaps = salvage_any(file).gaps
    yield from (f"messages[{gap.place}] is not shown: {gap.reason} It stays in the file." for gap in gaps[:MOST_NOTED])
    if len(gaps) > MOST_NOTED:
        yield f"{len(gaps) - MOST_NOTED:,} more messages are not shown."


def salvage_any(file: StateFile) -> Salvaged:
    """Salvage a document. Messages of an unknown provider are read like those of the first known provider."""
    try:
        return salvage(file)
    except Refused:
        return salvage(file, next(iter(DIALECTS)))
