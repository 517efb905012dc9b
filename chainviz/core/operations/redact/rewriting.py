"""Replace the content of parts by a placeholder. Call ids, pairs and signatures stay valid: signed reasoning is removed completely
or not at all. By default a placeholder contains nothing of the content that it replaces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from chainviz.core.chain.messages import Binary, Image, Message, Part, Reasoning, Text, Thinking, ToolCall, ToolResult, byte_size
from chainviz.core.operations.redact.policy import Candidate


@dataclass(frozen=True, slots=True)
class Rewritten:
    part: Part | None
    """The new part, or None if the part is removed."""
    before: int
    """Size of the replaced content in bytes."""
    after: int
    already: bool = False
    """True if the part was already redacted."""


def rewritten(part: Part, candidate: Candidate, template: str) -> Rewritten:
    match candidate.kind, part:
        case "result", ToolResult():
            return _result(part, candidate, template)
        case "arguments", ToolCall():
            size = byte_size(part.arguments)
            done = part.arguments.strip() in (NO_ARGUMENTS, "")
            return Rewritten(replace(part, arguments=NO_ARGUMENTS), size, len(NO_ARGUMENTS), done)
        case "text", Text():
            text = render(template, part.text, "")
            done = is_placeholder(part.text, template, ("",))
            return Rewritten(replace(part, text=text), part.size, byte_size(text), done)
        case "reasoning", Thinking():
            return Rewritten(None, byte_size(part.content) + byte_size(part.signature), 0)
        case "reasoning", Text() | ToolCall():
            reasoning = part.reasoning or Reasoning()
            size = byte_size(reasoning.content) + byte_size(reasoning.signature)
            return Rewritten(replace(part, reasoning=None), size, 0, part.reasoning is None)
        case "media", Image() | Binary():
            text = render(template, "", "", part.size)
            return Rewritten(Text(text), part.size, byte_size(text))
        case "media", ToolResult():
            return _media(part, template)
        case _:
            return Rewritten(part, part.size, part.size, already=True)


def _result(part: ToolResult, candidate: Candidate, template: str) -> Rewritten:
    tools = candidate.tools or (part.name,)
    size = byte_size(part.content) + sum(item.size for item in part.media)
    text = render(template, part.content, tools[0], size)
    done = not part.media and is_placeholder(part.content, template, tools)
    return Rewritten(replace(part, content=text, media=()), size, byte_size(text), done)


def _media(part: ToolResult, template: str) -> Rewritten:
    size = sum(item.size for item in part.media)
    text = render(template, "", part.name, size)
    content = f"{part.content}\n{text}" if part.content else text
    after = byte_size(content) - byte_size(part.content)
    return Rewritten(replace(part, content=content, media=()), size, after, not part.media)


def rewritten_message(message: Message, candidates: Sequence[Candidate], template: str) -> Message:
    parts: list[Part | None] = list(message.parts)
    for candidate in candidates:
        part = parts[candidate.part]
        if part is not None:
            parts[candidate.part] = rewritten(part, candidate, template).part
    left = tuple(part for part in parts if part is not None)
    return replace(message, parts=left or (Text(render(template, "", "", 0)),))


# The store records which parts were redacted (see `marked` in decide.py). In a file, no provider's message has a field for
# this, so a content counts as redacted if it is a placeholder of this template or of the default one.


DEFAULT = "[redacted]"
FIELDS = ("tool", "bytes", "lines")
NO_ARGUMENTS = "{}"
"""Replaces a call's arguments, which have to be a JSON object."""

_FIELD = re.compile(r"\{([^{}]*)\}")


def unknown_fields(template: str) -> list[str]:
    return [name for name in _FIELD.findall(template) if name not in FIELDS]


def render(template: str, content: str, tool: str, size: int | None = None) -> str:
    if "{" not in template:
        return template
    values = {"tool": tool, "bytes": str(byte_size(content) if size is None else size), "lines": str(_lines(content))}
    return _FIELD.sub(lambda found: values[found[1]], template)


def is_placeholder(text: str, template: str, tools: tuple[str, ...]) -> bool:
    return text == DEFAULT or bool(_shape(template, tools).fullmatch(text))


@lru_cache
def _shape(template: str, tools: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(re.escape(tool) for tool in tools)
    fields = {"tool": f"(?:{names})", "bytes": "[0-9]+", "lines": "[0-9]+"}
    # every second piece is the name of a field
    pieces = _FIELD.split(template)
    return re.compile("".join(fields[piece] if place % 2 else re.escape(piece) for place, piece in enumerate(pieces)))


def _lines(content: str) -> int:
    return content.count("\n") + (not content.endswith("\n")) if content else 0
