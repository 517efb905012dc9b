"""What every way of opening a state document says about its faults: the upload page, folders, `add`, `show` and Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chainviz.core.documents.source import Source
from chainviz.core.errors import Refused
from chainviz.core.formats.frameworks.goaitools_state import GoaitoolsState
from chainviz.core.formats.offers import Offer
from chainviz.core.state.faults import Fault, StateFile, read_state
from chainviz.core.state.raw_messages import DIALECTS
from chainviz.core.state.salvage import Salvaged, salvage

MOST_BYTES = 32_000_000
"""A larger file is opened without these checks: they hold the whole document in memory."""
MOST_NOTED = 20


def is_state_file(source: Source, offers: Sequence[Offer]) -> bool:
    """Whether the file is one state document, small enough to be checked."""
    return len(offers) == 1 and isinstance(offers[0].formats[0], GoaitoolsState) and source.size <= MOST_BYTES


def with_state_notes(source: Source, offers: Sequence[Offer]) -> list[Offer]:
    """Return the same offers; that of a state document with faults has a note for each."""
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
    """Salvage the document; the messages of an unknown provider are read as those of the first known one."""
    try:
        return salvage(file)
    except Refused:
        return salvage(file, next(iter(DIALECTS)))
