"""What a chain's document says of its tools: JSON schemas of arguments and results, by the tool's name.

Knows the spellings of OpenAI (Chat and Responses), Anthropic, Gemini, Bedrock Converse and MCP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chainviz.core.usage.beside import declared_tools

Schema = Mapping[str, Any]
_ARGUMENTS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
_RESULTS = ("outputSchema", "output_schema", "response", "responseJsonSchema")


@dataclass(frozen=True, slots=True)
class ToolSchemas:
    arguments: Mapping[str, Schema] = field(default_factory=dict)
    results: Mapping[str, Schema] = field(default_factory=dict)


NO_SCHEMAS = ToolSchemas()


def tool_schemas(beside: Mapping[str, Any]) -> ToolSchemas:
    """From the members beside the messages, such as `tools` of a request; what is odd is left out."""
    arguments: dict[str, Schema] = {}
    results: dict[str, Schema] = {}
    for tool in declared_tools(beside):
        for schemas, keys in ((arguments, _ARGUMENTS), (results, _RESULTS)):
            schema = next((tool[key] for key in keys if isinstance(tool.get(key), dict)), None)
            if schema is not None:
                schemas[tool["name"]] = schema.get("json", schema)
    return ToolSchemas(arguments, results)


def allows_text(schema: Any) -> bool:
    """Whether a value of this schema may be a string."""
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return "string" in kind if isinstance(kind, list) else kind == "string"
