"""The redact operation: decide which parts to redact, and replace them by placeholders. It saves context but hides nothing, since
earlier versions keep the originals."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from sys import intern
from typing import Any

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import Message
from chainviz.core.chain.paths import parse_path
from chainviz.core.chain.tree import message_paths
from chainviz.core.formats import get_format
from chainviz.core.operations.contract import Badge, Context, Decision, Outcome
from chainviz.core.operations.redact.candidates import STRETCH, read_bodies
from chainviz.core.operations.redact.decide import DecisionTable, Row, audit_record, decide
from chainviz.core.operations.redact.options import RedactOptions
from chainviz.core.operations.redact.policy import Candidate, Kind
from chainviz.core.operations.redact.rewriting import DEFAULT, rewritten_message
from chainviz.core.operations.surrounding_copies import Copies, StringsBeside, removed_texts, strings_beside, without_copies
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
    """Return the outcome. Every message is read once, to find the redacted texts and the strings beside the parts. Then only messages
    that may have a copy are read again."""
    redactions = Redactions(chain, _redactions(table), options.placeholder)
    if not redactions.wanted:
        return Outcome((), tuple(_report(chain, table, [])))
    format, beside = get_format(chain.format), StringsBeside()

    def removed() -> Iterator[str]:
        read = counted(chain.stream(0, len(chain)), len(chain), lambda done, text: progress(done / 2, text), "searched")
        for place, old in enumerate(read):
            new = redactions.redacted(place, old)
            beside.add(place, strings_beside(old, new, format.blocks_at))
            if new is not old:
                yield from removed_texts(old, new)

    copies = Copies(removed(), DEFAULT, again=redactions.removed)
    cleaned: dict[int, Message] = {}
    places = beside.places(copies)
    for place, old in counted(
        read_bodies(chain, places), len(places), lambda done, text: progress((1 + done) / 2, text), "searched for copies"
    ):
        redacted = redactions.redacted(place, old)
        message = without_copies(old, redacted, format, copies)
        if message is not redacted:
            cleaned[place] = message
    changed = sorted({*redactions.wanted, *cleaned})
    changes = tuple(Splice(place, 1, (cleaned[place],) if place in cleaned else Redacted(redactions, place)) for place in changed)
    others = [place for place in cleaned if place not in redactions.wanted]
    return Outcome(changes, tuple(_report(chain, table, others)), around=copies.without)


class Redactions:
    """The redacted messages of a chain. They are read again whenever one is asked for, since all of them would fill the memory."""

    def __init__(self, chain: Chain, wanted: Mapping[int, Sequence[Candidate]], template: str) -> None:
        """`wanted` contains the parts to redact, by the place of their message."""
        self.wanted = wanted
        self._chain = chain
        self._template = template
        self._places = sorted(wanted)
        self._near: dict[int, Message] = {}

    def removed(self) -> Iterator[str]:
        """Yield the redacted texts."""
        return (text for place, old in read_bodies(self._chain, self._places) for text in removed_texts(old, self.redacted(place, old)))

    def redacted(self, place: int, old: Message) -> Message:
        """Return the redacted message, or the same object if nothing of it is redacted."""
        return rewritten_message(old, self.wanted[place], self._template) if place in self.wanted else old

    def message(self, place: int) -> Message:
        """Return the redacted message at one of the places. Neighbours are read with it, since changes are written in order."""
        if place not in self._near:
            first = bisect_left(self._places, place)
            self._near = dict(read_bodies(self._chain, self._places[first : first + STRETCH]))
        return self.redacted(place, self._near[place])


@dataclass(frozen=True, slots=True)
class Redacted(Sequence[Message]):
    """The redacted message of one place, as the messages of a splice."""

    redactions: Redactions = field(repr=False)
    place: int

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: Any) -> Any:
        return (self.redactions.message(self.place),)[index]

    def __iter__(self) -> Iterator[Message]:
        yield self.redactions.message(self.place)


def _redactions(table: DecisionTable) -> dict[int, list[Candidate]]:
    wanted: dict[int, list[Candidate]] = {}
    for row in table.rows:
        if row.redact:
            wanted.setdefault(row.message, []).append(row.candidate)
    return wanted


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
    return Decision(row.path, row.decision, intern(f"{what}: {row.reason}"), row.size, row.bytes_after, kind=NOUNS[row.kind])
