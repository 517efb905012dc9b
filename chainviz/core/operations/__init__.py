"""The operations: all changes that a person can make to a chain. Each has its own package or module."""

from __future__ import annotations

from typing import Any

from chainviz.core.operations.compact import Compact
from chainviz.core.operations.contract import Operation
from chainviz.core.operations.convert import Convert
from chainviz.core.operations.edit import Edit
from chainviz.core.operations.mask import Mask
from chainviz.core.operations.observations import ConvertObservations
from chainviz.core.operations.redact import Redact
from chainviz.core.operations.repair import Repair
from chainviz.core.operations.summarize import SUMMARIZE

OPERATIONS: tuple[Operation[Any], ...] = (
    Repair(), Edit(), Redact(), Mask(), SUMMARIZE, Compact(SUMMARIZE), ConvertObservations(), Convert(),
)  # fmt: skip


def operation_named(name: str) -> Operation[Any] | None:
    return next((operation for operation in OPERATIONS if operation.name == name), None)
