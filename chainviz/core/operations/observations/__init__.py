"""Observations: writes tool results in another convention, or changes them between tool messages and text (seed 2).

plan.py says what would change and what would be lost (reformat.py, to_text.py and to_tools.py are the three ways);
operation.py makes the change.
"""

from __future__ import annotations

from chainviz.core.operations.observations.contract import Kept, Rewrite
from chainviz.core.operations.observations.operation import ConvertObservations, outcome_of
from chainviz.core.operations.observations.options import ObservationsOptions
from chainviz.core.operations.observations.plan import Plan, plan_conversion

__all__ = ["ConvertObservations", "Kept", "ObservationsOptions", "Plan", "Rewrite", "outcome_of", "plan_conversion"]
