"""The tool results of a chain, message by message, each linked to the call it answers. A call may be a tool call, or text in
an action section of an AI message."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import AI, HUMAN, TOOL, Binary, CallRef, Image, Message, Text, ToolResult, byte_size
from chainviz.core.observations.contract import (
    NATIVE,
    RAW,
    UNKNOWN,
    WHOLE_ACTION,
    Block,
    CallPlace,
    Observation,
    ObservedMessage,
    TextObservation,
)
from chainviz.core.observations.texts import ObservationReader, suspected_names
from chainviz.core.text_formats import TEXT_FORMATS
from chainviz.core.text_formats.contract import FoundSection, TextFormat
from chainviz.core.toolchain.calls import ACTION, ReadCalls, read_calls, with_outer
from chainviz.core.toolchain.results import is_error


@dataclass(frozen=True, slots=True)
class Recognition:
    """The rules for what counts as a result."""

    tools: frozenset[str]
    """Names that headers may have, usually `called_tools`."""
    section: str = ACTION
    """The section of an AI message that holds calls."""
    raw: bool = False
    """True to read a text without headers as the result of the only call of the AI message directly before it."""


def called_tools(chain: Chain, section: str = ACTION) -> frozenset[str]:
    """Return the names of all tools that the chain calls, natively or in action sections. Reads the whole chain once."""
    names = {call.name for shape in chain.shapes() for call in shape.calls}
    for _, message in read_messages(chain):
        if message.role == AI:
            names.update(entry.name for action in read_actions(message, section) for entry in action.calls.entries)
    return frozenset(names - {""})


def observe(chain: Chain, recognition: Recognition) -> Iterator[ObservedMessage]:
    """Yield the results in a chain."""
    for _, _, observed in walk(chain, recognition):
        yield from observed


def walk(chain: Chain, recognition: Recognition) -> Iterator[tuple[int, Message, list[ObservedMessage]]]:
    """Yield the messages of a chain, each with its place and the results in it."""
    turns = _Turns(recognition)
    for place, message in read_messages(chain):
        yield place, message, list(turns.step(place, message))


def read_messages(chain: Chain) -> Iterator[tuple[int, Message]]:
    return enumerate(chain.stream(0, len(chain)))


class _Turns:
    """Goes through messages in order; knows the AI message that results answer."""

    def __init__(self, recognition: Recognition) -> None:
        self._recognition = recognition
        self._reader = ObservationReader(recognition.tools)
        self._turn: _Turn | None = None

    def step(self, place: int, message: Message) -> Iterator[ObservedMessage]:
        if message.role == AI:
            self._turn = _Turn(place, message, self._recognition.section)
        elif message.role == TOOL and message.results:
            yield self._native(place, message)
        elif message.role == HUMAN and self._turn is not None:
            yield from self._texts(place, message, self._turn)

    def _native(self, place: int, message: Message) -> ObservedMessage:
        results = []
        for ref in message.results:
            result = message.parts[ref.part]
            assert isinstance(result, ToolResult)
            call = self._turn.by_id(ref.id) if self._turn else None
            name = call.name if call else result.name
            failed = is_error(result.content, marked=result.is_error)
            end = len(result.content)
            results.append(Observation(name, result.content, failed, ref.part, 0, end, call, result.media))
        size = sum(each.size for each in results)
        return ObservedMessage(place, 0, NATIVE, self._turn.place if self._turn else None, tuple(results), size)

    def _texts(self, place: int, message: Message, turn: _Turn) -> Iterator[ObservedMessage]:
        media = deque(part for part in message.parts if isinstance(part, Image | Binary))
        for index, part in enumerate(message.parts):
            if not isinstance(part, Text):
                continue
            found = self._reader.read(part.text) or self._raw(place, message, part, turn)
            if found:
                results = tuple(_result(block, index, turn, media) for block in found.blocks)
                size = byte_size(part.text[found.start : found.end])
                yield ObservedMessage(place, index, found.convention, turn.place, results, size, found)
            elif names := suspected_names(part.text):
                yield ObservedMessage(place, index, UNKNOWN, turn.place, (), part.size, names=names)

    def _raw(self, place: int, message: Message, part: Text, turn: _Turn) -> TextObservation | None:
        texts = sum(isinstance(each, Text) for each in message.parts)
        name = turn.only_name if self._recognition.raw and place == turn.place + 1 and texts == 1 else ""
        end = len(part.text)
        return TextObservation(RAW, False, 0, end, (Block(name, part.text, 0, end, 0),)) if name else None


def _result(block: Block, part: int, turn: _Turn, media: deque[Image | Binary]) -> Observation:
    """Make a result. Media of the message belong to its results in order; a failed call has none."""
    own = (media.popleft(),) if media and not block.is_error else ()
    call = turn.by_name(block.name)
    return Observation(block.name or WHOLE_ACTION, block.content, block.is_error, part, block.start, block.end, call, own)


class _Turn:
    """The calls of one AI message; each has one result."""

    def __init__(self, place: int, message: Message, section: str) -> None:
        self.place = place
        self._message = message
        self._section = section
        self._open: dict[str, deque[CallRef]] = {}
        for call in message.calls:
            self._open.setdefault(call.id, deque()).append(call)

    def by_id(self, id: str) -> CallPlace | None:
        waiting = self._open.get(id)
        call = waiting.popleft() if waiting else None
        return CallPlace(self.place, call.part, call.name, "id") if call else None

    def by_name(self, name: str) -> CallPlace | None:
        waiting = self._open_calls.get(name)
        return waiting.popleft() if waiting else None

    @property
    def only_name(self) -> str:
        """The tool of the only call that is written as text; "" if there are none or several."""
        calls = list(self._written())
        return calls[0].name if len(calls) == 1 else ""

    @cached_property
    def _open_calls(self) -> dict[str, deque[CallPlace]]:
        """Call written as text; if there are none, the native ones that have no result yet."""
        named: dict[str, deque[CallPlace]] = {}
        for call in [*self._written()] or [*self._unanswered()]:
            named.setdefault(call.name, deque()).append(call)
        return named

    def _written(self) -> Iterator[CallPlace]:
        for action in read_actions(self._message, self._section):
            for entry in action.calls.entries if not action.calls.error else ():
                start = action.section.start
                yield CallPlace(self.place, action.part, entry.name, "order", start + entry.start, start + entry.end)

    def _unanswered(self) -> Iterator[CallPlace]:
        waiting = (ref for calls in self._open.values() for ref in calls)
        for ref in sorted(waiting, key=lambda ref: ref.part):
            yield CallPlace(self.place, ref.part, ref.name, "order")


_YAML_CALL = re.compile(r"^[- ]*[\"']?(?:tool|args)[\"']?[ \t]*:", re.MULTILINE)
HEAD = 1 << 12


@dataclass(frozen=True, slots=True)
class Action:
    """One action section of a message."""

    part: int
    section: FoundSection
    format: str
    """The name of its text format."""
    calls: ReadCalls
    """Reads the calls; offsets count from the section's `start`."""


def read_actions(message: Message, section: str = ACTION) -> tuple[Action, ...]:
    """Return the actions of the first text part that has such a section, or nothing."""
    for place, part in enumerate(message.parts):
        # most texts have no action at all
        if isinstance(part, Text) and section.lower() in part.text.lower():
            found = tuple(_actions(part.text, place, section))
            if found:
                return found
    return ()


@lru_cache(maxsize=8)
def _formats(section: str) -> tuple[TextFormat, ...]:
    return tuple(text_format.register(section) for text_format in TEXT_FORMATS)


def _actions(text: str, part: int, name: str) -> Iterator[Action]:
    for text_format in _formats(name):
        sections = text_format.scan(text).sections
        for section, is_outer in with_outer(sections):
            if not is_outer:
                yield Action(part, section, text_format.name, _calls(section.content))
        if sections:
            return


def _calls(text: str) -> ReadCalls:
    """Read calls as JSON, or as YAML if the text is not JSON and looks like a call."""
    read = read_calls(text, "json")
    return read_calls(text, "yaml") if read.error and _YAML_CALL.search(text, 0, HEAD) else read
