"""Messages of Haystack, LlamaIndex, Letta and smolagents, all read only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.documents.units import Sample
from chainviz.core.formats.read_only import ReadOnlyUnits, Turn, as_text, inner, unknown, with_results

_HAYSTACK_KINDS = ("text", "tool_call", "tool_call_result", "reasoning", "image")


class Haystack(ReadOnlyUnits):
    """Chat messages of Haystack: a role, and a list of contents each under the name of its kind."""

    name = "haystack"
    label = "Haystack chat messages"
    tested_with = "source of Haystack 2.9 to 2.20"
    hints = ("content", "_content")

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict):
            return False
        role, content = _members(value)
        is_own = bool(content) and all(len(item) == 1 and next(iter(item)) in _HAYSTACK_KINDS for item in content)
        return is_own and bool(role) and ("meta" in value or "_meta" in value)

    def messages_in(self, value: Any) -> Sequence[Turn]:
        role, content = _members(value)
        return [(role, [_haystack_part(item) for item in content])]


def _members(value: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """Return role and content. Before version 2.13 the names began with an underscore."""
    mark = "_" if "_role" in value else ""
    return string_of(value, f"{mark}role"), objects_of(value, f"{mark}content")


def _haystack_part(item: dict[str, Any]) -> Part:
    call, result = inner(item, "tool_call"), inner(item, "tool_call_result")
    if string_of(item, "text"):
        return Text(item["text"])
    if call:
        return ToolCall(string_of(call, "id"), string_of(call, "tool_name"), dump(call.get("arguments")))
    if result:
        origin = inner(result, "origin")
        content, is_error = as_text(result.get("result")), result.get("error") is True
        return ToolResult(string_of(origin, "id"), string_of(origin, "tool_name"), content, is_error)
    if inner(item, "reasoning"):
        return Thinking(string_of(item["reasoning"], "reasoning_text"))
    image = inner(item, "image")
    return Image(f"data:{string_of(image, 'mime_type')};base64,{string_of(image, 'base64_image')}") if image else unknown(item)


class LlamaIndex(ReadOnlyUnits):
    """Chat messages of LlamaIndex with blocks, as chat stores and memories keep them; calls may lie in `additional_kwargs`."""

    name = "llamaindex"
    label = "LlamaIndex chat messages"
    tested_with = "source of llama-index-core 0.12 to 0.14"
    hints = ("blocks",)

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("role"), str) or not isinstance(value.get("blocks"), list):
            return False
        return "additional_kwargs" in value or any("block_type" in item for item in objects_of(value, "blocks"))

    def messages_in(self, value: Any) -> Sequence[Turn]:
        beside = inner(value, "additional_kwargs")
        parts = [_llama_part(item) for item in objects_of(value, "blocks")]
        if value["role"] in ("tool", "function"):
            text = "\n".join(part.text for part in parts if isinstance(part, Text))
            return [("tool", [ToolResult(string_of(beside, "tool_call_id"), string_of(beside, "name"), text)])]
        return [(value["role"], [*parts, *map(_call, objects_of(beside, "tool_calls"))])]


def _llama_part(item: dict[str, Any]) -> Part:
    kind = string_of(item, "block_type")
    if kind == "text":
        return Text(string_of(item, "text"))
    if kind == "thinking":
        return Thinking(string_of(item, "content"))
    if kind == "tool_call":
        return ToolCall(string_of(item, "tool_call_id"), string_of(item, "tool_name"), as_text(item.get("tool_kwargs")))
    if kind == "image" and string_of(item, "url"):
        return Image(item["url"])
    return unknown({"type": kind, **item})


def _call(item: dict[str, Any]) -> ToolCall:
    function = inner(item, "function") or item
    return ToolCall(string_of(item, "id"), string_of(function, "name"), as_text(function.get("arguments") or function.get("input")))


_SAID = {"system_message": "system", "user_message": "user", "assistant_message": "assistant"}
_LETTA_KINDS = (*_SAID, "reasoning_message", "hidden_reasoning_message", "tool_call_message", "tool_return_message")


class Letta(ReadOnlyUnits):
    """Messages of a Letta agent as its API lists them: each thought, call, result and text is an item of its own."""

    name = "letta"
    label = "Letta messages"
    tested_with = "documentation of the Letta API, 2025"
    hints = ("message_type",)

    def is_message(self, value: object) -> bool:
        return string_of(value, "message_type") in _LETTA_KINDS

    def messages_in(self, value: Any) -> Sequence[Turn]:
        kind = value["message_type"]
        if kind in _SAID:
            return [(_SAID[kind], [Text(as_text(value.get("content")))])]
        if kind == "tool_call_message":
            calls = objects_of(value, "tool_calls") or [inner(value, "tool_call")]
            made = [ToolCall(string_of(call, "tool_call_id"), string_of(call, "name"), as_text(call.get("arguments"))) for call in calls]
            return [("assistant", made)]
        if kind == "tool_return_message":
            content, is_error = as_text(value.get("tool_return")), string_of(value, "status") == "error"
            return [("tool", [ToolResult(string_of(value, "tool_call_id"), string_of(value, "name"), content, is_error)])]
        hidden = string_of(value, "hidden_reasoning")
        return [("assistant", [Thinking(string_of(value, "reasoning"), string_of(value, "signature") or hidden, redacted=bool(hidden))])]


class Smolagents(ReadOnlyUnits):
    """The memory of a smolagents agent: its system prompt, the task, and steps with what the model wrote, called and observed.
    What the model was sent is repeated in each step and is not shown again.
    """

    name = "smolagents"
    label = "smolagents memory"
    tested_with = "source of smolagents 1.12 to 1.22"
    hints = ("system_prompt", "task", "step_number", "plan", "task_images")
    carried_fields = frozenset(("model_input_messages", "model_output_message"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or "role" in value:
            return False
        is_step = "step_number" in value and ("observations" in value or "model_output" in value)
        is_plan = isinstance(value.get("plan"), str) and "model_output_message" in value
        return is_step or is_plan or ("task_images" in value and "task" in value) or [*value] == ["system_prompt"]

    def confidence(self, sample: Sample) -> float:
        """A list of tasks has no steps."""
        steps = [value for value in sample.values if self.is_message(value)]
        return 0.97 if any("step_number" in value or "plan" in value for value in steps) else 0.5 if steps else 0.0

    def messages_in(self, value: Any) -> Sequence[Turn]:
        for key, role in (("system_prompt", "system"), ("task", "user"), ("plan", "assistant")):
            if isinstance(value.get(key), str):
                return [(role, [Text(value[key])])]
        wrote = as_text(value.get("model_output") or inner(value, "model_output_message").get("content"))
        calls = [*_calls(value)]
        parts: list[Part] = [*([Text(wrote)] if wrote else []), *calls]
        observed = "\n".join(filter(None, (string_of(value, "observations"), _error(value))))
        if calls:
            return with_results("assistant", parts, [_result(calls[0], observed, value)] if observed else [])
        return [("assistant", parts), *([("user", [Text(observed)])] if observed else [])]


def _calls(step: dict[str, Any]) -> Iterator[ToolCall]:
    for call in objects_of(step, "tool_calls"):
        function = inner(call, "function") or call
        yield ToolCall(string_of(call, "id"), string_of(function, "name"), as_text(function.get("arguments")))


def _error(step: dict[str, Any]) -> str:
    return string_of(inner(step, "error"), "message")


def _result(call: ToolCall, observed: str, step: dict[str, Any]) -> ToolResult:
    return ToolResult(call.id, call.name, observed, bool(_error(step)))
