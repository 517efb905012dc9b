"""Rows of the store as rows of the page: what a closed row says about its node."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from operator import attrgetter

from chainviz.chains.render.numbers import count_text
from chainviz.chains.render.rows import Flag, Row
from chainviz.core.chain.messages import HUMAN
from chainviz.core.chain.tree import PairType
from chainviz.store.content.message_shapes import StoredShape
from chainviz.store.query.windows import WindowRow

FLAGS = {
    "pending-call": "call not answered",
    "terminal-call": "last call is open",
    "orphan-result": "result without a call",
    "unmatched-result": "result without a call",
    "mid-system": "system message inside",
    "double-human": "two human messages",
    "first-message": "begins with AI",
    "missing-human": "no human message before",
    "unknown-role": "unknown role",
}
"""Short words for the rules a row is flagged with; another rule shows its own id."""
SUMMARY_MARK = "**summarized content:**"
"""How an answer that is a summary begins."""
_DATA_URL = re.compile(r"data:(\w+)/[\w.+-]+;base64,\S*")
_FIRST_VALUE = re.compile(r'"[^"\\]*"\s*:\s*("(?:[^"\\]|\\.)*"?|\[[^\]]*\]?|\{[^}]*\}?|[^\s,}\]]+)')


def row_view(row: WindowRow) -> Row:
    return _section(row) if row.kind == "section" else _run(row) if row.kind == "run" else _node(row)


def _section(row: WindowRow) -> Row:
    first = row.first
    name = preview_words(first) or "Untitled"
    return Row(row.path, "section", "", name, "", row.size, row.start, row.pairs, _flag_of_many(row), row.is_open)


def _run(row: WindowRow) -> Row:
    name, messages = count_text(row.pairs, "pair"), count_text(row.messages, "message")
    return Row(row.path, "run", "tool", name, messages, row.size, row.start, row.pairs, _flag_of_many(row))


def _flag_of_many(row: WindowRow) -> Flag | None:
    errors, warnings, *_ = row.counts.get("", (0, 0))
    count = errors + warnings
    return Flag(count_text(count, "problem"), "problem" if errors else "changed") if count else None


def titled(row: Row, human: StoredShape | None) -> Row:
    """A section is named by its human message, where it has one."""
    return row if human is None or not human.preview else replace(row, name=preview_words(human))


def preview_words(shape: StoredShape | None) -> str:
    """Its preview, without the bytes of a picture."""
    return _DATA_URL.sub(r"[\1]", shape.preview) if shape else ""


def _node(row: WindowRow) -> Row:
    first = row.first
    preview = preview_words(first)
    if row.kind == "header":
        human = first is None or first.role == HUMAN
        role, name = ("human", "Human") if human else ("system", "System")
        if first is not None and first.is_user_action:
            name = "Human calls a tool" if any(part.kind == "tool_call" for part in first.parts) else "Result for the human"
        return Row(row.path, "header", role, name, preview, row.size, row.start, 1, _flag(row))
    role, name, teaser = _pair_words(row)
    return Row(row.path, "pair", role, name, teaser, row.size, row.start, row.messages, _flag(row))


def _pair_words(row: WindowRow) -> tuple[str, str, str]:
    first = row.first
    preview = preview_words(first)
    if not row.has_ai or first is None:
        return "tool", "No AI message", preview
    if row.type is PairType.SUMMARIZATION:
        return "summary", "Summary", preview_words(row.shapes[1]) if len(row.shapes) > 1 else preview
    if row.type is PairType.COMPLETION:
        if preview.startswith(SUMMARY_MARK):
            return "summary", "Summary", preview.removeprefix(SUMMARY_MARK).lstrip()
        return "ai", "Answer", preview
    names = Counter(map(attrgetter("name"), first.calls))
    name = ", ".join(f"{name or 'no name'}{f' ×{count}' if count > 1 else ''}" for name, count in names.items())
    return "tool", name, first_argument(preview, first.calls[0].name)


LONGEST_ESCAPE = len("\\u0000")


def first_argument(preview: str, name: str) -> str:
    """The value of a call's first argument, then what the message says, both from its preview."""
    place = preview.find(f"{name} {{")
    found = _FIRST_VALUE.search(preview, place + len(name)) if place >= 0 else None
    said = preview[:place].strip() if place >= 0 else preview.removeprefix(name).strip()
    value = _plain_value(found[1]) if found else ""
    return f"{value} · {said}" if value and said else value or said


def _plain_value(value: str) -> str:
    """A JSON value, which the end of the preview may have cut, even inside an escape."""
    if not value.startswith('"'):
        return value
    for text in (value, *(f'{value[: len(value) - cut]}"' for cut in range(LONGEST_ESCAPE))):
        try:
            return str(json.loads(text))
        except ValueError:
            continue
    return value.strip('"')


def _flag(row: WindowRow) -> Flag | None:
    found = [problem for problem in row.problems if not problem.provider and problem.severity != "info"]
    if not found:
        return None
    worst = next((problem for problem in found if problem.severity == "error"), found[0])
    text = FLAGS.get(worst.rule, worst.rule.replace("-", " "))
    count = sum(1 + problem.alike for problem in found)
    if count > 1:
        text += f" +{count - 1:,}"
    return Flag(text, "problem" if worst.severity == "error" else "changed")
