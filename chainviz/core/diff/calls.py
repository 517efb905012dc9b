"""Calls and results in a comparison: calls shown beside their results, equal calls with different ids, and moved results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from chainviz.core.chain.messages import TOOL, Message, Part, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.diff.align import Equal, align
from chainviz.core.diff.groups import Group, RowGap, Side
from chainviz.core.diff.lines import DiffRow
from chainviz.core.diff.messages import MessageDiff, compare_texts
from chainviz.core.diff.rows import Row

SHOWN = 6
"""The number of argument lines that are shown for a call beside its result."""


def hidden_calls(messages: Iterable[Message], changed: Iterable[MessageDiff]) -> Mapping[str, ToolCall]:
    """Return the calls of a group by id, without those that its changes show."""
    shown = {part.call_id for message in changed for part in message.parts if part.part == "tool_call" and part.kind != "same"}
    calls = (part for message in messages for part in message.parts if isinstance(part, ToolCall))
    return {call.id: call for call in calls if call.id not in shown}


def calls_of_one_side(message: MessageDiff, calls: Mapping[str, ToolCall]) -> list[ToolCall]:
    """Return the calls whose results are in this message, if only one side has the message."""
    if message.role != TOOL or message.kind not in ("added", "removed"):
        return []
    return [calls[part.call_id] for part in message.parts if part.part == "tool_result" and part.call_id in calls]


def argument_rows(call: ToolCall) -> tuple[list[DiffRow], int]:
    """Return the first lines of a call's arguments as unchanged rows, and the number of lines left out."""
    rows = compare_texts(call.arguments, call.arguments, json=True).rows(context=None)
    shown = [row for row in islice(rows, SHOWN) if isinstance(row, DiffRow)]
    return shown, max(0, call.arguments.count("\n") + 1 - SHOWN)


def with_ids_of(new: Sequence[Message], old: Sequence[Message]) -> list[Message]:
    """Return the old messages with the call ids of the new ones, if both call the same tools in the same order."""
    olds, news = _calls(old), _calls(new)
    steps = align([call.name for call in olds], [call.name for call in news]).steps()
    same = [(step.old + i, step.new + i) for step in steps if isinstance(step, Equal) for i in range(step.length)]
    ids = {olds[i].id: news[k].id for i, k in same}
    return [replace(message, parts=tuple(_renamed(part, ids) for part in message.parts)) for message in old]


def _calls(messages: Sequence[Message]) -> list[ToolCall]:
    return [part for message in messages for part in message.parts if isinstance(part, ToolCall)]


def _renamed(part: Part, ids: Mapping[str, str]) -> Part:
    match part:
        case ToolCall():
            return replace(part, id=ids.get(part.id, part.id))
        case ToolResult():
            return replace(part, call_id=ids.get(part.call_id, part.call_id))
    return part


# An unchanged result in another pair, such as a late result that was moved to its call, counts as moved.


ASKED = ("changed", "added", "removed")


@dataclass(frozen=True, slots=True)
class _Changed:
    """The messages in changed rows of one version, by index."""

    keys: dict[int, Hashable]
    results: set[int]
    """The indexes of messages with tool results."""
    paths: dict[int, Path]
    """The path of each message's row."""

    @classmethod
    def of(cls, rows: Iterable[tuple[Sequence[Row], Sequence[Hashable]]]) -> _Changed:
        found = cls({}, set(), {})
        for row, keys in ((row, key) for some, every in rows for row, key in zip(some, every, strict=True)):
            assert isinstance(keys, tuple), "the key of a row is the keys of its messages"
            for place, (shape, key) in enumerate(zip(row.shapes, keys, strict=True), row.start):
                found.keys[place], found.paths[place] = key, row.path
                if shape.role == TOOL:
                    found.results.add(place)
        return found

    def keys_of(self, side: Side, without: set[int]) -> list[Hashable]:
        return [self.keys[place] for place in range(side.start, side.stop) if place not in without]

    def alone(self, side: Side, other: Counter[Hashable]) -> list[int]:
        """Return the results of a group that its other side does not contain."""
        left = Counter(other)
        found = []
        for place in range(side.start, side.stop):
            left[self.keys[place]] -= 1
            if left[self.keys[place]] < 0 and place in self.results:
                found.append(place)
        return found


def find_moved_results(groups: Sequence[Group], gaps: Iterable[RowGap]) -> tuple[list[Group], dict[int, int]]:
    """Return the groups, and the old index of each moved result by its new one. A group whose only change is moved results becomes a
    move itself."""
    gaps = list(gaps)
    old = _Changed.of((gap.old, gap.old_keys) for gap in gaps)
    new = _Changed.of((gap.new, gap.new_keys) for gap in gaps)
    moved = _moved(groups, old, new) if old.results and new.results else {}
    if not moved:
        return list(groups), {}
    back = {before: after for after, before in moved.items()}
    return [_as_move(group, old, new, moved, back) for group in groups], moved


def _moved(groups: Sequence[Group], old: _Changed, new: _Changed) -> dict[int, int]:
    waiting: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
    came: list[tuple[int, int]] = []
    for number, group in enumerate(groups):
        if group.kind in ASKED:
            befores, afters = Counter(old.keys_of(group.old, set())), Counter(new.keys_of(group.new, set()))
            for place in old.alone(group.old, afters):
                waiting[old.keys[place]].append((place, number))
            came += ((place, number) for place in new.alone(group.new, befores))
    moved = {}
    for place, number in came:
        found = waiting.get(new.keys[place])
        if found and found[0][1] != number:
            moved[place] = found.pop(0)[0]
    return moved


def _as_move(group: Group, old: _Changed, new: _Changed, moved: dict[int, int], back: dict[int, int]) -> Group:
    if group.kind not in ASKED:
        return group
    gone = {place for place in range(group.old.start, group.old.stop) if place in back}
    arrived = {place for place in range(group.new.start, group.new.stop) if place in moved}
    if old.keys_of(group.old, gone) != new.keys_of(group.new, arrived) or bool(gone) == bool(arrived):
        return group
    if gone:
        return replace(group, kind="moved", other=new.paths[back[min(gone)]])
    return group if group.old.stop > group.old.start else replace(group, kind="moved", other=old.paths[moved[min(arrived)]])
