"""A message without its body: what the tree, a closed row and a chart need, in a few bytes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from sys import intern
from typing import Any, NamedTuple

from chainviz.core.chain.fast_init import fast_init
from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    PART_KINDS,
    ROLE_NAMES,
    TOOL,
    Binary,
    CallRef,
    Image,
    Message,
    Opaque,
    Part,
    PartKind,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.store.content.at_hand import forgettable
from chainviz.store.content.codec import inflated, pack_text, unpack

PREVIEW = 200
KINDS: tuple[PartKind, ...] = ("text", "image", "binary", "thinking", "tool_call", "tool_result", "opaque")
_NUMBERS = {kind: i for i, kind in enumerate(KINDS)}
_PART_NUMBERS = {type: _NUMBERS[kind] for type, kind in PART_KINDS.items()}
_quote = json.encoder.encode_basestring_ascii
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


class PartShape(NamedTuple):
    """A part without its content; a tuple, because a long chain has very many and nothing is made as quickly."""

    kind: PartKind
    size: int
    id: str = ""
    name: str = ""
    flag: bool = False
    """True for a call without function, or a result that is an error."""


@fast_init
@dataclass(frozen=True, slots=True)
class StoredShape:
    """A stored message whose body was not read, with the properties of core's Shape. Small, since a long chain has very
    many."""

    role: str
    size: int
    parts: tuple[PartShape, ...]
    label: str = ""
    note: str = ""
    preview: str = ""
    calls: tuple[CallRef, ...] = field(init=False, compare=False, repr=False)
    results: tuple[CallRef, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        calls: tuple[CallRef, ...] = ()
        results: tuple[CallRef, ...] = ()
        if self.role == AI:
            calls = tuple([CallRef(p.id, p.name, i) for i, p in enumerate(self.parts) if p.kind == "tool_call" and not p.flag])
        elif self.role == TOOL:
            results = tuple([CallRef(p.id, p.name, i) for i, p in enumerate(self.parts) if p.kind == "tool_result"])
        object.__setattr__(self, "calls", calls)
        object.__setattr__(self, "results", results)

    @property
    def is_user_action(self) -> bool:
        return self.role == HUMAN and any(part.kind in ("tool_call", "tool_result") for part in self.parts)

    @property
    def has_text(self) -> bool:
        return any(part.kind == "text" and part.size for part in self.parts)


def pack_skeleton(message: Message) -> bytes:
    # spelled by hand, since an encoder costs more to set up than these few words
    parts = message.parts
    texts = _part_text(parts[0]) if len(parts) == 1 else ",".join([_part_text(part) for part in parts])
    return pack_text(f"[{_quote(message.role)},[{texts}],{_quote(message.label)},{_quote(message.note)}]")


def _part_text(part: Part) -> str:
    number = _PART_NUMBERS[type(part)]
    if type(part) is ToolCall:
        return f"[{number},{part.size},{_quote(part.id)},{_quote(part.name)},{int(not part.has_function)}]"
    if type(part) is ToolResult:
        return f"[{number},{part.size},{_quote(part.call_id)},{_quote(part.name)},{int(part.is_error)}]"
    return f"[{number},{part.size}]"


UNKNOWN = f"[{_NUMBERS['opaque']},".encode()
"""The beginning of a part of an unknown kind in a skeleton."""


def has_unknown_part(skeleton: bytes) -> bool:
    """Return True if a message may have a part of an unknown kind; quick, so a name can look like one."""
    return UNKNOWN in inflated(skeleton)


_ROLES = {f'["{role}",'.encode(): role for role in ROLE_NAMES}


def role_in(skeleton: bytes) -> str:
    """Return the role in a packed skeleton."""
    role = _ROLES.get(skeleton[: skeleton.find(b",") + 1])
    return str(unpack(skeleton)[0]) if role is None else role


LARGE = 1_000
"""The size of a packed skeleton from which it is cached, because a page reads the shape of a message with very many
parts several times."""


def unpack_shape(skeleton: bytes, size: int, preview: str) -> StoredShape:
    return unpack_large(bytes(skeleton), size, preview) if len(skeleton) > LARGE else _unpack(skeleton, size, preview)


@forgettable
@lru_cache(maxsize=4)
def unpack_large(skeleton: bytes, size: int, preview: str) -> StoredShape:
    return _unpack(skeleton, size, preview)


def _unpack(skeleton: bytes, size: int, preview: str) -> StoredShape:
    role, parts, label, note = unpack(skeleton)
    return StoredShape(intern(role), size, tuple([_part_shape(part) for part in parts]), label, note, preview)


def _part_shape(packed: list[Any]) -> PartShape:
    if len(packed) == 2:
        return PartShape(KINDS[packed[0]], packed[1])
    number, size, id, name, flag = packed
    return PartShape(KINDS[number], size, intern(id), intern(name), bool(flag))  # a call and its result have the same id


def shape_of_part(part: Part) -> PartShape:
    return _part_shape(json.loads(_part_text(part)))


def shape_of(message: Message) -> StoredShape:
    """Return the shape as the store gives it back."""
    return unpack_shape(pack_skeleton(message), message.size, preview(message))


def clean(text: str) -> str:
    """Return `text` in a form that any database accepts: control characters and lone surrogates become U+FFFD."""
    return text if text.isprintable() else _UNFIT.sub("\ufffd", text)


def preview(message: Message) -> str:
    """Return the first words a person would read, in one line."""
    taken = ""
    for part in message.parts:
        if len(taken) >= PREVIEW:
            break
        words = _in_one_line(_words(part))
        taken = f"{taken} {words}" if taken and words else taken or words
    return taken[:PREVIEW]


def _in_one_line(text: str) -> str:
    """Return the beginning of the text, clean and with single spaces between its words."""
    beginning = text[: PREVIEW + 1]
    if beginning.isprintable() and "  " not in beginning and beginning[:1] != " " and (len(beginning) > PREVIEW or beginning[-1:] != " "):
        return beginning
    # white space may fill much of the text: take more than will be kept, much more only where that is needed
    line = " ".join(text[: PREVIEW + 50].split())
    return clean(line if len(line) >= PREVIEW else " ".join(text[: PREVIEW * 4].split()))


def _words(part: Part) -> str:
    if type(part) is Text:
        return part.text
    if type(part) is Thinking:
        return part.content
    if type(part) is ToolCall:
        return f"{part.name} {part.arguments[: PREVIEW * 4]}"
    if type(part) is ToolResult:
        return part.content
    if type(part) is Image:
        return part.url
    if type(part) is Binary:
        return part.mime
    assert type(part) is Opaque
    return part.kind
