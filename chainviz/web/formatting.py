"""Numbers, prices, times, texts and CSV as pages show them. A text field cannot contain NUL, other controls, lone surrogates or a
lone carriage return, and sends every line break as CR LF. Such characters are sent as marks, and read back unchanged.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from pathlib import PurePosixPath, PureWindowsPath

from chainviz.core.usage.model_catalog import estimated_tokens

UNITS = ("KB", "MB", "GB", "TB")


def folder_name(path: str) -> str:
    """Return the last part of a path of any system."""
    kind = PureWindowsPath if path[1:2] == ":" else PurePosixPath
    return kind(path).name or path


def byte_text(size: int) -> str:
    sign, size = ("−", -size) if size < 0 else ("", size)
    if size < 1000:
        return f"{sign}{size} B"
    amount = size / 1000
    for unit in UNITS:
        text = _digits(amount, most_decimals=1 if unit == "KB" else 2)
        if float(text) < 1000 or unit == UNITS[-1]:
            return f"{sign}{text} {unit}"
        amount /= 1000
    raise AssertionError("the last unit has no limit")


def _digits(amount: float, most_decimals: int) -> str:
    """Return the amount as text of a few digits, which are counted after rounding, because 99.96 becomes 100.0."""
    for decimals in range(most_decimals, 0, -1):
        text = f"{amount:.{decimals}f}"
        if len(text) <= 4:
            return text
    return f"{amount:.0f}"


def token_text(size: int) -> str:
    """Return the estimated number of tokens of `size` bytes: ≈ 812, ≈ 96.2k, ≈ 1.4M."""
    return f"≈ {tokens_text(estimated_tokens(size))}"


def tokens_text(tokens: int) -> str:
    """Return a number of tokens as text: 812, 96.2k, 1.4M, 4.8B."""
    if tokens < 1_000:
        return str(tokens)
    for unit, size in (("k", 1_000), ("M", 1_000_000)):
        if tokens < 999.95 * size:
            return f"{tokens / size:.1f}{unit}"
    return f"{tokens / 1_000_000_000:,.1f}B"


def round_tokens_text(tokens: int) -> str:
    """Format a number of tokens that is often round: 200k, 1M."""
    return tokens_text(tokens).replace(".0", "")


BAR_STEPS = 20


def share_text(size: int, whole: int) -> str:
    if not whole:
        return "0%"
    percent = 100 * size / whole
    return f"{percent:.0f}%" if percent >= 1 or not size else "<1%"


def size_and_share(size: int, whole: int) -> str:
    return f"{byte_text(size)} · {share_text(size, whole)}"


def bar_step(size: int, whole: int) -> int:
    """Return the length of a share bar in twentieths; it is never 0 for a node with bytes. The stylesheet has a rule for each step."""
    if not size or not whole:
        return 0
    return max(1, min(BAR_STEPS, round(BAR_STEPS * size / whole)))


def hours_text(milliseconds: int) -> str:
    """Format the time of many sessions: 12 min, 4.2 h, 1,153 h."""
    hours = milliseconds / 3_600_000
    if hours < 1:
        return f"{hours * 60:.0f} min"
    return f"{hours:,.0f} h" if hours >= 10 else f"{hours:.1f} h"


def relative_time(then: datetime, now: datetime) -> str:
    past = now - then
    if past < timedelta(minutes=1):
        return "just now"
    if past < timedelta(hours=1):
        return f"{past.seconds // 60} min ago"
    days = (now.date() - then.date()).days
    if past < timedelta(hours=6) or not days:
        return f"{past.seconds // 3600} h ago"
    if days == 1:
        return "yesterday"
    if days < 7:
        return f"{days} days ago"
    return day_text(then, now)


def day_text(then: datetime, now: datetime) -> str:
    """Return the day, with its year only where that is another one."""
    return f"{then.day} {then:%b}" if then.year == now.year else f"{then.day} {then:%b %Y}"


def full_time(then: datetime) -> str:
    return f"{then.day} {then:%b %Y, %H:%M} UTC"


NOT_IN_FIELDS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]|\r(?!\n)")
MARK = re.compile("⟦U\\+([0-9A-F]{4})⟧")


def for_field(text: str) -> str:
    """Return `text` in a form for a text field."""
    return NOT_IN_FIELDS.sub(lambda found: f"⟦U+{ord(found[0]):04X}⟧", text)


def from_field(given: str, original: str) -> str:
    """Return the text that the person means: `original` itself if nothing was changed, since browsers send every line
    break as CR LF."""
    lines = given.replace("\r\n", "\n")
    shown = for_field(original).replace("\r\n", "\n")
    if lines == shown:
        return original
    if "\r\n" in original and "\n" not in original.replace("\r\n", ""):
        lines = lines.replace("\n", "\r\n")
    if NOT_IN_FIELDS.search(original):
        lines = MARK.sub(_unmarked, lines)
    return lines


def _unmarked(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16))
    return character if NOT_IN_FIELDS.match(character) else found[0]


def place_in(original: str, place: int) -> int:
    """Return the place in `original` that is `place` in its field, where a CR LF is one character and a mark is eight."""
    passed = shorter = 0
    for found in re.finditer(f"\r\n|{NOT_IN_FIELDS.pattern}", original):
        shown = 1 if found[0] == "\r\n" else 8
        if found.start() - passed + shorter + shown > place:
            break
        passed, shorter = passed + len(found[0]), shorter + shown
    return min(place - shorter + passed, len(original))


FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")
"""Characters with which formulas begin. Spreadsheets read the full-width ones, which East Asian keyboards type, like
the plain ones."""


class _Line:
    """Takes what a CSV writer writes and hands it on."""

    def write(self, text: str) -> str:
        return text


def csv_lines(fields: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the head, then a line for each row. Texts are quoted: a spreadsheet that separates cells by semicolons or tabs would
    otherwise find a cell, and its formula, inside one of them."""
    writer = csv.writer(_Line(), quoting=csv.QUOTE_NONNUMERIC)
    for row in chain([fields], rows):
        yield writer.writerow([_formula_safe(value) for value in row])


def _formula_safe(value: object) -> object:
    """Put an apostrophe before a cell that begins like a formula, because spreadsheets would run it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value
