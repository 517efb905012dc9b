"""Messages that move into another format: what they leave behind, how they are written, and how turns of the user are joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from chainviz.core.chain.messages import HUMAN, NEW, SYSTEM, TOOL, Fragment, Message, Part, Text, ToolCall, ToolResult
from chainviz.core.documents.assemble import follows, with_items
from chainviz.core.documents.json.edit import load_array, raw_at
from chainviz.core.formats.contract import Format, Style
from chainviz.core.formats.cross_provider import Route, crossed, with_media_behind


def without_source(message: Message) -> Message:
    """Return the message without its source: its fields and its role's spelling belong to the format it comes from."""
    return replace(message, source=(), label="", parts=tuple(replace(part, origin=-1) for part in message.parts))


def moved(route: Route, message: Message) -> tuple[Message, ...]:
    """The message as the target keeps it: without what only its own API understands; results that the target does not pack
    have a message each, other parts stay in front."""
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
    """Messages as the target keeps them. Only those that share a unit with a neighbour have a source yet."""
    named = with_result_names(messages) if route.target.names_results else messages
    there = with_media_behind(route.target, (one for message in named for one in moved(route, message)))
    return with_joined_turns(route.target, there) if route.target.joins_turns else there


def _keeps_user_actions(route: Route) -> bool:
    return route.target.user_tools and (route.target.accepts is None or route.is_within_api)


def with_result_names(messages: Iterable[Message]) -> Iterator[Message]:
    """Yields the messages; a result without the name of a function gets that of the last call before it with its id."""
    names: dict[str, str] = {}
    for message in messages:
        names.update((part.id, part.name) for part in message.parts if isinstance(part, ToolCall))
        if any(isinstance(part, ToolResult) and not part.name and names.get(part.call_id) for part in message.parts):
            message = replace(message, parts=tuple(_with_name(part, names) for part in message.parts))
        yield message


def _with_name(part: Part, names: Mapping[str, str]) -> Part:
    return replace(part, name=names.get(part.call_id, "")) if isinstance(part, ToolResult) and not part.name else part


def with_calls_as_text(message: Message) -> Message:
    """Return a user's own tool calls and results as texts; every other message unchanged."""
    if not message.is_user_action:
        return message
    return replace(message, parts=tuple(_as_text(part) for part in message.parts))


def _as_text(part: Part) -> Part:
    if isinstance(part, ToolCall):
        return Text(f"[calls {part.name} {part.arguments}]")
    return Text(part.content) if isinstance(part, ToolResult) else part


def sources_in(route: Route, messages: Iterable[Message], *, has_slot: bool) -> Iterator[tuple[Fragment, ...]]:
    """Yield each message in the form of a new one of the target; leading system messages go into the slot, if the
    document has one and other messages as well."""
    there = moving(route, messages)
    opening = _opening(there)
    leading = has_slot and any(one.role != SYSTEM for one in opening)
    for number, one in enumerate(chain(opening, there)):
        leading = leading and one.role == SYSTEM
        yield one.source or route.target.write(one, Style(slot=leading, number=number))


def _opening(messages: Iterator[Message]) -> list[Message]:
    """Take the leading system messages and the first other one from the iterator."""
    opening: list[Message] = []
    for message in messages:
        opening.append(message)
        if message.role != SYSTEM:
            break
    return opening


class Losses:
    """Counts what a target has no place for, message by message."""

    def __init__(self, route: Route) -> None:
        self.route = route
        self.format = route.target
        self._count = 0
        self._opens = True
        self._counted: Counter[str] = Counter()
        self._first: dict[str, int] = {}

    def add(self, message: Message) -> None:
        """The next message that moves."""
        self._count += 1
        lost = [str(loss) for loss in crossed(self.route, message).losses]
        lost += [loss for one in moved(self.route, message) for loss in self.format.losses(one)]
        if self._moves_media(message):
            lost.append("files and pictures in results move to a user message")
        self._opens = self._opens and message.role == SYSTEM
        if message.is_user_action and not _keeps_user_actions(self.route):
            lost.append("the user's tool calls and their results become text")
        if message.role == SYSTEM and not self._opens and self.format.late_system:
            lost.append(self.format.late_system)
        for loss in dict.fromkeys(lost):
            self._counted[loss] += 1
            self._first.setdefault(loss, self._count)

    def _moves_media(self, message: Message) -> bool:
        accepts = self.format.accepts
        has_media = any(isinstance(part, ToolResult) and part.media for part in message.parts)
        return has_media and accepts is not None and not accepts.media_in_results

    def sentences(self) -> Iterator[str]:
        for loss, count in self._counted.items():
            first = self._first[loss]
            where = f"message {first}" if count == 1 else f"{count:,} messages, the first is number {first}"
            yield f"{self.format.label}: {loss.rstrip('.')} ({where})."


def with_joined_turns(format: Format, messages: Iterable[Message]) -> Iterator[Message]:
    """New messages, those of results in a row as one, and the human message behind it in the same unit."""
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
    """Whether neighbouring messages are blocks of one unit."""
    if not one.source or not other.source:
        return False
    last, first = one.source[-1], other.source[0]
    is_same = last.ordinal == first.ordinal and (first.ordinal >= 0 or last.text == first.text)
    return is_same and first.blocks is not None and follows(first.blocks, last.blocks)


def in_one_unit(format: Format, messages: Sequence[Message]) -> list[Message]:
    """The messages as parts of one new unit, which has the blocks of all in order."""
    written = [(message.role, fragment) for message in messages for fragment in format.write(message, Style())]
    items = [_items(format, fragment) for _, fragment in written]
    shell = written[0][1]
    text = with_items(shell.text, format.blocks_at, [item for each in items for item in each])
    joined, start = [], 0
    for (role, _), each in zip(written, items, strict=True):
        blocks = tuple(range(start, start + len(each)))
        joined.append(format.message(role, (replace(shell, ordinal=NEW, text=text, blocks=blocks, start=-1),)))
        start += len(each)
    return joined


def has_list(format: Format, message: Message) -> bool:
    """Whether its content is a list, which can take the blocks of another message."""
    return all((raw_at(fragment.text, format.blocks_at) or "").startswith("[") for fragment in message.source)


def _items(format: Format, fragment: Fragment) -> list[str]:
    array = load_array(raw_at(fragment.text, format.blocks_at) or "[]")
    return [array.raw(index) for index in (range(len(array)) if fragment.blocks is None else fragment.blocks)]
