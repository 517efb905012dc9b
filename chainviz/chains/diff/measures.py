"""How much two versions differ in all: bytes, tokens, messages and problems, before and after."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from chainviz.core.usage.estimate import estimated_tokens
from chainviz.store.models import Snapshot
from chainviz.store.outline.build import outline_of
from chainviz.web.formatting.byte_text import byte_text
from chainviz.web.formatting.token_estimate import tokens_text


@dataclass(frozen=True, slots=True)
class Measure:
    """One number before and after, with the widths of its two bars (of 100)."""

    name: str
    before: str
    after: str
    change: str
    state: str
    before_width: int
    after_width: int


def measures_of(before: Snapshot, after: Snapshot) -> tuple[Measure, ...]:
    old, new = outline_of(before), outline_of(after)
    rows = [
        ("Bytes", before.size, after.size, "bytes"),
        ("Tokens (estimate)", estimated_tokens(before.size), estimated_tokens(after.size), "tokens"),
        ("Messages", before.messages, after.messages, "count"),
        ("Structure problems", old.errors + old.warnings, new.errors + new.warnings, "count"),
    ]
    return measures(rows)


def measures(rows: Iterable[tuple[str, int, int, str]]) -> tuple[Measure, ...]:
    """From (name, before, after, kind): kind is bytes, tokens or count."""
    return tuple(_measure(*row) for row in rows)


def _measure(name: str, before: int, after: int, kind: str) -> Measure:
    most = max(before, after, 1)
    texts: dict[str, Callable[[int], str]] = {"bytes": byte_text, "tokens": tokens_text}
    text = texts.get(kind, "{:,}".format)
    difference = after - before
    change = ""
    if difference and kind != "count" and before and abs(difference) * 200 >= before:
        share = 100 * abs(difference) / before
        nearly_all = 0 < after < before and share > 99  # -100% is only for what is gone
        change = f"{'+' if difference > 0 else '−'}{f'{min(share, 99.9):.1f}' if nearly_all else round(share)}%"
    elif difference:
        change = f"{'+' if difference > 0 else '−'}{text(abs(difference))}"
    state = "ok" if difference < 0 else "quiet"
    return Measure(
        name, text(before), text(after), change or "no change", state, 100 * before // most, 100 * after // most
    )
