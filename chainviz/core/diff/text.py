"""Write a comparison of two chains as plain lines for terminals and logs. Control characters are shown as marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice

from chainviz.core.chain.messages import ToolCall
from chainviz.core.counts import count_text
from chainviz.core.diff.chains import ChainDiff, FirstDifference, Group, Side
from chainviz.core.diff.groups import argument_rows, calls_of_one_side
from chainviz.core.diff.lines import DiffRow, Fold, Spans, TextDiff
from chainviz.core.diff.messages import FieldChange, MessageDiff, PartDiff
from chainviz.core.diff.runs import RunFacts, fact_rows, outcome_rows, tool_rows
from chainviz.core.errors import visible

SIGNS = {
    "added": "+", "removed": "-", "changed": "~", "moved": ">", "merged": "&", "split": "/", "summarised": "*",
    "expanded": "*",
}  # fmt: skip


def render(diff: ChainDiff, *, most_lines: int = 400) -> Iterator[str]:
    """Yield a head, then the groups. Each text has at most `most_lines` rows and a count of the others."""
    before, after = diff.before, diff.after
    yield (
        f"{before.size:,} → {after.size:,} bytes, {before.messages:,} → {after.messages:,} messages, "
        f"{before.pairs:,} → {after.pairs:,} pairs"
    )
    counts = ", ".join(f"{count} {kind}" for kind, count in diff.counts.items())
    yield f"changes: {counts or 'none'}"
    yield from (f"note: {note}" for note in diff.notes)
    for group in diff.groups:
        if group.is_departure:
            continue
        if group.kind == "same":
            yield f"  … {unchanged(group.new)}"
        else:
            yield from _group(diff, group, most_lines)


def render_with_facts(diff: ChainDiff, one: RunFacts, other: RunFacts) -> Iterator[str]:
    """Yield two chains side by side: the facts of both (≠ marks those that differ), the first difference, and the groups."""
    tools = ((f"calls of {name}", f"{a:,}", f"{b:,}") for name, a, b in tool_rows(one, other))
    rows = [("", "A", "B"), *fact_rows(one, other), *tools, *outcome_rows(one, other)]
    widths = [max(len(visible(row[i])) for row in rows) for i in range(2)]
    for name, a, b in rows:
        yield f"{visible(name):<{widths[0]}}  {visible(a):>{widths[1]}} {' ' if a == b or not name else '≠'} {visible(b)}"
    for letter, facts in (("A", one), ("B", other)):
        yield f"{letter} ends: {visible(facts.outcome.line) if facts.outcome else 'without an answer'}"
    if diff.little_in_common:
        yield f"little in common: {diff.little_in_common}"
    if diff.first is not None:
        yield f"first difference: {_first(diff.first)}"
    yield from render(diff)


def _first(first: FirstDifference) -> str:
    if first.old and first.new:
        return f"{first.old} of A, {first.new} of B"
    return f"{first.old}, only in A" if first.old else f"{first.new}, only in B"


def unchanged(side: Side) -> str:
    """Return `42 unchanged pairs · 118 bytes`, or messages if there is no pair."""
    pairs, messages, size = side.measure.pairs, side.measure.messages, side.measure.size
    what = count_text(pairs, "unchanged pair") if pairs else count_text(messages, "unchanged message")
    return f"{what} · {count_text(size, 'byte')} · {_nodes(side)}"


def _nodes(side: Side) -> str:
    if side.first is None:
        return ""
    return str(side.first) if side.first == side.last else f"{side.first} – {side.last}"


def _group(diff: ChainDiff, group: Group, most_lines: int) -> Iterator[str]:
    grown = group.new.measure.size - group.old.measure.size
    places = " → ".join(place for place in (_nodes(group.old), _nodes(group.new)) if place)
    if group.old.first == group.new.first and group.old.last == group.new.last:
        places = _nodes(group.new)
    if group.kind == "moved":
        yield f"{SIGNS['moved']} {places} moved from {group.other}"
        return
    yield f"{SIGNS[group.kind]} {places} {group.kind}, {format(grown, '+,') if grown else 0} bytes"
    changed = [message for message in diff.messages(group) if message.kind != "same"]
    calls = diff.hidden_calls(group, changed)
    for message in changed:
        yield from (line for call in calls_of_one_side(message, calls) for line in _call(call))
        if message.old is None and message.new is not None and message.new in diff.moved:
            yield f"    {message.role} message moved from {_row_of(diff, diff.moved[message.new])}"
        elif message.new is None and message.old in diff.moved_to:
            yield f"    {message.role} message moved away"
        else:
            yield from _message(message, most_lines)


def _call(call: ToolCall) -> Iterator[str]:
    """Yield the lines of a call, which are printed before the result that answers it."""
    rows, more = argument_rows(call)
    yield f"    call of {visible(call.name) or 'no name'}"
    yield from _unchanged(rows)
    if more:
        yield f"          … {count_text(more, 'more line')}"


def _row_of(diff: ChainDiff, place: int) -> str:
    """Return the first row of the group that contains a message of the old chain."""
    return next(str(group.old.first) for group in diff.groups if group.old.start <= place < group.old.stop)


def _message(message: MessageDiff, most_lines: int) -> Iterator[str]:
    yield f"    {message.role} message {message.kind}"
    yield from _fields(message.fields)
    for part in message.parts:
        if part.kind != "same":
            yield from _part(part, most_lines)
    if not any(part.kind != "same" for part in message.parts) and not message.fields:
        yield "      only its spelling in the source differs" if message.kind == "changed" else "      empty"


def _part(part: PartDiff, most_lines: int) -> Iterator[str]:
    title = f" {visible(part.title)}" if part.title else ""
    yield f"      {part.part.replace('_', ' ')}{title} {part.kind}"
    yield from _fields(part.fields)
    yield from (f"        {visible(fact)}" for fact in part.facts)
    for what, text in part.texts:
        if what not in ("text", "content"):
            yield f"        {what}:"
        yield from _text(text, most_lines)


def _fields(fields: Iterable[FieldChange]) -> Iterator[str]:
    for name, old, new in fields:
        yield f"        {name}: {visible(old or 'none')} → {visible(new or 'none')}"


def _text(text: TextDiff, most_lines: int) -> Iterator[str]:
    """Yield the lines of a text difference: in each changed range the old lines first, then the new ones."""
    if text.note:
        yield f"        note: {text.note}"
    rows = list(islice(text.rows(), most_lines + 1))
    for is_change, stretch in groupby(rows[:most_lines], lambda row: isinstance(row, DiffRow) and row.kind != "same"):
        yield from (_changed if is_change else _unchanged)(stretch)
    if len(rows) > most_lines:
        yield f"        … and more: {count_text(text.counts[0], 'line')} removed, {text.counts[1]:,} added in all"


def _unchanged(rows: Iterable[DiffRow | Fold]) -> Iterator[str]:
    for row in rows:
        if isinstance(row, Fold):
            yield f"          … {count_text(row.lines, 'unchanged line')}"
        else:
            yield f"          {_spans(row.old)}"


def _changed(rows: Iterable[DiffRow | Fold]) -> Iterator[str]:
    changed = [row for row in rows if isinstance(row, DiffRow)]
    yield from (f"        - {_spans(row.old)}" for row in changed if row.old_no)
    yield from (f"        + {_spans(row.new)}" for row in changed if row.new_no)


def _spans(spans: Spans) -> str:
    return "".join(f"…[{count_text(span.skipped, 'character')}]…" if span.skipped else visible(span.text) for span in spans)
