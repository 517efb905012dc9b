"""Requests of OpenAI's Chat Completions, and of other APIs that use them with small differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from chainviz.core.formats.requests.form import NewRequest, RequestForm
from chainviz.core.formats.requests.settings import (
    NO_ARGUMENTS,
    Change,
    Members,
    Reasoning,
    ResponseFormat,
    Tool,
    ToolChoice,
    function_members,
    own_tool,
    read_function,
)

_MODES: Mapping[Any, ToolChoice] = {
    "auto": ToolChoice("auto"), "none": ToolChoice("none"), "required": ToolChoice("required"), "any": ToolChoice("required"),
    "REQUIRED": ToolChoice("required"), "NONE": ToolChoice("none"),
}  # fmt: skip
"""Tool choices by their names, including those of Mistral and Cohere."""


class OpenAILikeForm(RequestForm):
    def read_tools(self, members: Members) -> Iterator[Tool | Change]:
        name = members.name(("tools",))
        for index, value in enumerate(members.take(("tools",), list, "tools") or ()):
            yield from self.read_tool(value, f"{name}[{index}]")
        name = members.name(("functions",))
        for index, value in enumerate(members.take(("functions",), list) or ()):
            yield from read_function(value, f"{name}[{index}]", "parameters")

    def read_tool(self, value: Any, place: str) -> Iterable[Tool | Change]:
        if isinstance(value, dict) and isinstance(value.get("function"), dict):
            return read_function(value["function"], f"{place}.function", "parameters")
        return (own_tool(value, place),)

    def read_tool_choice(self, members: Members) -> tuple[ToolChoice | None, bool | None]:
        places = (("tool_choice",), ("function_call",))
        found = [members.read(place, (str, dict), "tool_choice", read_choice) for place in places]
        return found[0] or found[1], members.take(("parallel_tool_calls",), bool, "parallel_calls")

    def read_response_format(self, members: Members) -> ResponseFormat | None:
        return members.read(("response_format",), dict, "response_format", read_response_format)

    def read_reasoning(self, members: Members) -> Reasoning | None:
        effort = members.take(("reasoning_effort",), str, "reasoning")
        return Reasoning(effort) if effort else None

    def write_tools(self, new: NewRequest, tools: Sequence[Tool]) -> None:
        new.put(("tools",), [{"type": "function", "function": self.function(new, tool)} for tool in tools])

    def function(self, new: NewRequest, tool: Tool) -> dict[str, Any]:
        return function_members(tool, "parameters", tool.strict)

    def write_tool_choice(self, new: NewRequest, choice: ToolChoice | None, parallel: bool | None) -> None:
        if choice and choice.names:
            new.put(("tool_choice",), self.function_choice(new, choice))
        elif choice:
            new.put(("tool_choice",), choice.mode)
        if parallel is not None:
            new.put(("parallel_tool_calls",), parallel)

    def function_choice(self, new: NewRequest, choice: ToolChoice) -> Any:
        """Return the choice of one function. For several functions, only the mode is written."""
        if len(choice.names) == 1 and choice.mode == "required":
            return {"type": "function", "function": {"name": choice.names[0]}}
        new.leave_out("tool_choice")
        return choice.mode

    def write_response_format(self, new: NewRequest, format: ResponseFormat) -> None:
        if format.schema is None:
            new.put(("response_format",), {"type": "json_object"})
        else:
            new.put(("response_format",), {"type": "json_schema", "json_schema": json_schema_members(format)})

    def write_reasoning(self, new: NewRequest, reasoning: Reasoning) -> None:
        effort = self.effort_of(new, reasoning)
        if effort:
            new.put(("reasoning_effort",), effort)


def read_choice(value: Any) -> ToolChoice | None:
    """Read `tool_choice` of Chat Completions or Responses, or the older `function_call`."""
    if isinstance(value, str):
        return _MODES.get(value)
    if not isinstance(value, dict):
        return None
    allowed = value.get("allowed_tools", value if value.get("type") == "allowed_tools" else None)
    if isinstance(allowed, dict):
        tools = allowed.get("tools")
        names = tuple(name for tool in tools if (name := _name(tool))) if isinstance(tools, list) else ()
        return ToolChoice("required" if allowed.get("mode") == "required" else "auto", names)
    name = _name(value)
    return ToolChoice("required", (name,)) if name else None


def _name(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    inner = next((value[key] for key in ("function", "custom") if isinstance(value.get(key), dict)), value)
    return inner["name"] if isinstance(inner.get("name"), str) else ""


def read_response_format(value: dict[str, Any]) -> ResponseFormat | None:
    """Read `response_format`: JSON with or without a schema, or text. Returns None for any other type."""
    kind, inner = value.get("type"), value.get("json_schema")
    if isinstance(inner, dict):
        return read_json_schema(inner.get("schema", inner), inner)
    return ResponseFormat(is_text=kind == "text") if kind in ("json_object", "text") else None


def read_json_schema(schema: Any, beside: Mapping[str, Any]) -> ResponseFormat | None:
    """Read a JSON schema. `beside` is the object with its name, description and strictness."""
    if not isinstance(schema, Mapping):
        return None
    name, description = (str(beside.get(key) or "") for key in ("name", "description"))
    strict = beside.get("strict")
    return ResponseFormat(schema, name, description, strict if isinstance(strict, bool) else None)


def json_schema_members(format: ResponseFormat) -> dict[str, Any]:
    members: dict[str, Any] = {"name": format.name or "response"}
    if format.description:
        members["description"] = format.description
    members["schema"] = format.schema or NO_ARGUMENTS
    if format.strict is not None:
        members["strict"] = format.strict
    return members
