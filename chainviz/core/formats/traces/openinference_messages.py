"""OpenInference spans whose messages are lists, as Phoenix has them in its tables: members `message.role`, `message.content`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, unknown

_ASKED = ("llm.input_messages", "attributes.llm.input_messages")
_ANSWERED = ("llm.output_messages", "attributes.llm.output_messages")


class OpenInferenceMessages(ReadOnlyUnits):
    name = "openinference_messages"
    label = "OpenInference spans as a table"
    tested_with = "semantic conventions of OpenInference, Phoenix"
    hints = ("message.role",)
    sequences = tuple(((asked,), (answered,)) for asked, answered in zip(_ASKED, _ANSWERED, strict=True))

    def is_message(self, value: object) -> bool:
        return bool(string_of(value, "message.role"))

    def messages_in(self, value: Any) -> Sequence[Said]:
        role, content = value["message.role"], as_text(value.get("message.content"))
        if role == "tool":
            return [(role, [ToolResult(string_of(value, "message.tool_call_id"), string_of(value, "message.name"), content)])]
        said: list[Part] = [Text(content)] if content else []
        return [(role, [*said, *map(_content, objects_of(value, "message.contents")), *_calls(value)])]


def _content(item: dict[str, Any]) -> Part:
    text, url = string_of(item, "message_content.text"), string_of(item, "message_content.image.image.url")
    return Text(text) if text else Image(url) if url else unknown(item)


def _calls(message: dict[str, Any]) -> Iterator[ToolCall]:
    for item in objects_of(message, "message.tool_calls"):
        arguments = as_text(item.get("tool_call.function.arguments"))
        yield ToolCall(string_of(item, "tool_call.id"), string_of(item, "tool_call.function.name"), arguments)
