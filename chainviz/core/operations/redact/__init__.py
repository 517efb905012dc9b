"""Redact: takes out what has served its purpose, so that a context gets smaller (seed 4). Reversible: a version before has it all."""

from __future__ import annotations

from chainviz.core.operations.redact.audit import audit_record
from chainviz.core.operations.redact.decide import decide
from chainviz.core.operations.redact.operation import Redact, outcome_of, redacted_parts
from chainviz.core.operations.redact.options import RedactOptions
from chainviz.core.operations.redact.policies import POLICIES
from chainviz.core.operations.redact.switch import Switch, read_switch
from chainviz.core.operations.redact.table import DecisionTable, Metrics, Row

REDACT = Redact()

__all__ = [
    "POLICIES", "REDACT", "DecisionTable", "Metrics", "Redact", "RedactOptions", "Row", "Switch", "audit_record",
    "decide", "outcome_of", "read_switch", "redacted_parts",
]  # fmt: skip
