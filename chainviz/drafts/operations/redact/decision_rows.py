"""The decision table as a page shows it: a window of rows, what they come to, and what another policy would do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.operations.redact import POLICIES, DecisionTable, Row
from chainviz.core.operations.redact.candidates import SKIPS
from chainviz.core.operations.redact.decision_matrix import REASONS, MatrixRow
from chainviz.core.operations.redact.policy import KIND_LABELS
from chainviz.drafts.operations.redact.groups import KEYS
from chainviz.web.formatting import byte_text, share_text, token_text

ROWS = 30
MOST_CHIPS = 6
LETTERS = {"A": "answer", "C": "assistant with calls", "T": "tool result", "U": "user", "S": "system", "X": "unknown role"}
SHOWN = {
    "all": "All rows",
    "redact": "To redact",
    "keep": "To keep",
    "differs": "Different under the other policy",
    "by_hand": "Decided by hand",
}


@dataclass(frozen=True, slots=True)
class Filter:
    show: str = "all"
    tool: str = ""
    """A part of the tool's name; "" for any."""
    start: int = 0
    against: str = ""
    """The name of the policy to compare with."""
    group: tuple[str, str] | None = None
    """Shows only what is redacted in this group: the grouping, and the name of the group."""


@dataclass(frozen=True, slots=True)
class Chip:
    letter: str
    times: int

    @property
    def word(self) -> str:
        return LETTERS.get(self.letter, "")


@dataclass(frozen=True, slots=True)
class RowView:
    number: int
    path: str
    href: str
    place: str
    what: str
    """The name of a tool, or the kind of part."""
    kind: str
    call_id: str
    size: str
    matrix_row: str
    matrix_words: str
    decision: str
    reason: str
    chips: tuple[Chip, ...]
    more: bool
    """True if more messages follow than the chips show."""
    after: str
    saved: str
    differs: str
    override: str


@dataclass(frozen=True, slots=True)
class Count:
    label: str
    words: str
    count: int


@dataclass(frozen=True, slots=True)
class Table:
    rows: tuple[RowView, ...]
    total: int
    """The number of rows that match the filter."""
    start: int
    decided: int
    redacted: int
    rate: str
    rate_of_selected: str
    bytes_before: str
    bytes_after: str
    saved: str
    tokens: str
    milliseconds: str
    distribution: tuple[Count, ...]
    differing: int
    against: str
    by_hand: int
    warnings: tuple[str, ...]

    @property
    def end(self) -> int:
        return self.start + len(self.rows)

    @property
    def previous(self) -> int | None:
        return max(0, self.start - ROWS) if self.start else None

    @property
    def following(self) -> int | None:
        return self.end if self.end < self.total else None


def table_of(table: DecisionTable, overrides: Mapping[str, str], chosen: Filter, at: Callable[[Path], str], seconds: float) -> Table:
    rows = [row for row in table.rows if _fits(row, chosen)]
    start = min(chosen.start, max(0, (len(rows) - 1) // ROWS * ROWS))
    metrics = table.metrics()
    return Table(
        rows=tuple(_view(row, table, overrides, chosen, at) for row in rows[start : start + ROWS]),
        total=len(rows),
        start=start,
        decided=metrics.rows,
        redacted=metrics.redacted,
        rate=share_text(metrics.redacted, metrics.rows),
        rate_of_selected=share_text(metrics.redacted, metrics.selected),
        bytes_before=byte_text(metrics.bytes_before),
        bytes_after=byte_text(metrics.bytes_before - metrics.bytes_saved),
        saved=byte_text(metrics.bytes_saved),
        tokens=token_text(max(0, metrics.bytes_saved)),
        milliseconds=f"{seconds * 1000:,.0f} ms",
        distribution=tuple(
            Count(_short(name), _explained(name), count) for name, count in sorted(metrics.distribution.items(), key=_matrix_first)
        ),
        differing=sum(chosen.against in row.differs for row in table.rows),
        against=next((policy.label for policy in POLICIES if policy.name == chosen.against), ""),
        by_hand=sum(row.manual for row in table.rows),
        warnings=table.warnings,
    )


def _fits(row: Row, chosen: Filter) -> bool:
    if chosen.group and (not row.redact or KEYS[chosen.group[0]](row) != chosen.group[1]):
        return False
    if chosen.tool and not any(chosen.tool.casefold() in name.casefold() for name in (*row.candidate.tools, row.candidate.name)):
        return False
    match chosen.show:
        case "redact":
            return row.redact
        case "keep":
            return not row.redact
        case "differs":
            return chosen.against in row.differs
        case "by_hand":
            return row.manual
    return True


def _view(row: Row, table: DecisionTable, overrides: Mapping[str, str], chosen: Filter, at: Callable[[Path], str]) -> RowView:
    path = parse_path(row.path)
    chips, more = _chips(row.follows, row.candidate.letter + 1 + len(row.follows) < len(table.letters))
    other = "keep" if row.redact else "redact"
    return RowView(
        number=row.number,
        path=row.path,
        href=at(path),
        place=path.number,
        what=row.tool or KIND_LABELS[row.kind],
        kind="" if row.kind == "result" else KIND_LABELS[row.kind].lower(),
        call_id=row.call_id,
        size=byte_text(row.size),
        matrix_row=row.matrix_row if row.matrix_row.isdecimal() else "–",
        matrix_words=REASONS[row.candidate.row],
        decision=row.decision,
        reason=row.reason,
        chips=chips,
        more=more,
        after=byte_text(row.bytes_after),
        saved=f"−{byte_text(row.saved)}" if row.saved > 0 else "",
        differs=other if chosen.against in row.differs and not row.manual else "",
        override=overrides.get(row.path, ""),
    )


def _chips(follows: str, is_cut: bool) -> tuple[tuple[Chip, ...], bool]:
    """Return chips; equal neighbours share one."""
    chips: list[Chip] = []
    for letter in follows:
        if chips and chips[-1].letter == letter:
            chips[-1] = Chip(letter, chips[-1].times + 1)
        else:
            chips.append(Chip(letter, 1))
    return tuple(chips[:MOST_CHIPS]), is_cut or len(chips) > MOST_CHIPS


def _short(name: str) -> str:
    return f"Row {name}" if name.isdecimal() else name.replace("_", " ").capitalize()


def _explained(name: str) -> str:
    return SKIPS.get(name) or (REASONS[MatrixRow(name)] if name in set(MatrixRow) else "")


def _matrix_first(item: tuple[str, int]) -> tuple[bool, str]:
    return not item[0].isdecimal(), item[0]


def tool_names(rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(sorted({name for row in rows for name in (row.candidate.tools or (row.candidate.name,)) if name}))
