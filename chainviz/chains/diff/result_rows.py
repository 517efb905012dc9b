"""What stands beside a result that came, went or moved: the call it answers, and the pair it moved from or to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice

from chainviz.chains.diff.compared import Compared
from chainviz.chains.diff.diff_html import Label, Lines, Row, Said
from chainviz.chains.render.numbers import count_text
from chainviz.core.chain.messages import TOOL, ToolCall
from chainviz.core.diff.chains import Group
from chainviz.core.diff.lines import DiffRow
from chainviz.core.diff.messages import MessageDiff, PartDiff, compare_texts

SHOWN = 6
"""Lines of the arguments of a call."""


class ResultRows:
    """Of the messages of one change that differ."""

    def __init__(self, compared: Compared, group: Group, changed: Sequence[MessageDiff]) -> None:
        self._compared = compared
        self._group = group
        self._is_call_changed = any(part.part == "tool_call" for message in changed for part in message.parts)

    @cached_property
    def _calls(self) -> Mapping[str, ToolCall]:
        """Unchanged, by their ids; the same on both sides."""
        if self._is_call_changed or self._group.new.is_empty:
            return {}
        messages = self._compared.new.slice(self._group.new.start, self._group.new.stop)
        return {part.id: part for message in messages for part in message.parts if isinstance(part, ToolCall)}

    def calls(self, message: MessageDiff) -> Iterator[Row]:
        """The calls that a message answers which only one side has."""
        if message.role != TOOL or message.kind not in ("added", "removed"):
            return
        for call in filter(None, map(self._answered, message.parts)):
            label = f"Call of {call.name}" if call.name else "Call"
            yield Label("tool", label, label)
            rows = compare_texts(call.arguments, call.arguments, json=False).rows(context=None)
            lines = tuple(row for row in islice(rows, SHOWN) if isinstance(row, DiffRow))
            if lines:
                yield Lines(lines)
            more = call.arguments.count("\n") + 1 - SHOWN
            if more > 0:
                yield Said("info", f"and {count_text(more, 'more line')} of its arguments")

    def named(self, part: PartDiff) -> PartDiff:
        """A result without a name has that of its call."""
        call = None if part.title else self._answered(part)
        return part if call is None else replace(part, title=call.name)

    def _answered(self, part: PartDiff) -> ToolCall | None:
        return self._calls.get(part.call_id) if part.part == "tool_result" else None

    def moved(self, message: MessageDiff) -> Row | None:
        """A sentence in place of the lines of a result that is unchanged in another pair."""
        compared, diff = self._compared, self._compared.diff
        if message.old is None and message.new is not None and message.new in diff.moved:
            path = compared.old_rows.place(diff.moved[message.new]).path
            return Said("sort", f"The result moved here from {path.number}, unchanged.", compared.links.before(path))
        if message.new is None and message.old is not None and message.old in diff.moved_to:
            path = compared.new_rows.place(diff.moved_to[message.old]).path
            return Said("sort", f"The result moved to {path.number}, unchanged.", compared.links.after(path))
        return None
