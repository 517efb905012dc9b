"""A message and its parts: immutable values with their exact content size.

The size of a part is counted in bytes, texts as UTF-8: text, URL, decoded binary, tool call (id + type + name + arguments) or tool
result (call id + name + content). Role and reasoning count 0. Equality compares content only, not the `source` of a message or the
`origin` of a part.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol

from chainviz.core.chain.fast_init import fast_init

Role = str
"""One of system, human, ai and tool, or a role that the tree does not know."""

SYSTEM, HUMAN, AI, TOOL = "system", "human", "ai", "tool"
ROLE_NAMES = {SYSTEM: "System", HUMAN: "Human", AI: "AI", TOOL: "Tool"}
"""The names of roles on pages and in exports."""


NEW, SLOT = -1, -2

FREE_FORM = "custom"
"""The type of a call whose arguments are plain text, not JSON (OpenAI's custom tools)."""


def byte_size(text: str) -> int:
    """Return the length of `text` in UTF-8 bytes. A lone surrogate counts 3, like U+FFFD, which other programs replace it with."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


@fast_init
@dataclass(frozen=True, slots=True)
class Fragment:
    """The share of one source unit in one message. A unit may feed several messages, and a message may come from several units."""

    ordinal: int
    """Position of the unit in its document, from 0; NEW if no document contains the unit yet, SLOT for a top-level system prompt."""
    lead: str
    """The separator and white space before the unit."""
    text: str
    """The whole unit, spelled as in the source."""
    blocks: tuple[int, ...] | None = None
    """Indexes of the content blocks in `text` that belong to this message; None if the whole unit does."""
    start: int = -1
    """Byte offset of `text` in the upload, just after the lead; -1 if the upload does not contain `text` unchanged."""
    value: Any = field(default=None, init=False, compare=False, repr=False)
    """The decoded JSON of `text`; never change it. None if it is not decoded yet (see `value_of` in documents/json)."""
    is_usual: bool = field(default=False, init=False, compare=False, repr=False)
    """Whether the unit is known to have only a role, a text and calls in OpenAI's form, all of them shown by its message (see
    `is_usual` in vendors/openai_form)."""

    def with_text(self, text: str) -> Fragment:
        """Return the fragment with this text. A text that differs has no place in the upload."""
        return self if text == self.text else replace(self, text=text, start=-1)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Reasoning that a provider attaches to a text or a tool call."""

    content: str = ""
    signature: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.content and not self.signature


def _origin() -> int:
    return field(default=-1, compare=False, repr=False, kw_only=True)


def _size() -> int:
    return field(init=False, compare=False, repr=False)  # type: ignore[no-any-return]


@fast_init
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
    """An address or a data: URL, spelled as in the source."""
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


@fast_init
@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning as a part of its own, in order with the other parts (Anthropic thinking, Responses reasoning)."""

    content: str
    signature: str = ""
    redacted: bool = False
    origin: int = _origin()
    size: int = _size()

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 0)


@fast_init
@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: str
    """The arguments in the spelling of the source: its string, or the JSON text of its object."""
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


@fast_init
@dataclass(frozen=True, slots=True)
class ToolResult:
    call_id: str
    name: str
    content: str
    is_error: bool = False
    media: tuple[Image | Binary, ...] = ()
    """Images and files inside the result; they count in its size."""
    type: str = field(default="function", compare=False, kw_only=True)
    """The type of the call that this result answers, if the source states it."""
    origin: int = _origin()
    size: int = _size()

    def __post_init__(self) -> None:
        size = byte_size(self.call_id) + byte_size(self.name) + byte_size(self.content)
        object.__setattr__(self, "size", size + sum([part.size for part in self.media]))


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


def with_origin(part: Part, origin: int) -> Part:
    """Return the part with its index among the parts of its source. Copies the fields, since every part that is read is numbered, and
    `replace` would measure its text again."""
    kind = type(part)
    made = object.__new__(kind)
    for name in kind.__slots__:
        object.__setattr__(made, name, getattr(part, name))
    object.__setattr__(made, "origin", origin)
    return made


class CallRef(NamedTuple):
    """The id, name and part index by which a call and its result are matched."""

    id: str
    name: str
    part: int


class Shape(Protocol):
    """The properties of a message that the tree needs. Both `Message` and a stored message without its body have them."""

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
    """A shape with what a chain also knows without reading the body."""

    @property
    def has_text(self) -> bool:
        """Whether the message has a text that is not empty."""


@fast_init
@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    parts: tuple[Part, ...] = ()
    source: tuple[Fragment, ...] = field(default=(), compare=False, repr=False, kw_only=True)
    """Fragments in source order; empty for a message that no document contains yet."""
    label: str = field(default="", compare=False, kw_only=True)
    """The source's own word for the role, if it is more specific (developer, exit)."""
    note: str = field(default="", compare=False, kw_only=True)
    """The stop reason, if the source gives one."""
    size: int = _size()
    calls: tuple[CallRef, ...] = field(init=False, compare=False, repr=False)
    results: tuple[CallRef, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        parts, set_field = self.parts, object.__setattr__
        calls: tuple[CallRef, ...] = ()
        results: tuple[CallRef, ...] = ()
        if self.role == AI:
            calls = tuple([CallRef(part.id, part.name, i) for i, part in enumerate(parts) if type(part) is ToolCall and part.has_function])
        elif self.role == TOOL:
            results = tuple([CallRef(part.call_id, part.name, i) for i, part in enumerate(parts) if type(part) is ToolResult])
        set_field(self, "size", parts[0].size if len(parts) == 1 else sum([part.size for part in parts]))
        set_field(self, "calls", calls)
        set_field(self, "results", results)

    @property
    def is_user_action(self) -> bool:
        return self.role == HUMAN and any(type(part) in (ToolCall, ToolResult) for part in self.parts)

    @property
    def has_text(self) -> bool:
        return any(type(part) is Text and part.size for part in self.parts)


def detached(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return the parts without their `origin`, for use in another message."""
    return tuple(replace(part, origin=-1) for part in parts)


def is_blank(part: Part) -> bool:
    """Return True for a text of white space without reasoning."""
    return isinstance(part, Text) and not part.text.strip() and (part.reasoning is None or part.reasoning.is_empty)


def text_of(message: Message) -> str:
    """Return the plain text of a message, its parts joined by line breaks."""
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


PART_TYPES = frozenset(
    ("text", "image_url", "input_audio", "file", "refusal", "tool_use", "tool_result", "thinking", "redacted_thinking",
     "image", "document", "search_result", "server_tool_use", "input_text", "output_text", "input_image", "input_file",
     "tool-call", "tool-result", "reasoning", "tool_call", "tool_response", "document_url", "image_file")
)  # fmt: skip
"""Types that at least one API defines; every other API is certain to refuse them."""
OF_SOME = frozenset(
    ("video_url", "audio_url", "video", "audio", "media", "resource", "resource_link", "json", "custom", "container_upload",
     "computer_screenshot", "mcp_tool_use", "compaction", "cache_control", "binary", "reasoning-file", "custom-content")
)  # fmt: skip
"""Types that only some servers, programs or API releases define."""


def is_known(type: str) -> bool:
    return type in PART_TYPES or type in OF_SOME or type.endswith(("_tool_result", "-url", "-data", "-id"))
