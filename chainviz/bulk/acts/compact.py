"""A compaction strategy on each chain: one that the person saved, or limits."""

from __future__ import annotations

from pydantic import model_validator

from chainviz.bulk.acts.change import Change
from chainviz.core.operations.compact import NO_LIMIT, CompactOptions
from chainviz.core.operations.execute import get_operation


class LimitedOptions(CompactOptions):
    @model_validator(mode="after")
    def _has_limit(self) -> LimitedOptions:
        if self.compactor is None:
            raise ValueError(NO_LIMIT.rstrip("."))
        return self


class CompactAll(Change):
    def __init__(self) -> None:
        super().__init__(get_operation("compact"), "compacted", "Nothing to compact.")
        self.Options = LimitedOptions
