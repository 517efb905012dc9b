"""Redact: takes out what has served its purpose, so that a context gets smaller (seed 4). Reversible: a version before has it all.

In reading order: `options`, `candidates` (parts that could go), `policies`, `decision_matrix` and `same_calls` (what policies know),
`decide`, `decision_table`, `placeholder`, `rewriting`, `window_index`, `surrounding_copies`, `audit`, `operation` (the entry point).
"""

from __future__ import annotations

from chainviz.core.operations.redact.audit import audit_record
from chainviz.core.operations.redact.decide import decide
from chainviz.core.operations.redact.decision_table import DecisionTable, Metrics, Row
from chainviz.core.operations.redact.operation import CLEAN, Redact, redacted_parts
from chainviz.core.operations.redact.options import RedactOptions
from chainviz.core.operations.redact.policies import POLICIES

REDACT = Redact()

__all__ = [
    "CLEAN", "POLICIES", "REDACT", "DecisionTable", "Metrics", "Redact", "RedactOptions", "Row", "audit_record", "decide",
    "redacted_parts",
]  # fmt: skip
