"""Decisions as groups of equal changes, by tool, section or reason. One group is open and shows an example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from chainviz.core.chain.messages import Message, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.operations.redact import DecisionTable, RedactOptions, Row
from chainviz.core.operations.redact.candidates import SKIPS
from chainviz.core.operations.redact.decision_matrix import REASONS
from chainviz.core.operations.redact.policy import KIND_LABELS
from chainviz.core.operations.redact.rewriting import rewritten
from chainviz.store.content.chain import StoredChain
from chainviz.web.formatting import byte_text

GROUPS = 30
"""The number of groups at once."""
MOST_LINES = 12
MOST_CHARACTERS = 2_000
BY_HAND = "Decided by hand"


def _tool(row: Row) -> str:
    return row.tool or KIND_LABELS[row.kind]


def _section(row: Row) -> str:
    return f"§{parse_path(row.path).section}"


def reason_of(row: Row) -> str:
    return BY_HAND if row.manual else (SKIPS.get(row.skip) or REASONS[row.candidate.row]).capitalize()


KEYS: dict[str, Callable[[Row], str]] = {"tool": _tool, "section": _section, "reason": reason_of}
LABELS = {"tool": "By tool", "section": "By section", "reason": "By reason", "row": "One by one"}
"""The views of the decisions: in groups, or row by row."""


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    redacted: int
    kept: int
    """The number of kept rows of the same tool, section or reason."""
    before: str
    after: str
    share: int
    """Its bytes in percent of the largest group's."""


@dataclass(frozen=True, slots=True)
class Example:
    number: int
    """The number of the example from 1, in the order of the chain."""
    total: int
    path: str
    place: str
    href: str
    call_id: str
    before: tuple[str, ...]
    """The lines before."""
    is_cut: bool
    after: str
    size_before: str
    size_after: str

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def following(self) -> int | None:
        return self.number + 1 if self.number < self.total else None


@dataclass(frozen=True, slots=True)
class Groups:
    shown: tuple[Group, ...]
    """A window of the groups; those with the most bytes come first."""
    total: int
    start: int
    redacted: int
    open: str
    """The name of the group with the open example; "" if none is open."""
    example: Example | None
    kept: int
    kept_size: str
    kept_reasons: tuple[tuple[str, int], ...]

    @property
    def previous(self) -> int | None:
        return max(0, self.start - GROUPS) if self.start else None

    @property
    def end(self) -> int:
        return self.start + len(self.shown)

    @property
    def following(self) -> int | None:
        return self.end if self.end < self.total else None


@dataclass(frozen=True, slots=True)
class Wish:
    """The groups that a person looks at."""

    by: str = "tool"
    open: str | None = None
    """The name of a group; "" for none, None for the first."""
    example: int = 1
    start: int = 0


def groups_of(chain: StoredChain, table: DecisionTable, options: RedactOptions, wish: Wish, at: Callable[[Path], str]) -> Groups:
    key = KEYS[wish.by]
    kept = [row for row in table.rows if not row.redact]
    stays = Counter(key(row) for row in kept)
    found: dict[str, list[Row]] = {}
    for row in table.rows:
        if row.redact:
            found.setdefault(key(row), []).append(row)
    order = sorted(found, key=lambda name: -_before(found[name]))
    start = min(wish.start, max(0, (len(order) - 1) // GROUPS * GROUPS))
    names = order[start : start + GROUPS]
    largest = max(1, _before(found[order[0]])) if order else 1
    chosen = "".join(names[:1]) if wish.open is None or wish.open not in ("", *found) else wish.open
    return Groups(
        shown=tuple(_group(name, found[name], stays[name], largest) for name in names),
        total=len(order),
        start=start,
        redacted=len(table.rows) - len(kept),
        open=chosen if chosen in names else "",
        example=_example(chain, found[chosen], wish.example, options, at) if chosen in names else None,
        kept=len(kept),
        kept_size=byte_text(_before(kept)),
        kept_reasons=tuple(Counter(reason_of(row) for row in kept).most_common()),
    )


def _before(rows: Iterable[Row]) -> int:
    return sum(row.size for row in rows)


def _group(name: str, rows: Sequence[Row], kept: int, largest: int) -> Group:
    before = _before(rows)
    after = sum(row.bytes_after for row in rows)
    return Group(name, len(rows), kept, byte_text(before), byte_text(after), round(100 * before / largest))


def _example(chain: StoredChain, rows: Sequence[Row], number: int, options: RedactOptions, at: Callable[[Path], str]) -> Example:
    number = min(max(1, number), len(rows))
    row = rows[number - 1]
    path = parse_path(row.path)
    part = _part(chain, row, whole="{lines}" in options.placeholder)
    text, after = _text(part, row), _text(rewritten(part, row.candidate, options.placeholder).part, row)
    lines = text[:MOST_CHARACTERS].splitlines()
    return Example(
        number=number,
        total=len(rows),
        path=row.path,
        place=path.number,
        href=at(path),
        call_id=row.call_id,
        before=tuple(lines[:MOST_LINES]),
        is_cut=len(text) > MOST_CHARACTERS or len(lines) > MOST_LINES,
        after=after[:MOST_CHARACTERS],
        size_before=byte_text(row.size),
        size_after=byte_text(row.bytes_after),
    )


def _part(chain: StoredChain, row: Row, whole: bool) -> Part:
    """Read a part; of a very long text only the beginning, unless its lines are to be counted."""
    if whole:
        message: Message = chain[row.message]
        return message.parts[row.part]
    stored = chain.rows(row.message, row.message + 1)[0]
    return chain.bodies.parts(stored, range(row.part, row.part + 1))[0]


def _text(part: Part | None, row: Row) -> str:
    """Return the text of a part that the redaction replaces, or the text that it inserts."""
    match row.kind, part:
        case _, None:
            return ""
        case "reasoning", Thinking():
            return part.content
        case "reasoning", Text() | ToolCall():
            return part.reasoning.content if part.reasoning else ""
        case _, Text():
            return part.text
        case _, ToolCall():
            return part.arguments
        case _, ToolResult() if part.content:
            return part.content
        case _, _:
            return f"{KIND_LABELS['media']}, {byte_text(row.size)}"
