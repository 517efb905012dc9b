"""Move messages to another format: what they lose, how they are written, and how the turns of a user are joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from chainviz.core.chain.messages import HUMAN, NEW, SYSTEM, TOOL, Fragment, Message, Part, Text, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.counts import count_text
from chainviz.core.documents.assemble import follows, with_items
from chainviz.core.documents.json.edit import load_array, raw_at
from chainviz.core.formats.contract import Format, Style
from chainviz.core.formats.cross_provider import Route, crossed, with_media_behind


def without_source(message: Message) -> Message:
    """Return the message without its source and its role's spelling, which belong to the old format."""
    return replace(message, source=(), label="", parts=tuple(replace(part, origin=-1) for part in message.parts))


def moved(route: Route, message: Message) -> tuple[Message, ...]:
    """Return the message, or messages, that the target stores. What only the old API understands is left out. Unless the target
    packs results, each result gets its own message; other parts stay in front."""
    format = route.target
    message = crossed(route, message).message
    bare = without_source(message if _keeps_user_actions(route) else with_calls_as_text(message))
    if format.packs or len(bare.results) < 2:
        return (bare,)
    groups: list[list[Part]] = [[]]
    for part in bare.parts:
        if isinstance(part, ToolResult) and any(isinstance(other, ToolResult) for other in groups[-1]):
            groups.append([])
        groups[-1].append(part)
    return tuple(replace(bare, parts=tuple(parts)) for parts in groups)


def moving(route: Route, messages: Iterable[Message]) -> Iterator[Message]:
    """Return the messages that the target stores. Only messages that share a unit with a neighbour have a source already."""
    named = with_result_names(messages) if route.target.names_results else messages
    if route.target.results_in_calls:
        named = with_orphans_as_text(named)
    new = with_media_behind(route.target, chain.from_iterable(moved(route, message) for message in named))
    return with_joined_turns(route.target, new) if route.target.joins_turns else new


def _keeps_user_actions(route: Route) -> bool:
    return route.target.user_tools and (route.target.accepts is None or route.is_within_api)


def with_result_names(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield the messages, with the function name of the last call of the same id in each result that has no name."""
    names: dict[str, str] = {}
    for message in messages:
        names.update((part.id, part.name) for part in message.parts if isinstance(part, ToolCall))
        if any(isinstance(part, ToolResult) and not part.name and names.get(part.call_id) for part in message.parts):
            message = replace(message, parts=tuple(_with_name(part, names) for part in message.parts))
        yield message


def _with_name(part: Part, names: Mapping[str, str]) -> Part:
    return replace(part, name=names.get(part.call_id, "")) if isinstance(part, ToolResult) and not part.name else part


class OpenCalls:
    """The calls of the last turn that no result answers yet."""

    def __init__(self) -> None:
        self._ids: Counter[str] = Counter()

    def orphans(self, message: Message) -> list[ToolResult]:
        """Add the next message of the chain, and return its results whose turn has no open call with their id."""
        if message.role != TOOL:
            self._ids = Counter(call.id for call in message.calls)
            return []
        found = []
        for part in message.parts:
            if isinstance(part, ToolResult) and self._ids[part.call_id] > 0:
                self._ids[part.call_id] -= 1
            elif isinstance(part, ToolResult):
                found.append(part)
        return found


def with_orphans_as_text(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield the messages, with the results that answer no call of their turn as human messages after the turn."""
    calls, waiting = OpenCalls(), list[Message]()
    for message in messages:
        if message.role != TOOL:
            yield from waiting
            waiting = []
        orphans = calls.orphans(message)
        if orphans:
            waiting.append(Message(HUMAN, tuple(each for part in orphans for each in _without_call(part))))
            message = replace(message, parts=tuple(part for part in message.parts if part not in orphans))
        if message.parts or not orphans:
            yield message
    yield from waiting


def _without_call(result: ToolResult) -> tuple[Part, ...]:
    kind = "Error result" if result.is_error else "Result"
    call = f"{result.name} ({result.call_id})" if result.name else result.call_id
    return (Text(f"[{kind} without an open call: {call}]\n{result.content}"), *result.media)


def with_calls_as_text(message: Message) -> Message:
    """Return a message with the user's own tool calls and results as texts. Any other message is unchanged."""
    if not message.is_user_action:
        return message
    return replace(message, parts=tuple(_as_text(part) for part in message.parts))


def _as_text(part: Part) -> Part:
    if isinstance(part, ToolCall):
        return Text(f"[calls {part.name} {part.arguments}]")
    return Text(part.content) if isinstance(part, ToolResult) else part


def sources_in(route: Route, messages: Iterable[Message], *, has_slot: bool) -> Iterator[tuple[Fragment, ...]]:
    """Yield the fragments of each message in the target. Leading system messages go into the slot if the document has one and
    other messages follow."""
    new = moving(route, messages)
    opening = _opening(new)
    leading = has_slot and any(message.role != SYSTEM for message in opening)
    for number, message in enumerate(chain(opening, new)):
        leading = leading and message.role == SYSTEM
        yield message.source or route.target.write(message, Style(slot=leading, number=number))


def _opening(messages: Iterator[Message]) -> list[Message]:
    """Take the leading system messages and the message after them from the iterator."""
    opening: list[Message] = []
    for message in messages:
        opening.append(message)
        if message.role != SYSTEM:
            break
    return opening


class FoundLoss(NamedTuple):
    """Something that a target has no place for."""

    text: str
    """Such as `Mistral chat: signatures of reasoning are left out`."""
    messages: int
    first: int
    """The place of the first of these messages, from 0."""

    def sentence(self, first: Path | None = None) -> str:
        """Say what is lost and in how many messages; `first` is the path of the first one."""
        many = "" if self.messages == 1 else "the first "
        where = f", {many}at {first}" if first is not None else ""
        return f"{self.text} ({count_text(self.messages, 'message')}{where})."


class Losses:
    """Count the losses of a conversion, message by message."""

    def __init__(self, route: Route) -> None:
        self.route = route
        self.format = route.target
        self._count = 0
        self._opens = True
        self._calls = OpenCalls()
        self._counted: Counter[str] = Counter()
        self._first: dict[str, int] = {}

    def add(self, message: Message) -> None:
        """Count the losses of the next message."""
        place = self._count
        self._count += 1
        lost = [str(loss) for loss in crossed(self.route, message).losses]
        lost += [loss for new in moved(self.route, message) for loss in self.format.losses(new)]
        if self.format.results_in_calls and self._calls.orphans(message):
            lost.append("results that answer no call of their turn become user messages")
        if self._moves_media(message):
            lost.append("files and pictures in results move to a user message")
        self._opens = self._opens and message.role == SYSTEM
        if message.is_user_action and not _keeps_user_actions(self.route):
            lost.append("the user's tool calls and their results become text")
        if message.role == SYSTEM and not self._opens and self.format.late_system:
            lost.append(self.format.late_system)
        for loss in dict.fromkeys(lost):
            self._counted[loss] += 1
            self._first.setdefault(loss, place)

    def _moves_media(self, message: Message) -> bool:
        accepts = self.format.accepts
        has_media = any(isinstance(part, ToolResult) and part.media for part in message.parts)
        return has_media and accepts is not None and not accepts.media_in_results

    def each_kind(self) -> Iterator[FoundLoss]:
        for loss, count in self._counted.items():
            yield FoundLoss(f"{self.format.label}: {loss.rstrip('.')}", count, self._first[loss])


def with_joined_turns(format: Format, messages: Iterable[Message]) -> Iterator[Message]:
    """Yield the messages with consecutive results joined into one message, in the same unit as the human message after it."""
    results: Message | None = None
    for message in messages:
        if message.role == TOOL:
            results = replace(results, parts=(*results.parts, *message.parts)) if results else message
            continue
        if results is not None:
            yield from in_one_unit(format, (results, message)) if message.role == HUMAN else (results, message)
        else:
            yield message
        results = None
    if results is not None:
        yield results


def are_in_one_unit(one: Message, other: Message) -> bool:
    """Return True if two neighbouring messages are blocks of one unit."""
    if not one.source or not other.source:
        return False
    last, first = one.source[-1], other.source[0]
    is_same = last.ordinal == first.ordinal and (first.ordinal >= 0 or last.text == first.text)
    return is_same and first.blocks is not None and follows(first.blocks, last.blocks)


def in_one_unit(format: Format, messages: Sequence[Message]) -> list[Message]:
    """Return the messages as blocks of one new unit, in order."""
    written = [(message.role, fragment) for message in messages for fragment in format.write(message, Style())]
    items = [_items(format, fragment) for _, fragment in written]
    shell = written[0][1]
    text = with_items(shell.text, format.blocks_at, [item for own in items for item in own])
    joined, start = [], 0
    for (role, _), own in zip(written, items, strict=True):
        blocks = tuple(range(start, start + len(own)))
        joined.append(format.message(role, (replace(shell, ordinal=NEW, text=text, blocks=blocks, start=-1),)))
        start += len(own)
    return joined


def has_list(format: Format, message: Message) -> bool:
    """Return True if the content of a message is a list, so that blocks can be added to it."""
    return all((raw_at(fragment.text, format.blocks_at) or "").startswith("[") for fragment in message.source)


def _items(format: Format, fragment: Fragment) -> list[str]:
    array = load_array(raw_at(fragment.text, format.blocks_at) or "[]")
    return [array.raw(index) for index in (range(len(array)) if fragment.blocks is None else fragment.blocks)]
