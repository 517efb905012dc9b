"""Results of tools: the conventions by which texts contain results, and a result with its call.

Offsets count characters of the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chainviz.core.chain.messages import Binary, Image, byte_size
from chainviz.core.text_formats.contract import IgnoredRange
from chainviz.core.toolchain.results import is_error

Convention = str
RAW, BRACKETS, MARKDOWN, XML = "raw", "brackets", "markdown", "xml"
"""The marks of results in a text: none, `[tool]` lines, `# tool` headers, or `<tool>` tags."""
LABELS = {RAW: "Raw", BRACKETS: "Brackets", MARKDOWN: "Markdown", XML: "XML"}
NATIVE, UNKNOWN = "native", "unknown"
"""The other conventions of a message: a tool message, and a text that only looks like results."""

WHOLE_ACTION = "error"
"""The section that says why an action failed before any tool ran."""


@dataclass(frozen=True, slots=True)
class Block:
    """One result in a text."""

    name: str
    """The tool; "" for the error of a whole action without a header."""
    content: str
    start: int = -1
    end: int = -1
    """The content is `text[start:end]`; -1 for a block that was not read."""
    outer_start: int = -1
    """The start of its header or opening tag."""

    @property
    def is_error(self) -> bool:
        return is_error(self.content)

    @property
    def size(self) -> int:
        """Bytes of the content."""
        return byte_size(self.content)


@dataclass(frozen=True, slots=True)
class TextObservation:
    """The results in one text."""

    convention: Convention
    is_wrapped: bool
    """True if the results are inside `<observation>` tags or under an `# observation` header."""
    start: int
    end: int
    """The range from the wrapper or the first header to the end of the last result."""
    blocks: tuple[Block, ...]
    ignored: tuple[IgnoredRange, ...] = ()
    """Text between `start` and `end` that belongs to no result."""


@dataclass(frozen=True, slots=True)
class CallPlace:
    """A call in an AI message."""

    message: int
    part: int
    name: str
    how: Literal["id", "order"]
    """How the result was found."""
    start: int = -1
    end: int = -1
    """The range in the part's text; -1 for a native call."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One result of a tool."""

    tool: str
    content: str
    is_error: bool
    part: int
    """Index of its part in the message."""
    start: int
    end: int
    """The range in the part's text, or in the content of a native result."""
    call: CallPlace | None
    """The call, or None if no call of the AI message before has this id or name."""
    media: tuple[Image | Binary, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of the content."""
        return byte_size(self.content)


@dataclass(frozen=True, slots=True)
class ObservedMessage:
    """A tool message, or a text of a human message that contains results."""

    message: int
    part: int
    """The text's index in the message; 0 for a tool message."""
    convention: str
    answers: int | None
    """The index of the AI message before it."""
    results: tuple[Observation, ...]
    size: int
    """Size of the results with their headers in bytes."""
    text: TextObservation | None = None
    """The results in a text."""
    names: tuple[str, ...] = ()
    """For an unknown convention: header names that are not tools of the chain."""
