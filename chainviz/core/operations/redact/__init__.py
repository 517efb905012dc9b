"""Redact: remove content that is no longer needed, so that the context gets smaller. Earlier versions keep everything.

In reading order: `options`, `candidates` (parts that could go), `decision_matrix`, `policy` and `policies`, `decide` (the decision table),
`rewriting`, `operation` (the entry point).
"""

from __future__ import annotations

from chainviz.core.operations.redact.decide import DecisionTable, Metrics, Row, audit_record, decide
from chainviz.core.operations.redact.operation import CLEAN, Redact, redacted_parts
from chainviz.core.operations.redact.options import RedactOptions
from chainviz.core.operations.redact.policies import POLICIES

REDACT = Redact()

__all__ = [
    "CLEAN", "POLICIES", "REDACT", "DecisionTable", "Metrics", "Redact", "RedactOptions", "Row", "audit_record", "decide",
    "redacted_parts",
]  # fmt: skip
