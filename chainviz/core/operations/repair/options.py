"""What a person can choose about a repair."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from chainviz.core.errors import OptionsError
from chainviz.core.operations.contract import Options
from chainviz.core.operations.repair.fixes import CHOICES, Fix

NO_FIX = "nothing"
"""As the only fix wanted: all are offered, none is made."""
_FIX_LABELS: dict[str, Any] = {
    **{name: label for name, (label, _) in CHOICES.items()},
    "drop-leading": "Drop everything before the first human message",
    "note-system": "Change a system message to a human message",
    "system-to-start": "Merge a system message into the first one",
    "note-role": "Change a message of an unknown role to a human message",
    "join-turns": "Join messages of one turn",
    "image-to-text": "Put a note in the place of an image or file",
}
"""By choice, so that it can be read without the problem that it fixes."""


class RepairOptions(Options):
    preset: Literal["default", "pentagi"] = Field(
        default="default",
        title="Preset",
        description="default loses nothing and explains each fix; pentagi does exactly what the reference does with force.",
        json_schema_extra={
            "choices": {"default": "Fixes that lose nothing", "pentagi": "Exactly as PentAGI, with force"}, "hint": ""
        },
    )
    goal: str = Field(
        default="",
        title="Goal",
        description="With a provider, only what its API rejects is fixed, opt-in fixes included. Without one, structure problems.",
    )
    resumes: bool = Field(
        default=False,
        title="Valid when resumed",
        description="With a goal: the chain must be valid with one more human message, as when an agent resumes a session.",
    )
    only: tuple[str, ...] = Field(
        default=(),
        title="Only these fixes",
        description="Ids or names of the fixes to make, such as answer-call; empty: all usual ones.",
        json_schema_extra={"choices": _FIX_LABELS, "hint": "None ticked means all usual ones."},
    )
    skip: tuple[str, ...] = Field(
        default=(),
        title="Not these fixes",
        description="Ids or names of fixes to skip.",
        json_schema_extra={"choices": _FIX_LABELS, "hint": ""},
    )
    choose: tuple[str, ...] = Field(
        default=(),
        title="Other fixes for a problem",
        description="Written problem=fix, such as pending-call=call-to-text.",
    )
    since: str = Field(
        default="",
        title="From here on",
        description="Path of a node, such as s2.p1: only this node and later ones are fixed.",
    )
    content: bool = Field(
        default=True,
        title="Check contents too",
        description="Also fix invalid JSON in arguments and offer to drop empty texts; reads every message.",
    )

    def chosen(self) -> dict[str, str]:
        """Fix id, name or rule to the choice made for it."""
        chosen = {}
        for text in self.choose:
            key, _, choice = text.rpartition("=")
            if not key or choice not in CHOICES:
                raise OptionsError(
                    f"“{text[:80]}” is not a choice; write fix=choice with one of the choices {', '.join(CHOICES)}."
                )
            chosen[key] = choice
        return chosen

    def asks_for(self, name: str) -> bool:
        """Whether a fix that fits one provider only is wanted: by its name, by its id, or because every fix is to be offered."""
        return any(each in (name, NO_FIX) or each.startswith(f"{name}@") for each in self.only)

    def accepts(self, fix: Fix) -> bool:
        names = {fix.id, fix.name, fix.rule, fix.choice}
        if names & set(self.skip):
            return False
        return bool(names & set(self.only)) if self.only else fix.default
