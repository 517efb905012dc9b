"""Redact: decide, then put placeholders. A version before keeps what was there: this saves context, it hides nothing."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.core.chain import Chain, Splice
from chainviz.core.messages import Message
from chainviz.core.operations.contract import Context, Decision, Outcome
from chainviz.core.operations.redact.bodies import read_bodies
from chainviz.core.operations.redact.copies import Copies, removed_texts
from chainviz.core.operations.redact.decide import decide
from chainviz.core.operations.redact.following import MatrixRow
from chainviz.core.operations.redact.options import RedactOptions
from chainviz.core.operations.redact.placeholder import DEFAULT
from chainviz.core.operations.redact.policies.contract import Candidate
from chainviz.core.operations.redact.rewriting import rewritten_message
from chainviz.core.operations.redact.table import DecisionTable, Row


class Redact:
    name = "redact"
    label = "Redact"
    Options = RedactOptions

    def run(self, chain: Chain, options: RedactOptions, context: Context) -> Outcome:
        return outcome_of(chain, decide(chain, options), options)


def outcome_of(chain: Chain, table: DecisionTable, options: RedactOptions) -> Outcome:
    splices: list[Splice] = []
    gone: dict[str, None] = {}
    for splice, old in _changes(chain, table, options):
        splices.append(splice)
        gone.update(dict.fromkeys(removed_texts(old, splice.messages[0])))
    copies = Copies(gone, DEFAULT)
    return Outcome(tuple(splices), tuple(map(_decision, table.rows)), table.warnings, around=copies.without)


def _changes(chain: Chain, table: DecisionTable, options: RedactOptions) -> Iterator[tuple[Splice, Message]]:
    """The splices that carry out the table, each with the message that it replaces."""
    wanted: dict[int, list[Candidate]] = {}
    for row in table.rows:
        if row.redact:
            wanted.setdefault(row.message, []).append(row.candidate)
    for place, message in read_bodies(chain, sorted(wanted)):
        yield Splice(place, 1, (rewritten_message(message, wanted[place], options.placeholder),)), message


_IN_MATRIX = frozenset(row for row in MatrixRow if row.value.isdigit())


def _decision(row: Row) -> Decision:
    place = f" (row {row.matrix_row})" if row.candidate.row in _IN_MATRIX else ""
    what = f"{row.kind} of {row.tool}" if row.tool else row.kind
    return Decision(row.path, row.decision, f"{what}: {row.reason}{place}", row.size, row.bytes_after)
