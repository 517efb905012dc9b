"""The usage of a whole chain: what its messages record, else what is recorded beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce

from chainviz.core.usage.prices_and_windows import Models
from chainviz.core.usage.recorded import Recorded, TokenUsage


@dataclass(frozen=True)
class ChainUsage:
    by_model: Mapping[str, TokenUsage]
    """Recorded usage; empty where none is recorded."""
    model: str
    """The model that was called most, or that the document names; "" where none is recorded."""

    @property
    def is_recorded(self) -> bool:
        return bool(self.by_model)

    @property
    def total(self) -> TokenUsage:
        return reduce(TokenUsage.__add__, self.by_model.values(), TokenUsage())

    def cost(self, models: Models) -> Decimal | None:
        """Dollars at list prices; None where nothing is recorded, or one of its models has no price here."""
        costs = [models.cost(model, usage) for model, usage in self.by_model.items()]
        known = [cost for cost in costs if cost is not None]
        return sum(known, Decimal(0)) if costs and len(known) == len(costs) else None


def chain_usage(in_messages: Recorded, beside: Recorded) -> ChainUsage:
    named = next((model for model in beside if model), "")
    recorded = {model: usage for model, usage in (in_messages or beside).items() if any(usage)}
    if named and set(recorded) == {""}:
        recorded = {named: recorded[""]}
    most = max(recorded, key=lambda model: recorded[model].calls, default="")
    return ChainUsage(recorded, most or named)
