"""Repair: named fixes that a person accepts or declines one by one.

In reading order: `fixes` (their names, meanings and options), `session` (the chain while it is repaired), `passes`, `goal` (the
smallest set of fixes for a provider), `operation` (the entry point).
"""

from __future__ import annotations

from chainviz.core.operations.repair.fixes import CHOICES, Fix, RepairOptions
from chainviz.core.operations.repair.operation import Repair, propose, repaired

OPERATION = Repair()

__all__ = ["CHOICES", "OPERATION", "Fix", "Repair", "RepairOptions", "propose", "repaired"]
