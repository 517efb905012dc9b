"""OpenAI Chat Completions and what speaks like it: bare lists, requests, responses, JSON Lines, tau-bench, tau2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.dialects.chat.openai_read import ROLES
from chainviz.core.dialects.chat.openai_write import OWN_KINDS, Accent
from chainviz.core.dialects.members import string_of
from chainviz.core.documents.units import Sample
from chainviz.core.formats.accepts import PDF, Accepts
from chainviz.core.formats.chat_format import ChatFormat
from chainviz.core.formats.requests.changes import Change
from chainviz.core.formats.requests.form import NewRequest
from chainviz.core.formats.requests.json_schema import fits_strict
from chainviz.core.formats.requests.members import Place
from chainviz.core.formats.requests.openai_like import OpenAILikeForm
from chainviz.core.formats.requests.settings import EFFORTS, Reasoning, ResponseFormat, Tool, ToolChoice
from chainviz.core.formats.requests.tools import function_members, read_function

_PROOFS = ("tool_calls", "tool_call_id", "function_call", "reasoning_content", "refusal")
_FOREIGN_BLOCKS = frozenset(
    ("tool_use", "tool_result", "redacted_thinking", "server_tool_use", "tool-call", "tool-result", "input_text",
     "output_text", "functionCall", "functionResponse", "toolUse", "toolResult")
)  # fmt: skip


class OpenAIChatForm(OpenAILikeForm):
    """openai-python, types/chat/completion_create_params.py."""

    family = "openai"
    numbers = {
        "max_tokens": (("max_completion_tokens",), ("max_tokens",)), "temperature": (("temperature",),), "top_p": (("top_p",),),
        "seed": (("seed",),), "presence_penalty": (("presence_penalty",),), "frequency_penalty": (("frequency_penalty",),),
    }  # fmt: skip
    limits = {"temperature": (0, 2), "top_p": (0, 1)}
    stop_at: Sequence[Place] = (("stop",),)
    most_stops = 4
    efforts = EFFORTS

    def read_tool(self, value: Any, place: str) -> Iterable[Tool | Change]:
        if isinstance(value, dict) and isinstance(value.get("custom"), dict):
            custom = value["custom"]
            return (
                replace(each, grammar=_flat_grammar(custom.get("format"))) if isinstance(each, Tool) else each
                for each in read_function({**custom, "format": None}, f"{place}.custom", "parameters")
            )
        is_flat = isinstance(value, dict) and "function" not in value and value.get("type", "function") == "function"
        return read_function(value, place, "parameters") if is_flat else super().read_tool(value, place)

    def fitting(self, new: NewRequest) -> tuple[Tool, ...]:
        return new.settings.tools

    def write_tools(self, new: NewRequest, tools: Sequence[Tool]) -> None:
        new.put(("tools",), [_tool(self, new, tool) for tool in tools])

    def function(self, new: NewRequest, tool: Tool) -> dict[str, Any]:
        strict = tool.strict
        if strict and not fits_strict(tool.schema):
            new.changes.append(Change("left-out", f"{tool.place}.strict"))
            strict = None
        return function_members(tool, "parameters", strict)

    def named_choice(self, new: NewRequest, choice: ToolChoice) -> Any:
        if len(choice.names) == 1 and choice.mode == "required":
            return super().named_choice(new, choice)
        tools = [{"type": "function", "function": {"name": name}} for name in choice.names]
        return {"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": tools}}


def _tool(form: OpenAIChatForm, new: NewRequest, tool: Tool) -> dict[str, Any]:
    if tool.grammar is None:
        return {"type": "function", "function": form.function(new, tool)}
    members = {"name": tool.name, **({"description": tool.description} if tool.description else {})}
    return {"type": "custom", "custom": {**members, **({"format": _nested_grammar(tool.grammar)} if tool.grammar else {})}}


def _flat_grammar(value: Any) -> Mapping[str, Any]:
    """The format of a custom tool as Responses spells it, without an object of its own for the grammar."""
    grammar = value.get("grammar") if isinstance(value, dict) else None
    return {"type": "grammar", **grammar} if isinstance(grammar, dict) else value if isinstance(value, dict) else {}


def _nested_grammar(value: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = {key: each for key, each in value.items() if key != "type"}
    return {"type": "grammar", "grammar": inner} if value.get("type") == "grammar" else value


class FineTuningLine(OpenAIChatForm):
    """A line of a file for fine-tuning: messages and tools, no settings (platform.openai.com/docs/guides/supervised-fine-tuning)."""

    model_at = ()
    numbers = {}
    stop_at = ()

    def write_tool_choice(self, new: NewRequest, choice: ToolChoice | None, parallel: bool | None) -> None:
        super().write_tool_choice(new, None, parallel)
        if choice and choice.mode != "auto":
            new.leave_out("tool_choice")

    def write_response_format(self, new: NewRequest, format: ResponseFormat) -> None:
        new.leave_out("response_format")

    def write_reasoning(self, new: NewRequest, reasoning: Reasoning) -> None:
        new.leave_out("reasoning")


class OpenAIChat(ChatFormat):
    name = "openai_chat"
    label = "OpenAI Chat Completions"
    api = "openai_chat"
    accepts = Accepts(kinds=OWN_KINDS, files=frozenset((PDF,)), media_in_results=False, free_form_calls=True)
    accent = Accent(result_names=False)
    tested_with = "openai 3.54, LiteLLM, Helicone, Weave, Braintrust, tau-bench, tau2, mini-swe-agent 1.x"
    request = OpenAIChatForm()
    training = FineTuningLine()
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
    carried_fields = frozenset(
        ("raw_data", "raw_output", "signature", "codex_reasoning_items", "codex_message_items", "provider_specific_fields")
    )
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
