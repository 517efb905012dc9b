"""Write tool results in another text convention, or convert them between tool messages and text.

In reading order: `rewrites` (the options, and the three ways of converting), `operation` (the plan and its execution).
"""

from __future__ import annotations

from chainviz.core.operations.observations.operation import ConvertObservations, Plan, outcome_of, plan_conversion
from chainviz.core.operations.observations.rewrites import ObservationsOptions, Rewrite, Skip

__all__ = ["ConvertObservations", "ObservationsOptions", "Plan", "Rewrite", "Skip", "outcome_of", "plan_conversion"]
