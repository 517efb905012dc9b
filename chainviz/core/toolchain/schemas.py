"""What a chain's document says of its tools: JSON schemas of arguments and results, by the tool's name.

Knows the spellings of OpenAI (Chat and Responses), Anthropic, Gemini, Bedrock Converse and MCP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Schema = Mapping[str, Any]
_ARGUMENTS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
_RESULTS = ("outputSchema", "output_schema", "response", "responseJsonSchema")
_WRAPPERS = ("function", "toolSpec")
_LISTS = ("functionDeclarations", "function_declarations")


@dataclass(frozen=True, slots=True)
class ToolSchemas:
    arguments: Mapping[str, Schema] = field(default_factory=dict)
    results: Mapping[str, Schema] = field(default_factory=dict)


NO_SCHEMAS = ToolSchemas()


def tool_schemas(beside: Mapping[str, Any]) -> ToolSchemas:
    """From the members beside the messages, such as `tools` of a request; what is odd is left out."""
    arguments: dict[str, Schema] = {}
    results: dict[str, Schema] = {}
    config = beside.get("toolConfig")
    tools = beside.get("tools") or (config.get("tools") if isinstance(config, dict) else None)
    for tool in _declared(tools):
        for schemas, keys in ((arguments, _ARGUMENTS), (results, _RESULTS)):
            schema = next((tool[key] for key in keys if isinstance(tool.get(key), dict)), None)
            if schema is not None:
                schemas[tool["name"]] = schema.get("json", schema)
    return ToolSchemas(arguments, results)


def _declared(tools: Any) -> Iterator[dict[str, Any]]:
    for tool in tools if isinstance(tools, list) else ():
        if not isinstance(tool, dict):
            continue
        if isinstance(tool.get("name"), str):
            yield tool
        for key in (*_WRAPPERS, *_LISTS):
            inner = tool.get(key)
            yield from _declared(inner if isinstance(inner, list) else [inner])


def allows_text(schema: Any) -> bool:
    """Whether a value of this schema may be a string."""
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return "string" in kind if isinstance(kind, list) else kind == "string"
