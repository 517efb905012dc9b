"""OpenAI Chat Completions and what speaks like it: bare lists, requests, responses, JSON Lines, tau-bench, tau2."""

from __future__ import annotations

from chainviz.core.dialects.chat.openai_read import ROLES
from chainviz.core.dialects.chat.openai_write import OWN_KINDS, Accent
from chainviz.core.dialects.members import string_of
from chainviz.core.documents.units import Sample
from chainviz.core.formats.accepts import PDF, Accepts
from chainviz.core.formats.chat_format import ChatFormat

_PROOFS = ("tool_calls", "tool_call_id", "function_call", "reasoning_content", "refusal")
_FOREIGN_BLOCKS = frozenset(
    ("tool_use", "tool_result", "redacted_thinking", "server_tool_use", "tool-call", "tool-result", "input_text",
     "output_text", "functionCall", "functionResponse", "toolUse", "toolResult")
)  # fmt: skip


class OpenAIChat(ChatFormat):
    name = "openai_chat"
    label = "OpenAI Chat Completions"
    api = "openai_chat"
    accepts = Accepts(kinds=OWN_KINDS, files=frozenset((PDF,)), media_in_results=False, free_form_calls=True)
    accent = Accent(result_names=False)
    tested_with = "openai 3.54, LiteLLM, Helicone, Weave, Braintrust, tau-bench, tau2, mini-swe-agent 1.x"
    answers = ((), ("choices", "message"))
    sequences = (
        (("request", "messages"), ("response", "choices", "message")),
        (("request", "body", "messages"), ("response", "body", "choices", "message")),
        (("messages",), ("response", "choices", "message")),
        (("proxy_server_request", "messages"), ("response", "choices", "message")),
        (("request_body", "messages"), ("response_body", "choices", "message")),
        (("inputs", "messages"), ("output", "choices", "message")),
        (("input",), ("output", "message")),
    )
    carried_fields = frozenset(("raw_data", "raw_output", "codex_reasoning_items", "codex_message_items", "provider_specific_fields"))
    known_roles = frozenset(("exit",))

    def confidence(self, sample: Sample) -> float:
        """Plain role and content lists are taken for this format: it is the most common one."""
        score = 0.0
        for value in sample.values:
            if not isinstance(value, dict) or not isinstance(value.get("role"), str):
                if isinstance(value, dict) and isinstance(value.get("type"), str):
                    return 0.1
                continue
            if "parts" in value and "content" not in value:
                return 0.0
            content = value.get("content")
            if isinstance(content, list) and any(string_of(item, "type") in _FOREIGN_BLOCKS for item in content):
                return 0.05
            if isinstance(content, list) and any(isinstance(item, dict) and "type" not in item for item in content):
                score = max(score, 0.1)
                continue
            known = value["role"] in ROLES and value["role"] != "model"
            score = max(score, 0.9 if any(key in value for key in _PROOFS) else 0.6 if known else 0.3)
        return score
