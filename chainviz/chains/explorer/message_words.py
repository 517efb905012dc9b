"""What a single message is called in a list, from its shape alone: role, name and teaser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chainviz.chains.explorer.row_views import first_argument, preview_words
from chainviz.chains.render.rows import TEASER
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL
from chainviz.store.content.message_shapes import StoredShape

NAME = 80


@dataclass(frozen=True, slots=True)
class MessageWords:
    role: str
    """system, human, ai or tool: gives hue and icon."""
    name: str
    teaser: str
    kind: str = ""
    """"calls" or "result" beside the name of a tool."""


def words_of(shape: StoredShape, tools: Mapping[str, str] | None = None) -> MessageWords:
    """`tools`: the tool that each call id named before calls, for results that do not say it."""
    preview = marks(one_line(preview_words(shape), TEASER))
    if shape.role == TOOL:
        names = [result.name or (tools or {}).get(result.id, "") for result in shape.results]
        return MessageWords("tool", _joined(names) or "Result", preview, "result" if any(names) else "")
    if shape.role == AI and shape.calls:
        names = [call.name for call in shape.calls]
        said = first_argument(preview_words(shape), names[0])
        return MessageWords("tool", _joined(names) or "Call", marks(one_line(said, TEASER)), "calls")
    if shape.is_user_action:
        names = [part.name or (tools or {}).get(part.id, "") for part in shape.parts if part.kind in ("tool_call", "tool_result")]
        is_call = any(part.kind == "tool_call" for part in shape.parts)
        return MessageWords("human", _joined(names) or "Tool", preview, "user calls" if is_call else "user's result")
    name = {SYSTEM: "System", HUMAN: "Human", AI: "Answer"}.get(shape.role) or marks(one_line(shape.role, NAME))
    return MessageWords(shape.role if shape.role in (SYSTEM, HUMAN, AI) else "tool", name, preview)


def _joined(names: list[str]) -> str:
    return marks(one_line(", ".join(dict.fromkeys(name for name in names if name)), NAME))
