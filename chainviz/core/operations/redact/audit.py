"""What a redaction leaves for the audit trail: decisions and sizes, never contents, placeholders or hashes of contents.

Who, when and which chain and version are the caller's to add.
"""

from __future__ import annotations

from typing import Any

from chainviz.core.operations.redact.decision_table import DecisionTable, Row
from chainviz.core.operations.redact.options import RedactOptions
from chainviz.core.operations.redact.placeholder import DEFAULT
from chainviz.core.terminal import visible


def audit_record(table: DecisionTable, options: RedactOptions) -> dict[str, Any]:
    """JSON values only. Names and ids come from a transcript: their control characters are written out."""
    parameters = options.model_dump(mode="json", exclude={"policy", "placeholder", "context_management", "enabled"})
    metrics = table.metrics()
    return {
        "operation": "redact",
        "policy": options.policy,
        "enabled": options.enabled,
        "parameters": {**parameters, "own_placeholder": options.placeholder != DEFAULT},
        "rows": [_row(table, row) for row in table.rows],
        "rate": metrics.rate,
        "distribution": metrics.distribution,
        "bytes_saved": metrics.bytes_saved,
    }


def _row(table: DecisionTable, row: Row) -> dict[str, Any]:
    return {
        "message": row.message,
        "path": row.path,
        "part": row.kind,
        "tool_call_id": visible(row.call_id),
        "tool": visible(row.tool),
        "matrix_row": row.matrix_row,
        "followed_by": row.follows,
        "decision": row.decision,
        "skip": row.skip,
        "override": row.manual,
        "bytes_before": row.size,
        "bytes_after": row.bytes_after,
    }
