"""The messages that a conversion changes, before and after, with what would be lost in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.utils.safestring import SafeString

from chainviz.chains.diff import diff_html
from chainviz.chains.render.visible_text import marks
from chainviz.core.chain.chain import MemoryChain, Splice
from chainviz.core.chain.messages import AI, ROLE_NAMES, Message, Text, ToolCall, ToolResult
from chainviz.core.counts import count_text
from chainviz.core.diff.lines import DiffRow, Fold, TextDiff
from chainviz.core.observations.texts import Loss
from chainviz.core.operations.contract import Context
from chainviz.core.operations.observations.operation import plan_conversion
from chainviz.core.operations.observations.rewrites import ObservationsOptions, Rewrite
from chainviz.drafts.operations.observations.summary import ChangeRow, PlanSummary
from chainviz.drafts.target import Target
from chainviz.web.formatting import byte_text

SHOWN = 10
"""The number of changes on a page; those with losses come first."""
MOST_LINES = 60
"""The most lines of a change; the draft's preview shows all."""
MOST_BYTES = 2_000_000
"""A larger change is not compared on this page."""


@dataclass(frozen=True, slots=True)
class Change:
    place: str
    url: str
    what: str
    sizes: str
    delta: str
    losses: tuple[str, ...]
    html: SafeString
    note: str


@dataclass(frozen=True, slots=True)
class ChangeWindow:
    changes: tuple[Change, ...]
    total: int
    with_losses: int
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.changes)

    @property
    def next(self) -> int | None:
        return self.end if self.end < self.total else None

    @property
    def previous(self) -> int | None:
        return max(0, self.start - SHOWN) if self.start else None


def change_window(target: Target, options: ObservationsOptions, summary: PlanSummary, tools: Sequence[str], start: int) -> ChangeWindow:
    losses = summary.changes.column("losses")
    order = sorted(range(len(losses)), key=lambda place: losses[place] == 0)
    start = min(start, max(0, len(order) - 1)) // SHOWN * SHOWN
    shown = [summary.changes[place] for place in order[start : start + SHOWN]]
    changes = tuple(_change(target, options, row, tools) for row in shown)
    return ChangeWindow(changes, len(order), sum(bool(each) for each in losses), start)


def first_losses(
    target: Target, options: ObservationsOptions, summary: PlanSummary, tools: Sequence[str], count: int
) -> list[tuple[int, Loss]]:
    """Return the first losses in chain order, each with its message: planned again, since no content is kept."""
    found: list[tuple[int, Loss]] = []
    for place, losses in enumerate(summary.changes.column("losses")):
        if len(found) >= count:
            break
        row = summary.changes[place]
        if losses and row.size_before <= MOST_BYTES and (rewrite := _rewrite(target, options, row, tools)):
            found += [(row.start, loss) for loss in rewrite[1].losses]
    return found[:count]


def _change(target: Target, options: ObservationsOptions, row: ChangeRow, tools: Sequence[str]) -> Change:
    path = target.stored.outline.path_at(row.start)
    delta = row.size_after - row.size_before
    rewrite = _rewrite(target, options, row, tools) if row.size_before <= MOST_BYTES else None
    html, note = _diff(*rewrite) if rewrite else (SafeString(), "Too large to compare here.")
    return Change(
        place=path.number,
        url=target.address_of(path),
        what=rewrite[1].what if rewrite else "",
        sizes=f"{byte_text(row.size_before)} → {byte_text(row.size_after)}",
        delta=delta_text(delta),
        losses=tuple(marks(f"{loss.tool or 'The message'} {loss.reason}.") for loss in rewrite[1].losses) if rewrite else (),
        html=html,
        note=note,
    )


def delta_text(delta: int) -> str:
    return f"{'+' if delta > 0 else '−'}{byte_text(abs(delta))}" if delta else "±0 B"


def _rewrite(
    target: Target, options: ObservationsOptions, row: ChangeRow, tools: Sequence[str]
) -> tuple[Sequence[Message], Rewrite] | None:
    """Plan the messages and their change again. Only these messages and the one before them are read."""
    messages = target.stored.slice(row.start, row.start + row.removed)
    before = list(target.stored.slice(row.start - 1, row.start)) if options.roles == "keep" and row.start else []
    if options.roles == "keep" and (not before or before[0].role != AI):
        # a text counts as results behind an AI message only; which one does not matter to its headers
        before = [Message(AI, ())]
    plan = plan_conversion(MemoryChain((*before, *messages)), options, Context(), tools)
    return (messages, plan.rewrites[0]) if plan.rewrites else None


def _diff(old: Sequence[Message], rewrite: Rewrite) -> tuple[SafeString, str]:
    splice: Splice = rewrite.splice
    is_one = len(old) == len(splice.messages) == 1
    # a new id is another one in the draft
    after = _lines(splice.messages, is_one=is_one, with_ids=False)
    text = TextDiff("\n".join(_lines(old, is_one=is_one, with_ids=True)), "\n".join(after))
    rows: list[diff_html.Row] = []
    left = MOST_LINES
    for _, run in groupby(text.rows(), key=lambda row: isinstance(row, Fold) or row.kind == "same"):
        found = list(run)
        rows += _html_rows(found[:left])
        left -= min(left, len(found))
    note = "The rest is in the preview of the draft." if not left else ""
    cuts = _cuts(splice.messages, rewrite.losses) if is_one else {}
    return diff_html.render_rows(each for row in rows for each in _marked(row, cuts)), note


def _cuts(messages: Sequence[Message], losses: Sequence[Loss]) -> dict[int, str]:
    """Return sentences about results that would end early, by the number of the line."""
    texts = [part.text for part in messages[0].parts if isinstance(part, Text)]
    if len(texts) != 1:
        return {}
    lines = [(texts[0].count("\n", 0, loss.at) + 1, loss.tool) for loss in losses if loss.kind == "cut"]
    return {line: f"{tool} would end before line {line}." for line, tool in lines}


def _marked(row: diff_html.Row, cuts: Mapping[int, str]) -> Iterator[diff_html.Row]:
    """Split the row before each line at which a result would end."""
    if not isinstance(row, diff_html.Lines):
        yield row
        return
    begun: list[DiffRow] = []
    for line in row.rows:
        if line.new_no is not None and line.new_no in cuts:
            if begun:
                yield diff_html.Lines(tuple(begun))
            yield diff_html.Sentence("problem", marks(cuts[line.new_no]))
            begun = []
        begun.append(line)
    yield diff_html.Lines(tuple(begun))


def _html_rows(rows: Sequence[DiffRow | Fold]) -> Iterator[diff_html.Row]:
    for is_fold, run in groupby(rows, key=lambda row: isinstance(row, Fold)):
        if is_fold:
            yield from (diff_html.Sentence("expand", count_text(row.lines, "unchanged line")) for row in run if isinstance(row, Fold))
        else:
            yield diff_html.Lines(tuple(row for row in run if isinstance(row, DiffRow)))


def _lines(messages: Sequence[Message], *, is_one: bool, with_ids: bool) -> Iterator[str]:
    """Yield the texts of the messages. If there are several, each begins with its role."""
    for message in messages:
        if not is_one:
            yield f"[{ROLE_NAMES.get(message.role, message.role)}]"
        for part in message.parts:
            match part:
                case Text(text=text):
                    yield text
                case ToolCall(name=name, arguments=arguments, id=id):
                    yield f"call {name}{f' {id}' if with_ids else ''}\n{arguments}"
                case ToolResult(content=content, call_id=id, name=name):
                    yield f"result {id if with_ids else name}\n{content}"
