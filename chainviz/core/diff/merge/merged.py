"""What becomes of a value that both sides changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, get_args

Value = TypeVar("Value")
Choice = Literal["mine", "theirs", "both"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
SIDES = CHOICES[:2]


@dataclass(frozen=True, slots=True)
class Merged(Generic[Value]):
    mine: Value
    """The changes of both sides, mine where both changed the same."""
    theirs: Value
    both: Value | None
    """None where both cannot be kept."""
    has_conflicts: bool
    """Both sides changed the same; else `mine`, `theirs` and `both` are one."""

    @property
    def choices(self) -> tuple[Choice, ...]:
        return SIDES if self.both is None else CHOICES

    def chosen(self, choice: Choice) -> Value:
        """Raises ValueError where both cannot be kept."""
        found = {"mine": self.mine, "theirs": self.theirs, "both": self.both}[choice]
        if found is None:
            raise ValueError("both is not offered for this conflict")
        return found


def settled(value: Value) -> Merged[Value]:
    return Merged(value, value, value, has_conflicts=False)
