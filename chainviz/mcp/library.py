"""The questions that tools ask the place with the chains: this machine, or a team server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from chainviz.api.chain import Chain


@dataclass(frozen=True, slots=True)
class Search:
    """The sessions to search for. Empty texts match every session."""

    words: str = ""
    """Text that the title, the folder or, with `in_texts`, the transcript contains."""
    agent: str = ""
    project: str = ""
    in_texts: bool = False
    limit: int = 20


@dataclass(frozen=True, slots=True)
class Sessions:
    lines: Sequence[str]
    """A line for each session that begins with its address."""
    cut: str = ""
    """What was not searched or not listed, in a sentence."""


@dataclass(frozen=True, slots=True)
class Fix:
    lines: Sequence[str]
    """The changes with their reasons, and what remains."""
    outcome: str
    """A sentence on whether something changed."""


class Library(Protocol):
    def sessions(self, search: Search) -> Sessions: ...

    def chains(self, address: str) -> Sequence[Chain]:
        """Return the chains at an address that `sessions` listed. Raises ChainError."""

    def fix(self, address: str, write: bool) -> Fix:
        """Work out what makes a session valid again, and write it where the person allowed writing. Raises ChainError."""

    def save(self, address: str, number: int, operation: str, options: Mapping[str, Any]) -> str:
        """Keep what an operation makes of a chain; the original stays. Return where it is. Raises ChainError."""
