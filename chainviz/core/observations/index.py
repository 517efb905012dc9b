"""Where every result of a chain lies and which call it answers, as numbers without contents: for a page that counts,
filters and sorts the results of a long chain and reads only those it shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from chainviz.core.chain.chain import Chain
from chainviz.core.observations.contract import UNKNOWN, Observation, ObservedMessage
from chainviz.core.observations.media import Medium, media_in
from chainviz.core.observations.number_table import NumberTable
from chainviz.core.observations.reader import Recognition, walk
from chainviz.core.progress import Progress, counted, ignore_progress

IS_ERROR, HAS_MEDIA, BY_ID = 1, 2, 4
"""Flags of a result. BY_ID: its call was found by its id, else by order."""


class ResultRow(NamedTuple):
    """As Observation; a result without a call has -1 for the call's fields."""

    group: int
    tool: int
    """Index of its name in `tools`."""
    part: int
    start: int
    end: int
    size: int
    """Bytes of the content."""
    flags: int
    call_message: int
    call_part: int
    call_start: int
    call_end: int


class GroupRow(NamedTuple):
    """The results of one message, or of one text in it."""

    message: int
    convention: int
    """Index in `conventions`."""
    answers: int
    """The AI message before it; -1 where there is none."""
    is_wrapped: int
    size: int
    """Bytes of the results with their headers."""
    first: int
    """Index of its first result."""


class MediumRow(NamedTuple):
    """As Medium, without what its content says."""

    message: int
    part: int
    at: int
    """Medium.index"""
    tool: int
    """-1 where it belongs to no tool."""


class Suspect(NamedTuple):
    """A message that only looks like results."""

    message: int
    names: tuple[str, ...]
    """Header names that are not tools of the chain."""


@dataclass(frozen=True)
class ObservationIndex:
    tools: list[str] = field(default_factory=list)
    conventions: list[str] = field(default_factory=list)
    suspects: list[Suspect] = field(default_factory=list)
    results: NumberTable[ResultRow] = field(default_factory=lambda: NumberTable(ResultRow))
    """In chain order, as are the groups and media."""
    groups: NumberTable[GroupRow] = field(default_factory=lambda: NumberTable(GroupRow))
    media: NumberTable[MediumRow] = field(default_factory=lambda: NumberTable(MediumRow))


def index_observations(
    chain: Chain, recognition: Recognition, progress: Progress = ignore_progress
) -> ObservationIndex:
    index = _Builder()
    for place, message, observed in counted(walk(chain, recognition), len(chain), progress, "read"):
        for each in observed:
            index.add(each)
        index.add_media(media_in(place, message, observed))
    return index.index


class _Builder:
    def __init__(self) -> None:
        self.index = ObservationIndex()
        self._tools: dict[str, int] = {}
        self._conventions: dict[str, int] = {}

    def add(self, observed: ObservedMessage) -> None:
        index = self.index
        if observed.convention == UNKNOWN:
            index.suspects.append(Suspect(observed.message, observed.names))
            return
        group = len(index.groups)
        convention = _number(observed.convention, self._conventions, index.conventions)
        answers = -1 if observed.answers is None else observed.answers
        is_wrapped = int(observed.text is not None and observed.text.is_wrapped)
        index.groups.append(
            GroupRow(observed.message, convention, answers, is_wrapped, observed.size, len(index.results))
        )
        for result in observed.results:
            index.results.append(self._result(group, result))

    def _result(self, group: int, result: Observation) -> ResultRow:
        tool = _number(result.tool, self._tools, self.index.tools)
        call = result.call
        by_id = call is not None and call.how == "id"
        flags = IS_ERROR * result.is_error | HAS_MEDIA * bool(result.media) | BY_ID * by_id
        at_call = (call.message, call.part, call.start, call.end) if call else (-1, -1, -1, -1)
        return ResultRow(group, tool, result.part, result.start, result.end, result.size, flags, *at_call)

    def add_media(self, media: Iterable[Medium]) -> None:
        for medium in media:
            tool = _number(medium.tool, self._tools, self.index.tools) if medium.tool else -1
            self.index.media.append(MediumRow(medium.message, medium.part, medium.index, tool))


def _number(name: str, numbers: dict[str, int], names: list[str]) -> int:
    if name not in numbers:
        numbers[name] = len(names)
        names.append(name)
    return numbers[name]


