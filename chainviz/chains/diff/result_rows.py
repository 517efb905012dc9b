"""What stands beside a result that came, went or moved: the call it answers, and the pair it moved from or to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from chainviz.chains.diff.compared import Compared
from chainviz.chains.diff.diff_html import Label, Lines, Row, Said
from chainviz.chains.render.numbers import count_text
from chainviz.core.diff.calls import answered_calls, argument_rows
from chainviz.core.diff.chains import Group
from chainviz.core.diff.messages import MessageDiff, PartDiff


class ResultRows:
    """Of the messages of one change that differ."""

    def __init__(self, compared: Compared, group: Group, changed: Sequence[MessageDiff]) -> None:
        self._compared = compared
        self._calls = compared.diff.hidden_calls(group, changed)

    def calls(self, message: MessageDiff) -> Iterator[Row]:
        """The calls that a message answers which only one side has."""
        for call in answered_calls(message, self._calls):
            label = f"Call of {call.name}" if call.name else "Call"
            yield Label("tool", label, label)
            lines, more = argument_rows(call)
            if lines:
                yield Lines(tuple(lines))
            if more:
                yield Said("info", f"and {count_text(more, 'more line')} of its arguments")

    def named(self, part: PartDiff) -> PartDiff:
        """A result without a name has that of its call."""
        call = None if part.title or part.part != "tool_result" else self._calls.get(part.call_id)
        return part if call is None else replace(part, title=call.name)

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
