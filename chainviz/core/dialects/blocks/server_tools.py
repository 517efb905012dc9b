"""Tools that Anthropic's API runs itself: call and result are in one assistant turn, as parts the tree does not know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainviz.core.chain.messages import Message, Opaque
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.json import edit as json_edit

_CALLS = frozenset(("server_tool_use", "mcp_tool_use"))
_RESULT = "_tool_result"


def lone_results(message: Message) -> Iterator[tuple[int, Opaque]]:
    """Results, with their place, of no call before them in the message. Assistant messages in a row are one turn to the
    API: what follows another one directly is not judged."""
    called: set[str] = set()
    for i, part in enumerate(message.parts):
        if not isinstance(part, Opaque):
            continue
        if part.kind in _CALLS:
            called.add(_word(part, "id"))
        elif part.kind.endswith(_RESULT) and _word(part, "tool_use_id") not in called:
            yield i, part


def lone_calls(message: Message) -> Iterator[tuple[int, Opaque]]:
    """Calls, with their place, of which no result is behind them in the message."""
    answered: set[str] = set()
    found: list[tuple[int, Opaque]] = []
    for i, part in reversed(list(enumerate(message.parts))):
        if isinstance(part, Opaque) and part.kind.endswith(_RESULT):
            answered.add(_word(part, "tool_use_id"))
        elif isinstance(part, Opaque) and part.kind in _CALLS and _word(part, "id") not in answered:
            found.append((i, part))
    return reversed(found)


def is_programmatic(message: Message) -> bool:
    """Whether it calls tools from code that the API runs: the block of such a call names its caller."""
    return bool(message.calls) and any(
        '"caller"' in fragment.text and any(map(_is_called_by_code, _blocks_of(fragment.text))) for fragment in message.source
    )


def _blocks_of(text: str) -> list[dict[str, Any]]:
    return objects_of(json_edit.parse(text), "content")


def _is_called_by_code(block: dict[str, Any]) -> bool:
    return block.get("type") == "tool_use" and string_of(block.get("caller"), "type", "direct") != "direct"


def _word(part: Opaque, key: str) -> str:
    return string_of(json_edit.parse(part.text), key)
