"""Values in the text of an action section, and why there are none. Knows no syntax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from chainviz.core.errors import ChainError
from chainviz.core.text_formats.line_index import LineIndex

ErrorKind = Literal["missing_tool_name", "invalid_json", "invalid_yaml"]


@dataclass(frozen=True, slots=True)
class Located:
    """A value that should be a call; `text[start:end]` is how the text spells it."""

    value: Any
    start: int
    end: int
    is_json: bool = True


class CallsError(ChainError):
    """`offset` counts characters of the text, `line` and `column` count from 1."""

    def __init__(self, kind: ErrorKind, what: str, lines: LineIndex, offset: int) -> None:
        self.kind = kind
        self.what = what
        self.offset = offset
        self.line, self.column = lines.place(offset)
        super().__init__(f"Line {self.line}, column {self.column}: {what}.")
