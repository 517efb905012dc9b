"""Errors a person's input can cause. Each is one sentence: what is wrong, where, and what can be done."""

from __future__ import annotations

from dataclasses import dataclass


class ChainError(Exception):
    """The base of every refusal; its text is shown to the person as it is."""


@dataclass(frozen=True, slots=True)
class FaultPlace:
    """Where a document is broken. Line and column count from 1, the offset counts bytes; all are 0 where they mean nothing."""

    line: int = 0
    column: int = 0
    offset: int = 0
    what: str = ""
    """What is wrong there; "" where it has no place."""


NOWHERE = FaultPlace()


class DocumentError(ChainError):
    """The bytes cannot be read.

    `salvage` counts the complete messages before the fault; `raw` says that the text can still be kept as raw text.
    """

    def __init__(self, text: str, fault: FaultPlace = NOWHERE, *, salvage: int = 0, raw: bool = False) -> None:
        super().__init__(text)
        self.fault = fault
        self.salvage = salvage
        self.raw = raw


class PathError(ChainError):
    """A path that names no node of this chain."""


class OptionsError(ChainError):
    """Options that an operation cannot take."""


class Refused(ChainError):
    """An operation that cannot be done on this chain, and why."""


class OutcomeError(Refused):
    """What an operation returned breaks its contract: a defect of the operation, not of the chain or the options."""
