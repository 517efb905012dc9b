"""The changed parts of a node as rows of the page: labels, lines of text, changed fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from chainviz.chains.diff.address import ChangeLinks
from chainviz.chains.diff.compare import Compared
from chainviz.chains.diff.diff_html import Fact, Label, Lines, More, Row, Sentence, line_elements
from chainviz.core.chain.messages import ROLE_NAMES
from chainviz.core.counts import count_text
from chainviz.core.diff.chains import Group
from chainviz.core.diff.groups import argument_rows, calls_of_one_side
from chainviz.core.diff.lines import DiffRow, Fold, TextDiff
from chainviz.core.diff.messages import MessageDiff, PartDiff
from chainviz.web.formatting import byte_text

OF_A_TEXT = 260
"""The most elements of the lines of one text on a page of many changes."""
PART_ICONS = {
    "text": "comment", "thinking": "reasoning", "image": "image", "binary": "file",
    "tool_call": "tool", "tool_result": "tool", "opaque": "info",
}  # fmt: skip
RESTORABLE = {"text": "text", "tool_call": "arguments", "tool_result": "content"}
"""By kind of part: its text that an edit can set."""


def part_rows(message: MessageDiff, part: PartDiff, number: int, is_plain: bool, links: ChangeLinks) -> Iterator[Row]:
    """Yield the rows of a part. `number` is that of its first text within the change; `is_plain` means that the change
    consists of this text."""
    for i, (name, text) in enumerate(part.texts):
        restore = _restore_of(message, part, name, links)
        if restore or not is_plain or name != "text":
            yield replace(label_of(message, part, name, text, number + i), restore=restore)
        if i == 0:
            yield from _facts(part)
        if text.note:
            yield Sentence("info", text.note)
        yield from text_rows(text, number + i, links)
    if not part.texts:
        yield label_of(message, part, "", None, number)
        yield from _facts(part)


def _restore_of(message: MessageDiff, part: PartDiff, name: str, links: ChangeLinks) -> str:
    if part.kind != "changed" or name != RESTORABLE.get(part.part):
        return ""
    if message.old is None or message.new is None or part.old_part is None or part.new_part is None:
        return ""
    return links.page.restore(message.old, part.old_part)


def _facts(part: PartDiff) -> Iterator[Row]:
    for field in part.fields:
        yield Fact(field.name, field.old, field.new)
    for fact in part.facts:
        yield Sentence("info", fact)


def label_of(message: MessageDiff, part: PartDiff, name: str, text: TextDiff | None, number: int = 0) -> Label:
    what = {
        "text": f"{ROLE_NAMES.get(message.role, message.role)} text",
        "thinking": "Reasoning",
        "tool_call": f"Call of {part.title}" if part.title else "Call",
        "tool_result": f"Result of {part.title}" if part.title else "Result",
        "image": "Image",
        "binary": f"File {part.title}",
        "opaque": f"Part of kind {part.title}",
    }[part.part]
    if name and name not in ("text", "content"):
        what = f"{what} · {name}"
    if text is not None and text.pretty:
        what = f"{what} · formatted"
    before = None if part.old_part is None else what
    after = None if part.new_part is None else what
    icon = message.role if part.part == "text" and message.role in ROLE_NAMES else PART_ICONS[part.part]
    return Label(icon, before, after, number)


def text_rows(text: TextDiff, number: int, links: ChangeLinks) -> Iterator[Row]:
    """Yield the first lines. `seen` counts as on the text's own page, which folds nothing."""
    seen = shown = 0
    waiting: list[DiffRow] = []
    for row in text.rows():
        if isinstance(row, Fold):
            yield from in_lines(waiting)
            waiting = []
            text_of_fold = f"… {count_text(row.lines, 'unchanged line')} · {byte_text(row.size)}"
            yield fold_row(text_of_fold, links, number, (seen, row.lines))
            seen += row.lines
            continue
        if shown > OF_A_TEXT:
            yield from in_lines(waiting)
            yield More("Show the rest of this text", links.lines(number, seen))
            return
        waiting.append(row)
        seen, shown = seen + 1, shown + line_elements(row)
    yield from in_lines(waiting)


def fold_row(text: str, links: ChangeLinks, number: int, hidden: tuple[int, int]) -> More:
    """Return a row for folded rows. `hidden` contains the first folded row and their number."""
    first, count = hidden
    return More(text, links.lines(number, first), is_fold=True, unfold_href=links.unfold(number, first, count))


def in_lines(rows: list[DiffRow]) -> Iterator[Lines]:
    for _, run in groupby(rows, key=lambda row: row.kind == "same"):
        yield Lines(tuple(run))


# What stands beside a result that came, went or moved: the call it answers, and the pair it moved from or to.


class ResultRows:
    """Rows for calls and results in the changed messages of one change."""

    def __init__(self, compared: Compared, group: Group, changed: Sequence[MessageDiff]) -> None:
        self._compared = compared
        self._calls = compared.diff.hidden_calls(group, changed)

    def calls(self, message: MessageDiff) -> Iterator[Row]:
        """Yield the calls that a message answers which only one side has."""
        for call in calls_of_one_side(message, self._calls):
            label = f"Call of {call.name}" if call.name else "Call"
            yield Label("tool", label, label)
            lines, more = argument_rows(call)
            if lines:
                yield Lines(tuple(lines))
            if more:
                yield Sentence("info", f"and {count_text(more, 'more line')} of its arguments")

    def with_call_name(self, part: PartDiff) -> PartDiff:
        """Return the result with the name of its call, if it has none."""
        call = None if part.title or part.part != "tool_result" else self._calls.get(part.call_id)
        return part if call is None else replace(part, title=call.name)

    def moved(self, message: MessageDiff) -> Row | None:
        """Return a sentence in place of the lines of a result that is unchanged in another pair."""
        compared, diff = self._compared, self._compared.diff
        if message.old is None and message.new is not None and message.new in diff.moved:
            path = compared.old_rows.place(diff.moved[message.new]).path
            return Sentence("sort", f"The result moved here from {path.number}, unchanged.", compared.links.before(path))
        if message.new is None and message.old is not None and message.old in diff.moved_to:
            path = compared.new_rows.place(diff.moved_to[message.old]).path
            return Sentence("sort", f"The result moved to {path.number}, unchanged.", compared.links.after(path))
        return None
