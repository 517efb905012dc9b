"""Index of every tool result and medium of a chain, and of the call that each answers: numbers without contents, in little
memory, for pages that count and filter."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import Binary, Message
from chainviz.core.dialects.values import split_data_url
from chainviz.core.observations.contract import UNKNOWN, Observation, ObservedMessage
from chainviz.core.observations.reader import Recognition, walk
from chainviz.core.pictures import Picture, bytes_and_sides, pictures_in
from chainviz.core.progress import Progress, counted, ignore_progress


@dataclass(frozen=True, slots=True)
class Medium:
    message: int
    part: int
    index: int
    """Its index among the media of a tool result; 0 for a part of its own."""
    tool: str
    """The tool whose result it belongs to; "" if there is none."""
    mime: str = ""
    """The media type. For an address outside the chain it is "", and the size and the sides are 0."""
    size: int = 0
    """The size in bytes."""
    width: int = 0
    height: int = 0
    """In pixels, or 0 if the content does not show it."""
    url: str = ""
    """The address outside the chain; "" if the chain contains the content."""


def media_in(place: int, message: Message, observed: Iterable[ObservedMessage]) -> Iterator[Medium]:
    """Yield the media of one message, including those in results of its tools."""
    owners = {id(medium): result.tool for each in observed for result in each.results for medium in result.media}
    for part, content in enumerate(message.parts):
        for index, picture in enumerate(pictures_in(content)):
            yield described(Medium(place, part, index, owners.get(id(picture), "")), picture)


def described(medium: Medium, picture: Picture) -> Medium:
    """Return the medium with facts from the picture's content."""
    size, width, height = bytes_and_sides(picture)
    if isinstance(picture, Binary):
        return replace(medium, mime=picture.mime, size=len(picture.content), width=width, height=height)
    embedded = split_data_url(picture.url)
    if embedded is None:
        return replace(medium, url=picture.url)
    mime, text = embedded
    return replace(medium, mime=mime, size=size or len(text) * 3 // 4, width=width, height=height)


Row = TypeVar("Row", bound=NamedTuple)
_TYPE = "q"
"""Signed integers of 8 bytes."""


class NumberTable(Generic[Row]):
    """Rows are named tuples whose fields are all integers."""

    def __init__(self, row: type[Row], columns: Iterable[array[int]] = ()) -> None:
        self._row = row
        self._columns = tuple(columns) or tuple(array(_TYPE) for _ in row._fields)

    @classmethod
    def unpack(cls, row: type[Row], packed: bytes) -> NumberTable[Row]:
        """Return the table that `pack` wrote."""
        content = zlib.decompress(packed)
        length = len(content) // len(row._fields)
        return cls(row, (array(_TYPE, content[at * length : (at + 1) * length]) for at in range(len(row._fields))))

    def pack(self) -> bytes:
        return zlib.compress(b"".join(column.tobytes() for column in self._columns), 1)

    def append(self, row: Row) -> None:
        for column, value in zip(self._columns, row, strict=True):
            column.append(value)

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, number: int) -> Row:
        return self._row._make(column[number] for column in self._columns)

    def __iter__(self) -> Iterator[Row]:
        return map(self._row._make, zip(*self._columns, strict=True))

    def column(self, name: str) -> array[int]:
        return self._columns[self._row._fields.index(name)]


IS_ERROR, HAS_MEDIA, BY_ID = 1, 2, 4
"""Flags of a result. BY_ID: its call was found by its id, else by order."""


class ResultRow(NamedTuple):
    """An Observation as numbers, for compact storage. The fields of the call are -1 for a result without a call."""

    group: int
    tool: int
    """The index of its name in `tools`."""
    part: int
    start: int
    end: int
    size: int
    """Size of the content in bytes."""
    flags: int
    call_message: int
    call_part: int
    call_start: int
    call_end: int


class GroupRow(NamedTuple):
    """The results of one message, or of one text in it."""

    message: int
    convention: int
    """The index in `conventions`."""
    answers: int
    """The index of the AI message before it; -1 if there is none."""
    is_wrapped: int
    size: int
    """Size of the results with their headers in bytes."""
    first: int
    """The index of its first result."""


class MediumRow(NamedTuple):
    """A Medium as numbers, without its description."""

    message: int
    part: int
    at: int
    """Medium.index"""
    tool: int
    """The index of the tool; -1 if it belongs to no tool."""


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
    """The results in the order of the chain; the groups and media are too."""
    groups: NumberTable[GroupRow] = field(default_factory=lambda: NumberTable(GroupRow))
    media: NumberTable[MediumRow] = field(default_factory=lambda: NumberTable(MediumRow))


def index_observations(chain: Chain, recognition: Recognition, progress: Progress = ignore_progress) -> ObservationIndex:
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
        index.groups.append(GroupRow(observed.message, convention, answers, is_wrapped, observed.size, len(index.results)))
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
