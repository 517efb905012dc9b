"""Closed rows of the chain and of its outline as HTML. The hot path: no templates, and few elements a row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from chainviz.chains.render.visible_text import one_line, safe
from chainviz.core.chain.paths import Path
from chainviz.core.counts import count_text
from chainviz.web.formatting import bar_step, byte_text, share_text, token_text

TEASER = 160
OUTLINE_NAME = 60

Tone = Literal["problem", "changed", "quiet", "summarised", "redacted", "edited"]


@dataclass(frozen=True, slots=True)
class Flag:
    """A word about a row that must be seen while it is closed."""

    text: str
    tone: Tone


CHANGED = Flag("changed", "edited")


@dataclass(frozen=True, slots=True)
class Row:
    path: Path
    kind: Literal["section", "header", "pair", "run"]
    role: str
    """system, human, ai, tool or summary: gives hue and icon. A section has none."""
    name: str
    teaser: str
    size: int
    start: int
    """The index of its first message."""
    count: int = 0
    """The number of pairs of a section or run, or of messages of a pair."""
    flag: Flag | None = None
    is_open: bool = False
    is_context: bool = False
    """True for the row of a section that is shown only because the window begins inside it."""
    is_changed: bool = False
    """True if the draft changed it."""
    body: str = ""
    """HTML of the opened node."""
    chip: str = ""
    """HTML of the notes on the row, such as its threads."""
    noted: str = ""
    """The colour of the notes in the outline; "" if there are none."""
    below: str = ""
    """HTML of the notes at the end of the opened node."""

    @property
    def number(self) -> str:
        if not self.path.pair:
            return ""
        last = f"–{self.path.pair + self.count - 1}" if self.kind == "run" else ""
        return f"{self.path.section}.{self.path.pair}{last}"


def rows_html(rows: Iterable[Row], base_url: str, whole: int) -> str:
    return "".join([section_html(row, base_url, whole) if row.kind == "section" else node_html(row, base_url, whole) for row in rows])


def node_html(row: Row, base_url: str, whole: int) -> str:
    expanded = "true" if row.is_open else "false"
    number = f'<span class="node-number">{row.number}</span>' if row.number else ""
    state = " data-flagged" if row.flag and row.flag.tone == "problem" else ""
    state += " data-changed" if row.is_changed else ""
    run, address = (" data-run", f"rows?from={row.path}&amp;runs={row.path}") if row.kind == "run" else ("", f"node/{row.path}")
    return (
        f'<article class="node" id="{row.path.dom_id}" data-path="{row.path}" data-at="{row.start}" '
        f'data-size="{row.size}" data-role="{row.role}"{state}{run}>'
        f'<a class="node-line" href="{base_url}{address}" aria-expanded="{expanded}">{number}'
        f"<b>{safe(one_line(row.name, 80))}</b>{_flags_html(row)}{row.chip}"
        f'<span class="teaser">{safe(one_line(row.teaser, TEASER))}</span>'
        f'<span class="share" data-bar="{bar_step(row.size, whole)}">{sizes(row.size, whole)}</span></a>{row.body}</article>'
    )


def section_html(row: Row, base_url: str, whole: int) -> str:
    path = row.path
    expanded, query = ("true", "closed") if row.is_open else ("false", "opened")
    context = " data-context" if row.is_context else ""
    dom_id = "" if row.is_context else f' id="{path.dom_id}"'
    return (
        f'<section class="section-row"{dom_id} data-path="{path}" data-at="{row.start}"{context} aria-label="Section {path.section}">'
        f'<a class="node-line" href="{base_url}rows?from={path}&amp;{query}={path}" aria-expanded="{expanded}">'
        f'<span class="section-number">§{path.section}</span><b>{safe(one_line(row.name, 120))}</b>{_flags_html(row)}{row.chip}'
        f'<span class="section-count">{count_text(row.count, "pair")}</span>'
        f'<span class="share" data-bar="{bar_step(row.size, whole)}">{sizes(row.size, whole)}</span></a></section>'
    )


def sizes(size: int, whole: int) -> str:
    """Return the bytes, the estimated tokens and the share of the chain as text."""
    return f"<span>{byte_text(size)} <i>{token_text(size)}</i> · {share_text(size, whole)}</span>"


def _flags_html(row: Row) -> str:
    return flag_html(row.flag) + flag_html(CHANGED if row.is_changed else None)


def flag_html(flag: Flag | None) -> str:
    return f'<span class="flag" data-state="{flag.tone}">{safe(flag.text)}</span>' if flag else ""


def outline_html(rows: Iterable[Row], base_url: str, whole: int) -> str:
    return "".join([_outline_row(row, base_url, whole) for row in rows])


def _outline_row(row: Row, base_url: str, whole: int) -> str:
    place = f'data-path="{row.path}" href="{base_url}at/{row.path}#{row.path.dom_id}"'
    flag = f' data-flag="{row.flag.tone}" title="{safe(row.flag.text)}"' if row.flag else ""
    noted = row.noted or ("changed" if row.is_changed else "")
    note = f'<i class="note-mark" data-state="{noted}"></i>' if noted else ""
    if row.kind == "section":
        name = f"{row.path.section}. {safe(one_line(row.name, OUTLINE_NAME))}"
        return (
            f'<a class="outline-section" {place}{flag} data-bar="{bar_step(row.size, whole)}">{name}'
            f"<span>{note}{byte_text(row.size)}</span></a>"
        )
    run = " data-run" if row.kind == "run" else ""
    name = row.name if row.role in ("tool", "summary", "system") else row.teaser or row.name
    return (
        f'<a class="outline-item" data-role="{row.role}" {place}{flag}{run}>{safe(one_line(name, OUTLINE_NAME))}'
        f"<span>{note}{byte_text(row.size)}</span></a>"
    )
