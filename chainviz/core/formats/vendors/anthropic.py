"""Anthropic Messages: requests with their top-level system, bare lists, response messages."""

from __future__ import annotations

from typing import Any

from chainviz.core.dialects.blocks.anthropic_read import OWN_KINDS, ROLES
from chainviz.core.documents.units import Sample
from chainviz.core.formats.accepts import PDF, Accepts
from chainviz.core.formats.anthropic_blocks_format import AnthropicBlocksFormat

_PROOFS = frozenset(
    ("tool_use", "tool_result", "redacted_thinking", "server_tool_use", "web_search_tool_result", "search_result",
     "document", "container_upload", "mcp_tool_use", "mcp_tool_result", "compaction")
)  # fmt: skip
_OTHERS = (None, "input_text", "output_text", "tool-call", "tool-result", "image_url", "input_image")
"""Block types of other formats; Bedrock's blocks have none."""
_THEIR_ROLES = frozenset(("tool", "function", "developer", "model", "human", "ai"))
_AGAINST = ("tool_calls", "tool_call_id", "function_call", "reasoning_content", "parts")


class Anthropic(AnthropicBlocksFormat):
    name = "anthropic"
    label = "Anthropic Messages"
    api = "anthropic"
    accepts = Accepts(kinds=OWN_KINDS, files=frozenset((PDF,)))
    tested_with = "anthropic 2.12, Cline and Roo Code 3"
    slot_key = "system"
    answers = ((), ("response",), ("response", "body"), ("response_body",), ("output",), ("outputBodyJson",))
    sequences = (
        (("request", "messages"), ("response",)),
        (("request", "body", "messages"), ("response", "body")),
        (("request_body", "messages"), ("response_body",)),
        (("inputs", "messages"), ("output",)),
        (("input", "inputBodyJson", "messages"), ("output", "outputBodyJson")),
    )

    def confidence(self, sample: Sample) -> float:
        score = 0.0
        for value in sample.values:
            if not isinstance(value, dict) or not isinstance(value.get("role"), str):
                if isinstance(value, dict) and isinstance(value.get("type"), str):
                    return 0.05
                continue
            if any(key in value for key in _AGAINST) or value["role"] in _THEIR_ROLES:
                return 0.0
            content = value.get("content")
            blocks = content if isinstance(content, list) else []
            score = max(score, 0.3 if value["role"] in ROLES else 0.05, *[_rate_block(item) for item in blocks])
            if any(isinstance(item, dict) and item and item.get("type") in _OTHERS for item in blocks):
                return 0.05
            if value.get("type") == "message" and "stop_reason" in value:
                score = 0.97
            if "ts" in value and blocks:
                score = max(score, 0.7)  # Cline and Roo, whatever API they talk to
        return max(score, _rate_envelope(sample.beside)) if score or not sample.values else 0.0


def _rate_block(item: Any) -> float:
    if not isinstance(item, dict):
        return 0.0
    kind = item.get("type")
    if (isinstance(kind, str) and kind in _PROOFS) or (kind == "image" and isinstance(item.get("source"), dict)):
        return 0.95
    return 0.9 if kind == "thinking" and isinstance(item.get("thinking"), str) else 0.0


def _rate_envelope(beside: dict[str, Any]) -> float:
    tools = beside.get("tools")
    if isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools):
        return 0.95
    if "anthropic_version" in beside or isinstance(beside.get("mcp_servers"), list):
        return 0.95
    management = beside.get("context_management")
    if isinstance(management, dict) and isinstance(management.get("edits"), list):
        return 0.95
    system = beside.get("system")
    if isinstance(system, str) and system:
        return 0.8
    if isinstance(system, list) and system and all(isinstance(i, dict) and i.get("type") == "text" for i in system):
        return 0.9
    return 0.0


