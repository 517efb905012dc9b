"""Cohere chat (version 2): OpenAI's messages with a plan beside the calls and documents as results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.dialects.chat.openai_write import Accent
from chainviz.core.documents.units import Sample
from chainviz.core.formats.accepts import Accepts
from chainviz.core.formats.chat_format import ChatFormat
from chainviz.core.formats.requests.changes import Change
from chainviz.core.formats.requests.form import NewRequest
from chainviz.core.formats.requests.members import Members
from chainviz.core.formats.requests.openai_like import OpenAILikeForm
from chainviz.core.formats.requests.settings import Reasoning, ResponseFormat, Tool, ToolChoice
from chainviz.core.formats.requests.tools import function_members

_OWN = ("strict_tools", "safety_mode", "citation_options")
"""Members of requests that only this API has."""


class CohereForm(OpenAILikeForm):
    """cohere-python, V2Client.chat."""

    family = "cohere"
    numbers = {
        "max_tokens": (("max_tokens",),), "temperature": (("temperature",),), "top_p": (("p",),), "top_k": (("k",),),
        "seed": (("seed",),), "presence_penalty": (("presence_penalty",),), "frequency_penalty": (("frequency_penalty",),),
    }  # fmt: skip
    limits = {
        "temperature": (0, 1), "top_p": (0.01, 0.99), "top_k": (0, 500), "presence_penalty": (0, 1), "frequency_penalty": (0, 1),
    }  # fmt: skip
    stop_at = (("stop_sequences",),)
    most_stops = 5

    def read_tools(self, members: Members) -> Iterator[Tool | Change]:
        strict = members.take(("strict_tools",), bool)
        for each in super().read_tools(members):
            yield replace(each, strict=strict) if isinstance(each, Tool) and strict is not None else each

    def read_reasoning(self, members: Members) -> Reasoning | None:
        return members.read(("thinking",), dict, "reasoning", _reasoning)

    def write_tools(self, new: NewRequest, tools: Sequence[Tool]) -> None:
        """All tools of a request are strict, or none is."""
        super().write_tools(new, tools)
        strict = [tool for tool in tools if tool.strict]
        if len(strict) == len(tools):
            new.put(("strict_tools",), True)
        else:
            new.changes += [Change("left-out", f"{tool.place}.strict") for tool in strict]

    def function(self, new: NewRequest, tool: Tool) -> dict[str, Any]:
        return function_members(tool, "parameters")

    def write_tool_choice(self, new: NewRequest, choice: ToolChoice | None, parallel: bool | None) -> None:
        if choice and choice.mode != "auto":
            new.put(("tool_choice",), choice.mode.upper())
        if choice and choice.names:
            new.leave_out("tool_choice")
        if parallel is False:
            new.leave_out("parallel_calls")

    def write_response_format(self, new: NewRequest, format: ResponseFormat) -> None:
        """A request with tools answers in no JSON."""
        if new.settings.tools:
            new.leave_out("response_format")
            return
        schema = {} if format.schema is None else {"json_schema": format.schema}
        new.put(("response_format",), {"type": "json_object", **schema})

    def write_reasoning(self, new: NewRequest, reasoning: Reasoning) -> None:
        is_off = reasoning.effort == "none" or reasoning.budget == 0
        budget = {"token_budget": reasoning.budget} if reasoning.budget else {}
        new.put(("thinking",), {"type": "disabled" if is_off else "enabled", **budget})
        if reasoning.effort not in ("", "none"):
            new.change("reasoning", f"the effort {reasoning.effort}", "thinking of any length")


def _reasoning(value: dict[str, Any]) -> Reasoning | None:
    budget = value.get("token_budget")
    if value.get("type") == "disabled":
        return Reasoning("none")
    return Reasoning(budget=budget if isinstance(budget, int) else None) if value.get("type") == "enabled" else None


class Cohere(ChatFormat):
    name = "cohere"
    label = "Cohere chat"
    api = "cohere"
    accepts = Accepts(reasoning=True, media_in_results=False)
    tested_with = "Cohere API v2"
    template = '{"messages": [\n]}\n'
    accent = Accent(reasoning="tool_plan")
    request = CohereForm()
    answers = (("message",),)

    def confidence(self, sample: Sample) -> float:
        rates = [_rate(value) for value in sample.values if self.is_message(value)]
        if not rates:
            return 0.0
        model = sample.beside.get("model")
        is_named = (isinstance(model, str) and model.startswith(("command", "c4ai-"))) or any(key in sample.beside for key in _OWN)
        return max(*rates, 0.96 if is_named and sample.key == "messages" else 0.0)


def _rate(value: dict[str, Any]) -> float:
    content = value.get("content")
    blocks = [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []
    if "tool_plan" in value or any(item.get("type") == "document" and isinstance(item.get("document"), dict) for item in blocks):
        return 0.97
    return 0.0
