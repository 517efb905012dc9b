"""Run an operation. Web, command line and Python API all use `execute`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from chainviz.core.chain.chain import Chain, Splice, apply_splices
from chainviz.core.chain.messages import Message
from chainviz.core.chain.paths import parse_path
from chainviz.core.chain.surroundings import Rewrite
from chainviz.core.documents.units import Envelope
from chainviz.core.errors import OptionsError, OutcomeError, PathError, Refused, option_error
from chainviz.core.formats import get_format
from chainviz.core.formats.stylist import Stylist
from chainviz.core.load import blank
from chainviz.core.operations import OPERATIONS, operation_named
from chainviz.core.operations.contract import Context, Operation, Options, Outcome


def execute(name: str, options: Options | Mapping[str, Any], chain: Chain, context: Context) -> Outcome:
    """Run an operation on a chain. Return its outcome, including the changed surroundings.

    Raises OptionsError for invalid options, Refused or PathError if the operation is not possible on this chain, and OutcomeError if its
    report is faulty.
    """
    operation = get_operation(name)
    chosen = options if isinstance(options, Options) else read_options(operation, options)
    outcome = operation.run(chain, chosen, context)
    check_paths(name, outcome)
    _refuse_nothing_left(chain, outcome)
    if outcome.target is None and keeps_signed_reasoning(chain, outcome.changes):
        outcome = replace(outcome, warnings=(*outcome.warnings, WARNING))
    around = _rewrite(chain, outcome) if outcome.target is None else None
    if around is None:
        return outcome
    return replace(outcome, surroundings=chain.surroundings.rewritten(around))


FIRST_RECORDS = 50
"""The number of records beside the messages that are searched for a piece of a streamed answer."""


def _rewrite(chain: Chain, outcome: Outcome) -> Rewrite | None:
    """Return the rewriting of the texts beside the messages. It also empties the pieces of streamed answers, if there are any."""
    format, around = get_format(chain.format) if chain.format else None, outcome.around
    if format is None or not format.streams_answers or not outcome.changes:
        return around
    if all(format.without_piece(text) == text for text in chain.surroundings.first_records(FIRST_RECORDS)):
        return around
    return (lambda text: format.without_piece(around(text))) if around else format.without_piece


def check_paths(name: str, outcome: Outcome) -> None:
    """Raise OutcomeError if a row of the report contains an invalid path, because a page could not show it."""
    for row in outcome.report:
        for text in filter(None, (row.path, row.until, row.becomes)):
            try:
                written = str(parse_path(text)) if isinstance(text, str) else None
            except PathError:
                written = None
            if written != text:
                raise OutcomeError(
                    f"The operation “{name}” is faulty: its report names “{text!s:.40}”, which is not a path such as s2.p1.m0."
                    " Nothing was changed; report it to the author of the operation."
                )


def _refuse_nothing_left(chain: Chain, outcome: Outcome) -> None:
    """Raise Refused if a document that is a single message would lose it, because the document would be empty."""
    lost = sum(change.removed - change.added for change in outcome.changes) if outcome.target is None else 0
    if lost and lost == len(chain) and chain.surroundings.is_single:
        raise Refused("This document is a single message, as a provider's response is: it cannot be removed.")


def changed_messages(chain: Chain, outcome: Outcome, envelope: Envelope) -> tuple[Message, ...]:
    """Return the messages after an outcome. New messages are as the document of `envelope` stores them, or the new format in a
    conversion."""
    moves = outcome.target is not None
    format = get_format(outcome.target.name if outcome.target is not None else chain.format)
    document = blank(format, 0, outcome.target.document)[0] if outcome.target is not None else envelope
    stylist = Stylist(chain, format, document, is_new=moves)
    return apply_splices(chain.slice(0, len(chain)), stylist.written(outcome.changes))


def get_operation(name: str) -> Operation[Any]:
    found = operation_named(name)
    if found is None:
        known = ", ".join(operation.name for operation in OPERATIONS)
        raise OptionsError(f"There is no operation “{str(name)[:40]}”; there are {known}.")
    return found


def read_options(operation: Operation[Any], values: Mapping[str, Any]) -> Options:
    """Validate the values as options. Raises OptionsError, in one sentence, if they are invalid."""
    known: Sequence[str] = list(operation.Options.model_fields)
    for name in values:
        if name not in known:
            raise OptionsError(f"There is no option “{name[:40]}”; there are {', '.join(known)}.")
    try:
        return operation.Options.model_validate(dict(values))
    except ValidationError as error:
        raise OptionsError(option_error(error.errors()[0])) from None


# Anthropic's newer models bind signed reasoning to everything before it and refuse it if that changed (claude-code issues 63203 and
# 63246; the API's thinking_block_binding parameter).


WARNING = (
    "Signed reasoning follows the change. Anthropic's newer models refuse it if anything before it changed; "
    "Repair with “Drop the signed reasoning” removes it."
)


def keeps_signed_reasoning(chain: Chain, changes: Sequence[Splice]) -> bool:
    """Return True if an unchanged message after the first change contains signed reasoning."""
    if not changes:
        return False
    ends = [(change.start, change.start + change.removed) for change in changes]
    for place in chain.signed(ends[0][1]):
        start, end = ends[bisect_right(ends, (place, len(chain))) - 1]
        if not start <= place < end:
            return True
    return False
