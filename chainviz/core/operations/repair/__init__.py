"""Repair: named fixes that a person accepts or declines one by one (DESIGN 4.4).

In reading order: `fixes` (their names and meanings), `options`, `session` (the chain while it is repaired) with `pairs` and
`tree_index`, `passes`, `parts_as_text`, `goal` (the smallest set of fixes for a provider), `operation` (the entry point).
"""

from __future__ import annotations

from chainviz.core.operations.repair.fixes import CHOICES, Fix
from chainviz.core.operations.repair.operation import Repair, propose, repaired
from chainviz.core.operations.repair.options import RepairOptions

OPERATION = Repair()

__all__ = ["CHOICES", "OPERATION", "Fix", "Repair", "RepairOptions", "propose", "repaired"]
