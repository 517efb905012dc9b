"""A message and its parts: immutable values with their exact content size.

The size of a part is the seed's (seed 0, Size Tracking Features): UTF-8 bytes of text, URL, decoded binary, tool call
(id + type + name + arguments) and tool result (call id + name + content). Role and reasoning count 0.
Equality looks at content only: where a message came from (`source`) and where a part lay in it (`origin`) do not count.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

Role = str
"""system, human, ai or tool; any other word is a role the tree does not know."""

SYSTEM, HUMAN, AI, TOOL = "system", "human", "ai", "tool"
ROLE_NAMES = {SYSTEM: "System", HUMAN: "Human", AI: "AI", TOOL: "Tool"}
"""What pages and exports call them."""


NEW, SLOT = -1, -2

FREE_FORM = "custom"
"""The type of a call whose arguments are plain text, no JSON (OpenAI's custom tools)."""


def byte_size(text: str) -> int:
    """UTF-8 bytes of `text`; a lone surrogate counts 3, as the U+FFFD that other programs put in its place."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class Fragment:
    """What one source unit gives to one message (DESIGN 4.1)."""

    ordinal: int
    """Place of the unit in its document, from 0; NEW for a unit no document holds yet, SLOT for the top-level system."""
    lead: str
    """The bytes between the unit before and this one: separator and white space."""
    text: str
    """The whole unit as the source spells it."""
    blocks: tuple[int, ...] | None = None
    """Indexes of the content blocks in `text` that belong to this message; None: the unit is this message alone."""
    start: int = -1
    """Byte offset of `text` in the upload (the lead lies just before it); -1 where it is not from there as it is."""
    value: Any = field(default=None, init=False, compare=False, repr=False)
    """The decoded JSON of `text`, which nobody may change; None where it has to be decoded (value_of in documents/json)."""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Reasoning that a provider hangs on a text or a tool call."""

    content: str = ""
    signature: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.content and not self.signature


def _origin() -> int:
    return field(default=-1, compare=False, repr=False, kw_only=True)


def _size() -> int:
    return field(init=False, compare=False, repr=False)  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    reasoning: Reasoning | None = None
    origin: int = _origin()
    """Index among the parts read from the source; -1 for a part that was not read."""
    size: int = _size()

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", byte_size(self.text))


@dataclass(frozen=True, slots=True)
class Image:
    url: str
    """An address or a data: URL, as the source spells it."""
    detail: str = ""
    origin: int = _origin()
    size: int = _size()

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", byte_size(self.url))


@dataclass(frozen=True, slots=True)
class Binary:
    mime: str
    content: bytes
    """Decoded bytes."""
    origin: int = _origin()
    size: int = _size()

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", len(self.content))


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning that is a part of its own, in its place among the others (Anthropic thinking, Responses reasoning)."""

    content: str
    signature: str = ""
    redacted: bool = False
    origin: int = _origin()
    size: int = _size()

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 0)


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: str
    """The source's own spelling: the string, or the JSON text of the object."""
    type: str = "function"
    has_function: bool = True
    """False for a call without name and arguments (a Go nil FunctionCall): sized, but never matched."""
    reasoning: Reasoning | None = None
    origin: int = _origin()
    size: int = _size()

    def __post_init__(self) -> None:
        size = byte_size(self.id) + byte_size(self.type)
        if self.has_function:
            size += byte_size(self.name) + byte_size(self.arguments)
        object.__setattr__(self, "size", size)


@dataclass(frozen=True, slots=True)
class ToolResult:
    call_id: str
    name: str
    content: str
    is_error: bool = False
    media: tuple[Image | Binary, ...] = ()
    """Images and files inside the result; they count in its size."""
    type: str = field(default="function", compare=False, kw_only=True)
    """The type of the call that it answers, where its source or that call says it."""
    origin: int = _origin()
    size: int = _size()

    def __post_init__(self) -> None:
        size = byte_size(self.call_id) + byte_size(self.name) + byte_size(self.content)
        object.__setattr__(self, "size", size + sum(part.size for part in self.media))


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part of an unknown type. It is passed on unchanged and its size counts as 0."""

    kind: str
    text: str
    """Its JSON text."""
    origin: int = _origin()
    size: int = _size()

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 0)


Part = Text | Image | Binary | Thinking | ToolCall | ToolResult | Opaque
PartKind = Literal["text", "image", "binary", "thinking", "tool_call", "tool_result", "opaque"]
PART_KINDS: dict[type, PartKind] = {
    Text: "text", Image: "image", Binary: "binary", Thinking: "thinking",
    ToolCall: "tool_call", ToolResult: "tool_result", Opaque: "opaque",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CallRef:
    """What matching needs of a tool call."""

    id: str
    name: str
    part: int


class Shape(Protocol):
    """The properties of a message that the tree needs. `Message` has them, and so has a stored message whose body was
    not read."""

    @property
    def role(self) -> Role: ...
    @property
    def size(self) -> int: ...
    @property
    def calls(self) -> tuple[CallRef, ...]:
        """Tool calls with a function, if the role is ai; else empty."""
    @property
    def results(self) -> tuple[CallRef, ...]:
        """Tool results, if the role is tool; else empty."""
    @property
    def is_user_action(self) -> bool:
        """Whether this is a human message that calls tools or contains their results, as in tau2's dual control."""


class ShapeInChain(Shape, Protocol):
    """The properties of a message that a chain knows in addition."""

    @property
    def has_text(self) -> bool:
        """Whether it has a text that is not empty."""


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    parts: tuple[Part, ...] = ()
    source: tuple[Fragment, ...] = field(default=(), compare=False, repr=False, kw_only=True)
    """In source order; empty for a message that no document holds yet."""
    label: str = field(default="", compare=False, kw_only=True)
    """The role as the source spells it, where that says more (developer, exit)."""
    note: str = field(default="", compare=False, kw_only=True)
    """Why the source says the message ended (its stop reason), if it does."""
    size: int = _size()
    calls: tuple[CallRef, ...] = field(init=False, compare=False, repr=False)
    results: tuple[CallRef, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", sum([part.size for part in self.parts]))
        calls: tuple[CallRef, ...] = ()
        results: tuple[CallRef, ...] = ()
        if self.role == AI:
            calls = tuple([
                CallRef(part.id, part.name, i)
                for i, part in enumerate(self.parts)
                if type(part) is ToolCall and part.has_function
            ])
        elif self.role == TOOL:
            results = tuple([
                CallRef(part.call_id, part.name, i)
                for i, part in enumerate(self.parts)
                if type(part) is ToolResult
            ])
        object.__setattr__(self, "calls", calls)
        object.__setattr__(self, "results", results)

    @property
    def is_user_action(self) -> bool:
        return self.role == HUMAN and any(type(part) in (ToolCall, ToolResult) for part in self.parts)

    @property
    def has_text(self) -> bool:
        return any(type(part) is Text and part.size for part in self.parts)


def detached(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return parts for another message: their places in the source of the one that they were read from mean nothing there."""
    return tuple(replace(part, origin=-1) for part in parts)


def is_blank(part: Part) -> bool:
    """A text of nothing but white space, on which no reasoning hangs."""
    return isinstance(part, Text) and not part.text.strip() and (part.reasoning is None or part.reasoning.is_empty)


def text_of(message: Message) -> str:
    """The message's plain text, parts joined by a line break."""
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


PART_TYPES = frozenset(
    ("text", "image_url", "input_audio", "file", "refusal", "tool_use", "tool_result", "thinking", "redacted_thinking",
     "image", "document", "search_result", "server_tool_use", "input_text", "output_text", "input_image", "input_file",
     "tool-call", "tool-result", "reasoning", "tool_call", "tool_response", "document_url", "image_file")
)  # fmt: skip
"""Those that some API knows: one that does not take it is certain to refuse it."""
OF_SOME = frozenset(
    ("video_url", "audio_url", "video", "audio", "media", "resource", "resource_link", "json", "custom", "container_upload",
     "computer_screenshot", "mcp_tool_use", "compaction", "cache_control", "binary", "reasoning-file", "custom-content")
)  # fmt: skip
"""Those that a server or a program knows, or a release of an API."""


def is_known(type: str) -> bool:
    return type in PART_TYPES or type in OF_SOME or type.endswith(("_tool_result", "-url", "-data", "-id"))
