"""Rows of the store as rows of the page: what a closed row says about its node."""

from __future__ import annotations

from dataclasses import replace

from chainviz.chains.explorer.message_words import header_words, pair_words, preview_words
from chainviz.chains.render.numbers import count_text
from chainviz.chains.render.rows import Flag, Row
from chainviz.store.content.message_shapes import StoredShape
from chainviz.store.query.windows import WindowRow

FLAGS = {
    "pending-call": "call without a result",
    "terminal-call": "last call is open",
    "orphan-result": "result without a call",
    "unmatched-result": "result without a call",
    "mid-system": "system message in the middle",
    "double-human": "two human messages",
    "first-message": "begins with AI",
    "missing-human": "no human message before it",
    "unknown-role": "unknown role",
}
"""Short words for the rules a row is flagged with; another rule shows its own id."""


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


def _node(row: WindowRow) -> Row:
    if row.kind == "header":
        role, name, teaser = header_words(row.first)
        return Row(row.path, "header", role, name, teaser, row.size, row.start, 1, _flag(row))
    role, name, teaser = pair_words(row.type, row.shapes, has_ai=row.has_ai)
    return Row(row.path, "pair", role, name, teaser, row.size, row.start, row.messages, _flag(row))


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
