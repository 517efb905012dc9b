"""The redact operation: decide which parts to redact, and replace them by placeholders. It saves context but hides nothing, since
earlier versions keep the originals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import Message, Part
from chainviz.core.chain.paths import parse_path
from chainviz.core.chain.tree import message_paths
from chainviz.core.formats import get_format
from chainviz.core.operations.contract import Badge, Context, Decision, Outcome
from chainviz.core.operations.redact.candidates import read_bodies
from chainviz.core.operations.redact.decide import decide
from chainviz.core.operations.redact.decision_table import DecisionTable, Row, audit_record
from chainviz.core.operations.redact.options import RedactOptions
from chainviz.core.operations.redact.policy import Candidate, Kind
from chainviz.core.operations.redact.rewriting import DEFAULT, rewritten_message
from chainviz.core.operations.surrounding_copies import Copies, removed_texts, without_copies
from chainviz.core.progress import Progress, counted

NOUNS: dict[Kind, str] = {
    "result": "result", "arguments": "call", "reasoning": "reasoning part", "media": "media part", "text": "text",
}  # fmt: skip
"""The name of each kind of part in sentences."""
CLEAN = "clean"
"""Marks a message that changed although none of its parts was redacted: a copy in another field was removed."""


def redacted_parts(report: Iterable[Mapping[str, Any]]) -> list[list[int]]:
    """Return the redacted parts of each rewritten message, in order, from a report in JSON."""
    messages: dict[str, list[int]] = {}
    for row in report:
        if row["action"] in ("redact", CLEAN):
            path = parse_path(row["path"])
            parts = messages.setdefault(str(replace(path, part=None)), [])
            parts += [path.part] if path.part is not None else []
    return list(messages.values())


class Redact:
    name = "redact"
    label = "Redact"
    doing = "Redacting"
    badge = Badge("Redacted", "redacted", "redacted")
    nothing = "These choices redact nothing."
    Options = RedactOptions

    def run(self, chain: Chain, options: RedactOptions, context: Context) -> Outcome:
        switch = context.redaction
        chosen = options if switch.is_on else options.model_copy(update={"enabled": False})
        context.progress(0, "Deciding what to redact")
        table = decide(chain, chosen, context.redacted())
        warnings = (switch.warning,) if not switch.is_on else (*filter(None, [switch.warning]), *table.warnings)
        outcome = _outcome(chain, table, chosen, lambda done, text: context.progress(0.3 + done * 0.7, text))
        return replace(outcome, warnings=warnings, audit=audit_record(table, chosen))


def _outcome(chain: Chain, table: DecisionTable, options: RedactOptions, progress: Progress) -> Outcome:
    """Return the outcome. Messages are read twice, first to find the redacted texts and then to be written without copies of them, so
    that they are never all in memory."""
    wanted = _redactions(table)
    parts: dict[int, tuple[Part, ...]] = {}
    """The new parts of messages that were read once."""

    def rewrite(place: int, old: Message) -> Message:
        new = rewritten_message(old, wanted[place], options.placeholder)
        parts[place] = new.parts
        return new

    def redacted(place: int, old: Message) -> Message:
        return replace(old, parts=parts[place]) if place in wanted else old

    def removed() -> Iterator[str]:
        read = counted(read_bodies(chain, sorted(wanted)), len(wanted), lambda done, text: progress(done / 2, text), "redacted")
        return (text for place, old in read for text in removed_texts(old, rewrite(place, old)))

    copies = Copies(Texts(removed), DEFAULT)
    found = _changes(chain, redacted, copies, lambda done, text: progress((1 + done) / 2, text)) if wanted else ()
    changes = tuple(found)
    cleaned = [change.start for change in changes if change.start not in wanted]
    return Outcome(changes, tuple(_report(chain, table, cleaned)), around=copies.without)


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts that are read again each time."""

    read: Callable[[], Iterator[str]]

    def __iter__(self) -> Iterator[str]:
        return self.read()


def _redactions(table: DecisionTable) -> dict[int, list[Candidate]]:
    wanted: dict[int, list[Candidate]] = {}
    for row in table.rows:
        if row.redact:
            wanted.setdefault(row.message, []).append(row.candidate)
    return wanted


def _changes(chain: Chain, redacted: Callable[[int, Message], Message], copies: Copies, progress: Progress) -> Iterator[Splice]:
    """Yield the redacted messages, and messages with a copy of a redacted text in a field that is not a part."""
    format = get_format(chain.format)
    bodies = read_bodies(chain, range(len(chain)))
    for place, old in counted(bodies, len(chain), progress, "searched for copies"):
        message = without_copies(old, redacted(place, old), format, copies)
        if message is not old:
            yield Splice(place, 1, (message,))


def _report(chain: Chain, table: DecisionTable, cleaned: list[int]) -> Iterator[Decision]:
    """Yield the rows of the report in the order of the chain."""
    rows = [(row.message, _decision(row)) for row in table.rows]
    if cleaned:
        paths = list(message_paths(chain.tree))
        why = "a field beside its parts held a copy"
        rows += [(place, Decision(str(paths[place]), CLEAN, why, kind="copied field")) for place in cleaned]
        rows.sort(key=lambda row: row[0])
    return (decision for _, decision in rows)


def _decision(row: Row) -> Decision:
    what = f"{row.kind} of {row.tool}" if row.tool else row.kind
    return Decision(row.path, row.decision, f"{what}: {row.reason}", row.size, row.bytes_after, kind=NOUNS[row.kind])
