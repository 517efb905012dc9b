"""A redaction as a step of a draft: the chosen parts, their copies around the messages, and what the audit keeps of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from chainviz.chains.audit import records as audit
from chainviz.core.documents.context import Surroundings
from chainviz.core.errors import Refused
from chainviz.core.operations.contract import Outcome
from chainviz.core.operations.redact import REDACT, DecisionTable, RedactOptions, audit_record, decide, outcome_of
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.redact.same_calls import same_calls_of
from chainviz.drafts.services import Report, adding
from chainviz.drafts.target import Ground
from chainviz.store.content.chain import StoredChain
from chainviz.store.history.steps import NewStep
from chainviz.store.lineage import redacted_places
from chainviz.store.transfer.document_context import rewritten


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a redaction would do, before anything is written."""

    options: RedactOptions
    table: DecisionTable
    outcome: Outcome
    surroundings: Surroundings | None


def prepare(chain: StoredChain, options: RedactOptions, report: Report = lambda done, text: None) -> Prepared:
    """Refused where no row is to be redacted."""
    report(0, "Deciding what is redacted")
    table = decide(chain, options, redacted_places(chain), same_calls_of)
    outcome = outcome_of(chain, table, options, lambda done, text: report(0.3 + done * 0.7, text))
    if not outcome.changes:
        raise Refused("No row is to be redacted with these choices.")
    surroundings = rewritten(chain.snapshot, outcome.around) if outcome.around else None
    return Prepared(options, table, outcome, surroundings)


def redact(ground: Ground, user: Any, options: RedactOptions) -> tuple[Draft, tuple[str, ...]]:
    """Its draft and what the person should know; the export of that content holds nothing of what was redacted."""
    prepared = prepare(ground.stored, options)
    with taking(ground, user, prepared) as draft:
        return draft, prepared.outcome.warnings


@contextmanager
def taking(ground: Ground, user: Any, prepared: Prepared) -> Iterator[Draft]:
    """The step and its record; the block is part of the transaction that makes both."""
    options, outcome = prepared.options, prepared.outcome
    said = options.model_dump(exclude_defaults=True)
    step = NewStep(outcome.changes, REDACT.name, said, outcome.report, surroundings=prepared.surroundings)
    with adding(ground, user, step) as draft:
        record = audit_record(prepared.table, options)
        audit.note(ground.chain, user, REDACT.name, record, version=ground.version.number, draft=draft.pk)
        yield draft
