"""The input and output of a policy. A policy sees places, tools and sizes, but never contents."""

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
"""Stands for all tools in a list of tool names."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A part of a message that may be redacted."""

    kind: Kind
    message: int
    part: int
    role: str
    letter: int
    """Index of its letter in the history."""
    row: MatrixRow
    """The row of the decision matrix, given by the messages that follow."""
    call_id: str = ""
    tools: tuple[str, ...] = ()
    """The names of all tools that are called with this id in the chain. Empty for a result without a call, and for parts that
    belong to no tool."""
    name: str = ""
    """The tool's name in the part itself, if it has one."""
    use: int = -1
    """The number of the tool use, or -1 if there is none. A result and the arguments of its call have the same number."""
    size: int | None = None
    """The size of its content in bytes, or None if the message has to be read to find out."""

    @property
    def is_tool_use(self) -> bool:
        return self.kind in ("result", "arguments")


@dataclass(frozen=True, slots=True)
class Verdict:
    redact: bool
    reason: str


class Settings(Protocol):
    """The options that policies use."""

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
        """Return a verdict for each candidate. Only selected candidates are passed, in the order of the chain."""

    def affordable(self, savings: Mapping[int, int], options: Settings) -> tuple[Collection[int], str]:
        """Return the tool uses that are worth redacting, and the reason why the others are not. `savings` contains the saved bytes
        by tool use, oldest first."""
        return savings, ""
