"""What joining the chunks of every API needs. A chunk that is unknown or cut off adds nothing; arguments of a call are joined as
text, so their spelling stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from chainviz.core.dialects.blocks.anthropic_write import input_text
from chainviz.core.dialects.patching import Speller
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import dump

Chunk = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Joined:
    units: tuple[str, ...]
    """JSON texts of the message's units."""
    note: str = ""
    """Why the message ended, or what is odd about it."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """The chunks of one API."""

    is_chunk: Callable[[Chunk], bool]
    joined: Callable[[Sequence[Chunk]], Joined]
    key: Callable[[Chunk], str] = lambda chunk: ""
    """What all chunks of a message share; "" for a chunk that does not say. Another key begins another message."""
    opens: Callable[[Chunk], bool] = lambda chunk: False
    """Whether a chunk is the first one of a message."""
    is_whole: Callable[[Chunk], bool] = lambda chunk: False
    """Whether a chunk may be an answer that was not streamed."""
    is_proof: Callable[[Chunk], bool] = lambda chunk: True
    """Whether a chunk tells the API apart from others with the same form."""


def object_at(value: Any, key: str) -> Chunk:
    found = value.get(key) if type(value) is dict else None
    return found if type(found) is dict else {}


def list_at(value: Any, key: str) -> list[Any]:
    found = value.get(key) if type(value) is dict else None
    return found if type(found) is list else []


def index_of(chunk: Chunk, key: str = "index") -> int | None:
    """The number of the block or item that a chunk belongs to; None where it has none."""
    found = chunk.get(key)
    return found if type(found) is int else None


def append_text(holder: Chunk, key: str, text: Any) -> None:
    """Append a piece of text to a member; None and "" say nothing, but a text that is there stays one."""
    before = holder.get(key)
    if type(text) is str and (text or before is None):
        holder[key] = (before if type(before) is str else "") + text


def with_arguments(block: Chunk, key: str, text: str) -> str:
    """The JSON of a block whose arguments, which chunks spell as text, go under `key`; as it is without any."""
    if not text:
        return dump(block)
    unit = json_edit.load_object(dump(block))
    unit.set(key, input_text(text, Speller("", True)))
    return str(unit)


def message_text(members: Chunk, contents: Sequence[str]) -> str:
    """The JSON of an assistant message, whatever role a chunk gives it, with the JSON of its content blocks."""
    unit = json_edit.load_object(dump({**members, "role": "assistant", "content": []}))
    unit.set("content", f"[{', '.join(contents)}]")
    return str(unit)
