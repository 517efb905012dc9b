"""Mask: secrets and personal data give way to placeholders, for sharing. Options name places and rules, never a value.

It changes parts, other members of their source units and what the document holds beside the messages. Versions before
keep everything until they are purged.
"""

from __future__ import annotations

from chainviz.core.operations.mask.operation import WARNINGS, Mask
from chainviz.core.operations.mask.options import MaskOptions

MASK = Mask()

__all__ = ["MASK", "WARNINGS", "Mask", "MaskOptions"]
