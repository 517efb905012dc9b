"""Messages of AgentScope: Anthropic's blocks with a speaker's name. Results are a message of the system, under the call's id.

A session holds pairs: a message, and the list of its marks.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from chainviz.core.chain.messages import SYSTEM, TOOL, Fragment, Message
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Pointer, Sample
from chainviz.core.formats.blocks import Blocks, Run, value_at
from chainviz.core.formats.contract import Style
from chainviz.core.formats.vendors.anthropic.blocks import ResultForm, is_result, patched_content, read_blocks
from chainviz.core.formats.vendors.anthropic.messages import AnthropicBlocksFormat

_MEMBERS = frozenset(("id", "name", "role", "content", "metadata", "timestamp"))
_OTHERS = ("tool_calls", "tool_call_id", "parts")
"""Members of messages of other programs."""


class _Output(ResultForm):
    id_key = "id"
    name_key = "name"

    def content_at(self, item: dict[str, Any]) -> Pointer:
        return ("output",)


class AgentScope(AnthropicBlocksFormat):
    name = "agentscope"
    label = "AgentScope messages"
    tested_with = "source of AgentScope 1.0"
    template = ""
    form = _Output()
    blocks = Blocks(("content",), partial(read_blocks, form=form), partial(patched_content, form=form))
    words = {**AnthropicBlocksFormat.words, TOOL: "system"}

    def confidence(self, sample: Sample) -> float:
        return 0.98 if any(map(_is_own, sample.values)) else 0.0

    def runs(self, word: str, content: Any) -> list[Run]:
        are_results = word == SYSTEM and type(content) is list and content and all(map(is_result, content))
        return [(TOOL, None)] if are_results else super().runs(word, content)

    def head(self, message: Message, style: Style) -> dict[str, str]:
        """A message without the name of its speaker cannot be loaded."""
        head = super().head(message, style)
        name = string_of(value_at(parse(style.near), self.blocks_at[:-1]), "name") if style.near else ""
        return {"name": name or head["role"], **head}


class AgentScopeSession(AgentScope):
    name = "agentscope_session"
    label = "AgentScope session"
    blocks_at = (0, "content")
    blocks = replace(AgentScope.blocks, at=blocks_at)

    def is_message(self, value: object) -> bool:
        return isinstance(value, list) and len(value) == 2 and isinstance(value[1], list) and super().is_message(value[0])

    def confidence(self, sample: Sample) -> float:
        pairs = [value for value in sample.values if self.is_message(value)]
        return 0.98 if any(string_of(message, "name") for message, _ in pairs) else 0.0

    def _new(self, message: Message, style: Style) -> Fragment:
        made = super()._new(message, style)
        return replace(made, text=f"[{made.text}, []]")


def _is_own(value: Any) -> bool:
    """Return True for a message as `Msg.to_dict` writes it, or one with a result."""
    if not isinstance(value, dict) or not string_of(value, "name"):
        return False
    is_dumped = value.keys() >= _MEMBERS and value.keys().isdisjoint(_OTHERS)
    return is_dumped or any(is_result(item) and "output" in item for item in objects_of(value, "content"))
