"""A redaction as a step of a draft: the chosen parts, their copies around the messages, and what the audit keeps of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import transaction

from chainviz.chains import audit
from chainviz.core.errors import Refused
from chainviz.core.operations.contract import Outcome
from chainviz.core.operations.redact import REDACT, RedactOptions, audit_record, decide, outcome_of
from chainviz.core.operations.redact.bodies import read_bodies
from chainviz.core.operations.redact.copies import Copies, removed_texts
from chainviz.core.operations.redact.placeholder import DEFAULT
from chainviz.drafts.access import Ground
from chainviz.drafts.models import Draft
from chainviz.drafts.redacted_marks import marks_of
from chainviz.drafts.services import held
from chainviz.store import drafts as store
from chainviz.store.chain import StoredChain
from chainviz.store.surroundings import rewritten


def redact(ground: Ground, user: Any, options: RedactOptions) -> tuple[Draft, tuple[str, ...]]:
    """Its draft and what the person should know; the export of that content holds nothing of what was redacted."""
    table = decide(ground.stored, options, marks_of(ground.stored))
    outcome = outcome_of(ground.stored, table, options)
    if not outcome.changes:
        raise Refused("No row is to be redacted with these choices.")
    copies = Copies(_removed(ground.stored, outcome), DEFAULT)
    surroundings = rewritten(ground.stored.snapshot, copies.without)
    with transaction.atomic():
        kept, draft = held(ground, user)
        store.add_step(
            kept,
            outcome.changes,
            operation=REDACT.name,
            options=options.model_dump(exclude_defaults=True),
            report=outcome.report,
            surroundings=surroundings,
        )
        record = audit_record(table, options)
        audit.note(ground.chain, user, REDACT.name, record, version=ground.version.number, draft=draft.pk)
    return draft, outcome.warnings


def _removed(chain: StoredChain, outcome: Outcome) -> Iterator[str]:
    new = {change.start: change.messages[0] for change in outcome.changes}
    for place, old in read_bodies(chain, sorted(new)):
        yield from removed_texts(old, new[place])
