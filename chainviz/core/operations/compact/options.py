"""What a person can choose about a compaction: one or two limits, or a whole strategy as JSON."""

from __future__ import annotations

import json
from typing import Any

from pydantic import Field, field_validator

from chainviz.core.errors import OptionsError
from chainviz.core.operations.compact.compactors.composite import Composite
from chainviz.core.operations.compact.compactors.contract import REDUCTIONS, Compactor, NoBoundary, Reduction
from chainviz.core.operations.compact.compactors.message_limit import MessageLimit
from chainviz.core.operations.compact.compactors.token_limit import TokenLimit
from chainviz.core.operations.compact.strategy_json import parse_strategy
from chainviz.core.operations.contract import Options

_OFF = "0 is off."
NO_LIMIT = "Choose when to compact: a message limit, a token limit or a strategy."
USUAL_LIMITS = {"max_messages": 50, "max_tokens": 8_000}
"""What a form begins with: the numbers of seed 3, Composite Compaction Strategies."""


class CompactOptions(Options):
    strategy: str = Field(
        "",
        title="Strategy",
        description="A tree of compactors as JSON, such as a split of a trigger and a strategy. Replaces the limits below.",
        json_schema_extra={"long": True},
    )
    max_messages: int = Field(
        0,
        ge=0,
        title="Message limit",
        description=f"Keep the last messages. {_OFF}",
        json_schema_extra={"group": "Limits", "unit": "messages"},
    )
    max_tokens: int = Field(
        0,
        ge=0,
        title="Token limit",
        description=f"Compact a state whose last call had more prompt tokens. {_OFF}",
        json_schema_extra={"group": "Limits", "unit": "tokens"},
    )
    target_tokens: int = Field(
        0,
        ge=0,
        title="Down to",
        description="Prompt tokens to compact down to; 0 is 75% of the limit.",
        json_schema_extra={"group": "Limits", "unit": "tokens"},
    )
    reduction: Reduction = Field(
        "to_target",
        title="Reduction",
        description="How token limits remove messages: down to the target, or one third, as the reference does.",
        json_schema_extra={"group": "Limits", "choices": {**REDUCTIONS}, "hint": "How token limits remove messages."},
    )
    if_no_user_boundary: NoBoundary = Field(
        "keep_last_turn",
        title="If no human message follows the cut",
        description="Keep the last turn, or remove everything as the reference does.",
        json_schema_extra={
            "group": "Boundary",
            "choices": {"keep_last_turn": "Keep the last turn", "remove_all": "Remove everything, as goaitools"},
            "hint": "",
        },
    )
    prompt_tokens: int = Field(
        0,
        ge=0,
        title="Prompt tokens",
        description="Of the last call; 0 uses those that the transcript records, else an estimate of 4 bytes per token.",
        json_schema_extra={"group": "Last call"},
    )

    @field_validator("strategy", mode="before")
    @classmethod
    def _as_text(cls, given: Any) -> Any:
        """Python callers may give the tree itself."""
        return json.dumps(given) if isinstance(given, dict) else given

    @field_validator("strategy")
    @classmethod
    def _readable(cls, text: str) -> str:
        if text.strip():
            try:
                parse_strategy(text)
            except OptionsError as refused:
                raise ValueError(str(refused).rstrip(".")) from None
        return text

    @property
    def compactor(self) -> Compactor | None:
        """None where nothing is chosen."""
        if self.strategy.strip():
            return parse_strategy(self.strategy)
        limits: list[Compactor] = []
        if self.max_tokens:
            limits.append(TokenLimit(self.max_tokens, self.target_tokens))
        if self.max_messages:
            limits.append(MessageLimit(self.max_messages))
        return Composite(tuple(limits)) if len(limits) > 1 else next(iter(limits), None)
