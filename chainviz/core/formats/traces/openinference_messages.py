"""OpenInference spans whose messages are lists, as Phoenix has them in its tables: members `message.role`, `message.content`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.units import Sample
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, inner, unknown

_ASKED = ("llm.input_messages", "attributes.llm.input_messages", "input_messages")
_ANSWERED = ("llm.output_messages", "attributes.llm.output_messages", "output_messages")


class OpenInferenceMessages(ReadOnlyUnits):
    name = "openinference_messages"
    label = "OpenInference spans as a table"
    tested_with = "semantic conventions of OpenInference, Phoenix"
    hints = ("message.role", "message")
    sequences = tuple(((asked,), (answered,)) for asked, answered in zip(_ASKED, _ANSWERED, strict=True))

    def is_message(self, value: object) -> bool:
        """A nested message has a text as `content` and its blocks in `contents`; an answer of Bedrock has blocks as `content`."""
        message = inner(value, "message") if isinstance(value, dict) and value.keys() == {"message"} else {}
        is_nested = bool(string_of(message, "role")) and not isinstance(message.get("content"), list)
        return is_nested or bool(string_of(value, "message.role"))

    def confidence(self, sample: Sample) -> float:
        """Members may be objects inside of objects, in lists of this name alone."""
        is_named = sample.key in (*_ASKED, *_ANSWERED)
        own = any(self.is_message(value) and (is_named or "message.role" in value) for value in sample.values)
        return self.certainty if own else 0.0

    def messages_in(self, value: Any) -> Sequence[Said]:
        message = _members(value, "message")
        role, content = message["role"], as_text(message.get("content"))
        if role == "tool":
            return [(role, [ToolResult(string_of(message, "tool_call_id"), string_of(message, "name"), content)])]
        said: list[Part] = [Text(content)] if content else []
        return [(role, [*said, *map(_content, objects_of(message, "contents")), *_calls(message)])]


def _members(value: dict[str, Any], name: str) -> dict[str, Any]:
    """The members of an object that is one, or that attributes spell: `{"message.role": …}`."""
    spelled = {key.removeprefix(f"{name}."): item for key, item in value.items() if key.startswith(f"{name}.")}
    return {**inner(value, name), **spelled}


def _content(item: dict[str, Any]) -> Part:
    content = _members(item, "message_content")
    url = string_of(_members(_members(content, "image"), "image"), "url") or string_of(content, "image.image.url")
    text = string_of(content, "text")
    return Text(text) if text else Image(url) if url else unknown(item)


def _calls(message: dict[str, Any]) -> Iterator[ToolCall]:
    for item in objects_of(message, "tool_calls"):
        call = _members(item, "tool_call")
        function = _members(call, "function")
        yield ToolCall(string_of(call, "id"), string_of(function, "name"), as_text(function.get("arguments")))
