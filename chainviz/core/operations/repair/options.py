"""What a person can choose about a repair."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from chainviz.core.errors import OptionsError
from chainviz.core.operations.contract import Options
from chainviz.core.operations.repair.fixes import CHOICES, Fix


class RepairOptions(Options):
    preset: Literal["default", "pentagi"] = Field(
        default="default",
        title="Preset",
        description="default loses nothing and explains each fix; pentagi does exactly what the reference does with force.",
    )
    only: tuple[str, ...] = Field(
        default=(),
        title="Only these",
        description="Ids or names of the fixes to make, such as answer-call; empty: all usual ones.",
    )
    skip: tuple[str, ...] = Field(default=(), title="Not these", description="Ids or names of fixes to leave out.")
    choose: tuple[str, ...] = Field(
        default=(),
        title="Choices",
        description="Another choice for a fix, written fix=choice, such as pending-call=call-to-text.",
    )
    content: bool = Field(
        default=True,
        title="Check contents too",
        description="Also mend arguments that are no JSON and offer to drop empty texts; reads every message.",
    )

    def chosen(self) -> dict[str, str]:
        """Fix id, name or rule to the choice made for it."""
        chosen = {}
        for text in self.choose:
            key, _, choice = text.rpartition("=")
            if not key or choice not in CHOICES:
                raise OptionsError(
                    f"“{text[:80]}” is no choice; write fix=choice, the choice one of {', '.join(CHOICES)}."
                )
            chosen[key] = choice
        return chosen

    def accepts(self, fix: Fix) -> bool:
        names = {fix.id, fix.name, fix.rule, fix.choice}
        if names & set(self.skip):
            return False
        return bool(names & set(self.only)) if self.only else fix.default
