"""What happened to one node, as rows for the page: core's comparison of its messages, in words, labels and lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Protocol

from chainviz.chains.diff.diff_html import Fact, Group, Label, Lines, Listed, More, Row, Said, line_elements
from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL
from chainviz.core.chain.paths import Path
from chainviz.core.diff import chains as core
from chainviz.core.diff.lines import DiffRow, Fold, TextDiff
from chainviz.core.diff.messages import MessageDiff, PartDiff, compare_messages
from chainviz.core.diff.rows import Row as ChainRow
from chainviz.core.diff.rows import Rows
from chainviz.web.formatting.byte_text import byte_text

OF_A_TEXT = 260
"""Elements that the lines of one text may take on a page of many changes."""
OF_A_GROUP = 620
"""And those of all texts of one change."""
ALONE = 880
"""And those of a text on a page of its own."""
MOST_LISTED = 12
MOST_MESSAGES = 40

WORDS = {
    "added": ("added", "added", "added"),
    "removed": ("removed", "removed", "removed"),
    "changed": ("changed", "changed", "changed"),
    "moved": ("open", "sort", "moved"),
    "merged": ("changed", "compact", "merged"),
    "split": ("changed", "split", "split"),
    "summarised": ("summarised", "summary", "summarized"),
    "expanded": ("changed", "expand", "expanded"),
}
"""By kind: state (colour), icon, word."""
PART_ICONS = {
    "text": "comment", "thinking": "reasoning", "image": "image", "binary": "file",
    "tool_call": "tool", "tool_result": "tool", "opaque": "info",
}  # fmt: skip
RESTORABLE = {"text": "text", "tool_call": "arguments", "tool_result": "content"}
"""By kind of part: its text that an edit can set."""
ROLE_NAMES = {SYSTEM: "System", HUMAN: "Human", AI: "AI", TOOL: "Tool"}


class Links(Protocol):
    """Where a page of changes leads."""

    @property
    def page(self) -> str:
        """The page of all changes itself."""

    def before(self, path: Path) -> str: ...
    def after(self, path: Path) -> str: ...
    def edit(self, path: Path) -> str:
        """ "" where the version after cannot be edited."""

    def restore(self, message: int, part: int | None = None) -> str:
        """What the page's form sends to bring back a part of the version before, or the nodes of one of its messages; ""
        where the page has no such form."""

    def lines(self, change: int, text: int, row: int) -> str:
        """The page that shows one text of one change from a row on."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with all that its pages need to be drawn."""

    diff: core.ChainDiff
    old: Chain
    new: Chain
    old_rows: Rows
    new_rows: Rows
    links: Links


def number_of(path: Path) -> str:
    """A node's place as pages show it: 2.3 is the third pair of section 2, §2 is that section and its header."""
    return f"{path.section}.{path.pair}" if path.pair else f"§{path.section}"


def title_of(row: ChainRow) -> tuple[str, str, bool]:
    """(role of its mark, its name, whether that is a tool's name)"""
    first = row.shapes[0]
    if not row.is_pair:
        return first.role, ROLE_NAMES.get(first.role, first.role), False
    if row.is_summary:
        return "summary", "Summary", False
    names = [call.name for call in first.calls] or [result.name for shape in row.shapes for result in shape.results]
    if first.role == AI and not first.calls:
        return AI, "Answer", False
    return TOOL, ", ".join(dict.fromkeys(name for name in names if name)) or "Result without a call", bool(names)


def teaser_of(row: ChainRow) -> str:
    return str(getattr(row.shapes[0], "preview", ""))[:120]


def sizes_text(kind: str, old: int, new: int) -> str:
    if kind == "added":
        return f"+{byte_text(new)}"
    if kind == "removed":
        return byte_text(-old)
    before, after = byte_text(old), byte_text(new)
    if before != after:
        return f"{before} → {after}"
    return after if old == new else f"{'+' if new > old else ''}{byte_text(new - old)}"


def build_group(compared: Compared, place: int, group: core.Group) -> Group:
    side = group.old if group.new.is_empty else group.new
    rows = compared.old_rows if group.new.is_empty else compared.new_rows
    first = rows.rows(side.start, side.start + 1)[0]
    role, title, is_code = title_of(first)
    assert side.first is not None
    state, icon, word = WORDS[group.kind]
    links = compared.links
    return Group(
        place=place,
        number=_number(group),
        href=links.before(side.first) if group.new.is_empty else links.after(side.first),
        role=role,
        title=_several(group) or title,
        is_code=is_code and not _several(group),
        state=state,
        icon=icon,
        word=word,
        sizes=sizes_text(group.kind, group.old.measure.size, group.new.measure.size),
        rows=_beside(tuple(_limited(_rows(compared, place, group), place, links))),
        edit_href="" if group.new.is_empty else links.edit(side.first),
        restore="" if group.kind == "moved" or group.old.is_empty else links.restore(group.old.start),
    )


def _number(group: core.Group) -> str:
    old, new = _span(group.old), _span(group.new)
    if group.kind == "moved" and group.other:
        other = number_of(group.other)
        return f"{old} → {other}" if group.new.is_empty else f"{other} → {new}"
    return old if not new else new if not old or old == new else f"{old} → {new}"


def _span(side: core.Side) -> str:
    if side.first is None or side.last is None:
        return ""
    first, last = number_of(side.first), number_of(side.last)
    return first if first == last else f"{first} – {last}"


def _several(group: core.Group) -> str:
    """A title for a change of several nodes."""
    if group.kind == "merged":
        return f"{group.old.measure.messages} messages become one"
    if group.kind == "split":
        return f"One message becomes {group.new.measure.messages}"
    if group.kind == "summarised":
        return f"{count(group.old.measure.pairs, 'pair')} become one summary"
    return f"One summary becomes {count(group.new.measure.pairs, 'pair')}" if group.kind == "expanded" else ""


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _rows(compared: Compared, place: int, group: core.Group) -> Iterator[Row]:
    if group.kind == "moved" and group.other:
        there = number_of(group.other)
        if group.new.is_empty:
            yield Said("sort", f"It stands unchanged at {there} now.", compared.links.after(group.other))
        else:
            yield Said("sort", f"It stood unchanged at {there} before.", compared.links.before(group.other))
        return
    yield from _message_rows(messages_of(compared, group), group, compared, place)


def messages_of(compared: Compared, group: core.Group) -> tuple[MessageDiff, ...]:
    """Message by message; of what a summary stands for (or came from it) only the other side, the rest is listed."""
    if group.kind == "summarised":
        return compare_messages((), compared.new.slice(group.new.start, group.new.stop), 0, group.new.start)
    if group.kind == "expanded":
        return compare_messages(compared.old.slice(group.old.start, group.old.stop), (), group.old.start, 0)
    return compared.diff.messages(group)


def texts_of(messages: Iterable[MessageDiff]) -> list[tuple[MessageDiff, PartDiff, str, TextDiff]]:
    """Every compared text of a change, in order: the number of a text is its place here."""
    return [(message, part, name, text) for message in messages for part in message.parts for name, text in part.texts]


def _message_rows(messages: Sequence[MessageDiff], group: core.Group, compared: Compared, place: int) -> Iterator[Row]:
    if group.kind == "summarised":
        yield _listed(compared.old_rows, group.old, "before")
    if group.kind == "expanded":
        yield _listed(compared.new_rows, group.new, "after")
    changed = [message for message in messages if message.kind != "same"]
    if group.kind in ("merged", "split") and not changed:
        yield Said("ok", "The texts stand word for word as before, only their messages differ.")
    is_plain = len(changed) == 1 and len(changed[0].parts) == 1 and changed[0].parts[0].part == "text"
    number = 0
    for message in changed[:MOST_MESSAGES]:
        for field in message.fields:
            yield Fact(field.name, field.old, field.new)
        for part in message.parts:
            if part.kind == "same":
                continue
            yield from _part_rows(message, part, number, is_plain, compared.links, place)
            number += len(part.texts)
    if len(changed) > MOST_MESSAGES:
        href = compared.links.lines(place, number, 0)
        yield More(f"{len(changed) - MOST_MESSAGES:,} more messages of this node changed", href)


def _part_rows(
    message: MessageDiff, part: PartDiff, number: int, is_plain: bool, links: Links, place: int
) -> Iterator[Row]:
    for i, (name, text) in enumerate(part.texts):
        restore = _restore_of(message, part, name, links)
        if restore or not is_plain or name != "text":
            yield replace(label_of(message, part, name, text, number + i), restore=restore)
        if i == 0:
            yield from _facts(part)
        if text.note:
            yield Said("info", text.note)
        yield from text_rows(text, number + i, links, place)
    if not part.texts:
        yield label_of(message, part, "", None, number)
        yield from _facts(part)


def _restore_of(message: MessageDiff, part: PartDiff, name: str, links: Links) -> str:
    if part.kind != "changed" or name != RESTORABLE.get(part.part):
        return ""
    if message.old is None or message.new is None or part.old_part is None or part.new_part is None:
        return ""
    return links.restore(message.old, part.old_part)


def _facts(part: PartDiff) -> Iterator[Row]:
    for field in part.fields:
        yield Fact(field.name, field.old, field.new)
    for fact in part.facts:
        yield Said("info", fact)


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
        what = f"{what} · laid out in lines"
    before = None if part.old_part is None else what
    after = None if part.new_part is None else what
    icon = message.role if part.part == "text" and message.role in ROLE_NAMES else PART_ICONS[part.part]
    return Label(icon, before, after, number)


def text_rows(text: TextDiff, number: int, links: Links, place: int) -> Iterator[Row]:
    """The first lines; `seen` counts as the text's own page does, which folds nothing."""
    seen = shown = 0
    waiting: list[DiffRow] = []
    for row in text.rows():
        if isinstance(row, Fold):
            yield from _in_lines(waiting)
            waiting = []
            text_of_fold = f"… {count(row.lines, 'unchanged line')} · {byte_text(row.size)}"
            yield More(text_of_fold, links.lines(place, number, seen), is_fold=True)
            seen += row.lines
            continue
        if shown > OF_A_TEXT:
            yield from _in_lines(waiting)
            yield More("Show the rest of this text", links.lines(place, number, seen))
            return
        waiting.append(row)
        seen, shown = seen + 1, shown + line_elements(row)
    yield from _in_lines(waiting)


def _in_lines(rows: list[DiffRow]) -> Iterator[Lines]:
    for _, run in groupby(rows, key=lambda row: row.kind == "same"):
        yield Lines(tuple(run))


def _limited(rows: Iterator[Row], place: int, links: Links) -> Iterator[Row]:
    """A change with many long texts ends with a link to its first text that does not fit."""
    elements = text = 0
    for row in rows:
        if isinstance(row, Label):
            text = row.text
        if isinstance(row, Lines):
            elements += sum(map(line_elements, row.rows))
        if elements > OF_A_GROUP:
            yield More("Show the rest of this change", links.lines(place, text, 0))
            return
        yield row


def _beside(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """A summary stands beside the list of the nodes it stands for."""
    return (replace(rows[0], beside=rows[1:]),) if rows and isinstance(rows[0], Listed) else rows


def _listed(rows: Rows, side: core.Side, which: str) -> Listed:
    found = list(rows.rows(side.start, min(side.stop, side.start + 8 * MOST_LISTED)))[:MOST_LISTED]
    nodes = [(number_of(row.path), title_of(row)[0], title_of(row)[1], byte_text(row.size)) for row in found]
    left = side.stop - found[-1].stop
    if left > 0:
        nodes.append(("…", "system", f"and {count(left, 'message')} more", ""))
    title = f"{count(side.measure.pairs, 'pair')} · {byte_text(side.measure.size)}"
    return Listed("before" if which == "before" else "after", title, tuple(nodes))


def build_alone(compared: Compared, place: int, group: core.Group, number: int, start: int) -> Group:
    """One text of one change from row `start` on, nothing folded."""
    whole = build_group(compared, place, group)
    texts = texts_of(messages_of(compared, group))
    number = min(max(number, 0), len(texts) - 1)
    if number < 0:
        return whole
    message, part, name, text = texts[number]
    all_rows = [row for row in text.rows(context=None) if isinstance(row, DiffRow)]
    start = min(start, max(len(all_rows) - 1, 0))
    stop = _full(all_rows, range(start, len(all_rows)))
    rows: list[Row] = [label_of(message, part, name, text)]
    links = compared.links
    if start:
        earlier = _full(all_rows, range(start - 1, -1, -1)) + 1
        rows.append(More("Earlier lines", links.lines(place, number, earlier)))
    rows += _in_lines(all_rows[start:stop])
    if stop < len(all_rows):
        rows.append(More(count(len(all_rows) - stop, "more line"), links.lines(place, number, stop)))
    elif number + 1 < len(texts):
        rows.append(More("The next text of this change", links.lines(place, number + 1, 0)))
    return replace(whole, rows=tuple(rows))


def _full(rows: Sequence[DiffRow], order: range) -> int:
    """The first row, in this order, that no longer fits on a page of its own."""
    elements = 0
    for i in order:
        elements += line_elements(rows[i])
        if elements > ALONE and i != order.start:
            return i
    return order.stop
