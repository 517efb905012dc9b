"""Errors a person's input can cause. Each is one sentence: what is wrong, where, and what can be done."""

from __future__ import annotations


class ChainError(Exception):
    """The base of every refusal; its text is shown to the person as it is."""


class DocumentError(ChainError):
    """The bytes cannot be read. `line` and `column` count from 1 and are 0 where they mean nothing.

    `salvage` counts the complete messages before the fault; `raw` says that the text can still be kept as raw text.
    `what` is the fault alone, "" where it has no place.
    """

    def __init__(
        self, text: str, line: int = 0, column: int = 0, offset: int = 0, salvage: int = 0, raw: bool = False,
        what: str = "",
    ) -> None:  # fmt: skip
        super().__init__(text)
        self.line = line
        self.column = column
        self.offset = offset
        self.salvage = salvage
        self.raw = raw
        self.what = what


class PathError(ChainError):
    """A path that names no node of this chain."""


class OptionsError(ChainError):
    """Options that an operation cannot take."""


class Refused(ChainError):
    """An operation that cannot be done on this chain, and why."""
