"""A redaction as a step of a draft: the chosen parts, their copies around the messages, and what the audit keeps of it."""

from __future__ import annotations

from typing import Any

from chainviz.chains import audit
from chainviz.core.errors import Refused
from chainviz.core.operations.redact import REDACT, RedactOptions, audit_record, decide, outcome_of
from chainviz.drafts.access import Ground
from chainviz.drafts.models import Draft
from chainviz.drafts.redacted_marks import marks_of
from chainviz.drafts.same_calls import same_calls_of
from chainviz.drafts.services import adding
from chainviz.store.steps import Wanted
from chainviz.store.surroundings import rewritten


def redact(ground: Ground, user: Any, options: RedactOptions) -> tuple[Draft, tuple[str, ...]]:
    """Its draft and what the person should know; the export of that content holds nothing of what was redacted."""
    table = decide(ground.stored, options, marks_of(ground.stored), same_calls_of)
    outcome = outcome_of(ground.stored, table, options)
    if not outcome.changes:
        raise Refused("No row is to be redacted with these choices.")
    surroundings = rewritten(ground.stored.snapshot, outcome.around) if outcome.around else None
    said = options.model_dump(exclude_defaults=True)
    wanted = Wanted(outcome.changes, REDACT.name, said, outcome.report, surroundings=surroundings)
    with adding(ground, user, wanted) as draft:
        record = audit_record(table, options)
        audit.note(ground.chain, user, REDACT.name, record, version=ground.version.number, draft=draft.pk)
    return draft, outcome.warnings
