"""What a policy sees and answers. It knows places, tools and sizes, never contents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from chainviz.core.operations.redact.decision_matrix import History, MatrixRow

Kind = Literal["result", "arguments", "reasoning", "media", "text"]
KIND_LABELS: dict[str, str] = {
    "result": "Tool results",
    "arguments": "Arguments of calls",
    "reasoning": "Reasoning",
    "media": "Pictures and files",
    "text": "Texts",
}
EVERY = "*"
"""Where tools are named: all of them."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A part of a message that may be redacted."""

    kind: Kind
    message: int
    part: int
    role: str
    letter: int
    """Its place among the history's letters."""
    row: MatrixRow
    """The row of the seed's decision matrix that what follows falls into."""
    call_id: str = ""
    tools: tuple[str, ...] = ()
    """Every tool called with this id anywhere in the chain; empty for an orphan and for what is no tool's."""
    name: str = ""
    """The tool's name as the part itself says it, if it does."""
    use: int = -1
    """Which tool use it belongs to: the number of its result, shared by the call's arguments; -1 for none."""
    size: int | None = None
    """Bytes of its content; None where the message has to be read to know."""

    @property
    def is_tool_use(self) -> bool:
        return self.kind in ("result", "arguments")


@dataclass(frozen=True, slots=True)
class Verdict:
    redact: bool
    reason: str


class Settings(Protocol):
    """What policies read of the options."""

    keep: int
    trigger: int
    trigger_type: Literal["input_tokens", "tool_uses"]
    clear_at_least: int
    at_least: Literal["or_nothing", "then_stop"]
    bytes_per_token: float
    superseded_by: Literal["same_tool", "same_call"]


class Policy(ABC):
    name: str
    label: str

    @abstractmethod
    def verdicts(self, candidates: Sequence[Candidate], history: History, options: Settings) -> Sequence[Verdict]:
        """One verdict a candidate; only selected candidates come, in the order of the chain."""

    def affordable(self, savings: Mapping[int, int], options: Settings) -> tuple[Collection[int], str]:
        """Return the tool uses that are worth redacting, and the reason why the others are not. `savings`: bytes by
        use, oldest first."""
        return savings, ""
