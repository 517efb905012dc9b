"""Mask: secrets and personal data give way to placeholders, for sharing. Options name places and rules, never a value.

It changes parts and other members of their source units. What the envelope and carried lines hold of the same values is
for whoever writes them (`Outcome.around`), and versions before keep everything until they are purged.
"""

from __future__ import annotations

from chainviz.core.operations.mask.operation import (
    WARNINGS,
    Chosen,
    Mask,
    Masked,
    Spotted,
    choose,
    in_source,
    masked,
    spot,
)
from chainviz.core.operations.mask.options import MaskOptions

MASK = Mask()

__all__ = ["MASK", "WARNINGS", "Chosen", "Mask", "MaskOptions", "Masked", "Spotted", "choose", "in_source", "masked", "spot"]
