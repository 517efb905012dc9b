"""The chain of digests, and its check: each row's digest covers the row and the digest of the one before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC
from hashlib import sha256

from chainviz.accounts.audit.models import AuditRow
from chainviz.accounts.models import Team
from chainviz.store.fsck.findings import Finding


def digest_of(row: AuditRow) -> str:
    covered = [
        row.previous,
        row.team_id,
        row.number,
        row.at.astimezone(UTC).isoformat(),
        row.who_id,
        row.who_name,
        row.act,
        row.outcome,
        row.chain_key,
        row.details,
    ]
    return sha256(json.dumps(covered).encode()).hexdigest()


def check_all() -> Iterator[Finding]:
    for team in Team.objects.order_by("pk"):
        fault = first_fault(team)
        if fault:
            yield Finding("error", f"Audit log of team {team.pk} ({team.name}): {fault}")


def first_fault(team: Team) -> str:
    """Returns what is wrong with the first bad row; empty where the log is whole."""
    try:
        return _first_fault(team)
    except Exception as error:  # a damaged value may break any reader
        return f"a row cannot be read ({type(error).__name__}), so it was changed."


def _first_fault(team: Team) -> str:
    number, previous = 0, ""
    for row in AuditRow.objects.filter(team=team).order_by("number").iterator(chunk_size=1000):
        number += 1
        if row.number != number:
            return f"row {number} is missing."
        if row.previous != previous or row.digest != digest_of(row):
            return f"row {number} was changed."
        previous = row.digest
    if number != team.audit_number:
        return f"it ends at row {number}, but the last row written is {team.audit_number}."
    if previous != team.audit_digest:
        return f"it ends at row {number}, whose digest is not that of the last row written."
    return ""
