"""Observations: writes tool results in another convention, or changes them between tool messages and text (seed 2).

plan.py says what would change and what would be lost (reformat.py, to_text.py and to_tools.py are the three ways);
operation.py makes the change.
"""

from __future__ import annotations

from chainviz.core.operations.observations.operation import ConvertObservations, Plan, outcome_of, plan_conversion
from chainviz.core.operations.observations.options import ObservationsOptions, Rewrite, Skip

__all__ = ["ConvertObservations", "ObservationsOptions", "Plan", "Rewrite", "Skip", "outcome_of", "plan_conversion"]
