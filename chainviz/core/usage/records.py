"""The record of each call of a model: its times, model and tokens. Sums over a chain are in `recorded` and `beside`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from chainviz.core.chain.messages import AI, Message
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.json.edit import value_of
from chainviz.core.usage.document_usage import USAGE_WORDS, carried_lines, running_total
from chainviz.core.usage.recorded import TokenUsage, find_model, find_usage
from chainviz.core.usage.times import NO_TIMES, Times, times_in


class Record(NamedTuple):
    times: Times
    model: str = ""
    usage: TokenUsage | None = None
    """The usage, or None if none is recorded."""


def record_of(message: Message) -> Record:
    """Read times, model and tokens from the source of a message. If its source has several units that repeat the usage
    (Claude Code), the last one counts."""
    found = Record(NO_TIMES)
    for fragment in message.source:
        try:
            value = value_of(fragment)
        except (ValueError, RecursionError):
            continue  # a source that is not JSON
        found = found._replace(times=found.times | times_in(value))
        usage = find_usage(value) if message.role == AI else None
        if usage is not None:
            found = Record(found.times, find_model(value), usage)
    return found


def calls_beside(context: DocumentContext) -> Iterator[Record]:
    """Yield the calls that a session counts in lines of their own (Codex): with each total of the session, what is new in it."""
    model, total = "", TokenUsage()
    for line in carried_lines(context, USAGE_WORDS) if context.envelope.lines else ():
        model = find_model(line) or model
        running = running_total(line)
        if running is None:
            usage = find_usage(line)
        else:
            usage, total = _increase(total, running), running
        if usage is not None:
            yield Record(times_in(line), model, usage)


def _increase(before: TokenUsage, now: TokenUsage) -> TokenUsage | None:
    """Return the increase of a running total, or None if nothing was called. A total smaller than the one before starts
    over."""
    if now[1:] == before[1:]:
        return None
    if now.input < before.input or now.output < before.output:
        return now
    return TokenUsage(1, *(one - other for one, other in zip(now[1:], before[1:], strict=True)))


