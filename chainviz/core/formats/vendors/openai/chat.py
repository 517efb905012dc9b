"""OpenAI Chat Completions and compatible files: requests, responses, bare lists, JSON Lines, tau-bench; and the rules of the API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.tree import Section
from chainviz.core.dialects.values import string_of
from chainviz.core.documents.units import Sample
from chainviz.core.formats.contract import PDF, Accepts
from chainviz.core.formats.requests.form import NewRequest
from chainviz.core.formats.requests.settings import (
    EFFORTS,
    Change,
    Place,
    Reasoning,
    ResponseFormat,
    Tool,
    ToolChoice,
    fits_strict,
    function_members,
    read_function,
)
from chainviz.core.formats.vendors.openai_form.chat_format import ChatFormat
from chainviz.core.formats.vendors.openai_form.read import LONGEST_TEXT, MOST_CALLS, ROLES
from chainviz.core.formats.vendors.openai_form.request import OpenAILikeForm
from chainviz.core.formats.vendors.openai_form.wire import ChatForm, check_chat, unusual_chat
from chainviz.core.formats.vendors.openai_form.write import OWN_KINDS, Accent
from chainviz.core.providers.contract import Choice, Excerpt, Provider
from chainviz.core.providers.findings import LONGEST_ID, SAFE_ID
from chainviz.core.providers.rule_choices import openai_pictures, where_unnamed
from chainviz.core.providers.rules import ALL_MODELS, Rule, Wording, reasoning_missing
from chainviz.core.providers.wire import sent_value

_PROOFS = ("tool_calls", "tool_call_id", "function_call", "reasoning_content", "refusal")
_FOREIGN_BLOCKS = frozenset(
    ("tool_use", "tool_result", "redacted_thinking", "server_tool_use", "tool-call", "tool-result", "input_text",
     "output_text", "functionCall", "functionResponse", "toolUse", "toolResult")
)  # fmt: skip


class OpenAIChatForm(OpenAILikeForm):
    """Requests of Chat Completions (openai-python, types/chat/completion_create_params.py)."""

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

    def function_choice(self, new: NewRequest, choice: ToolChoice) -> Any:
        if len(choice.names) == 1 and choice.mode == "required":
            return super().function_choice(new, choice)
        tools = [{"type": "function", "function": {"name": name}} for name in choice.names]
        return {"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": tools}}


def _tool(form: OpenAIChatForm, new: NewRequest, tool: Tool) -> dict[str, Any]:
    if tool.grammar is None:
        return {"type": "function", "function": form.function(new, tool)}
    members = {"name": tool.name, **({"description": tool.description} if tool.description else {})}
    return {"type": "custom", "custom": {**members, **({"format": _nested_grammar(tool.grammar)} if tool.grammar else {})}}


def _flat_grammar(value: Any) -> Mapping[str, Any]:
    """Return the format of a custom tool as Responses spells it, with the members of the grammar on the top level."""
    grammar = value.get("grammar") if isinstance(value, dict) else None
    return {"type": "grammar", **grammar} if isinstance(grammar, dict) else value if isinstance(value, dict) else {}


def _nested_grammar(value: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = {key: each for key, each in value.items() if key != "type"}
    return {"type": "grammar", "grammar": inner} if value.get("type") == "grammar" else value


class FineTuningLine(OpenAIChatForm):
    """A line of a fine-tuning file: messages and tools, no settings (platform.openai.com/docs/guides/supervised-fine-tuning)."""

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
    accent = Accent(result_names=False, files=True)
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
        """Return the confidence in a sample. Plain lists of role and content count as this format, because it is the most common."""
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


# Rules (2026-09): results follow their call directly, each id has one result, and any role may begin or end the chain.


REFERENCE = "platform.openai.com/docs/api-reference/chat/create"
chat_rule = partial(Rule, models=ALL_MODELS, since="2023-11", checked="2026-11-23")
FORMATS = frozenset(("openai_chat", "goaitools_state"))
API_ROLES = frozenset({SYSTEM, HUMAN, AI, TOOL, "function", "developer"})

MISSING = chat_rule(
    "result-missing", "error",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following "
    "tool_call_ids did not have response messages: {ids}",
    "github.com/BerriAI/litellm/issues/10083",
)  # fmt: skip
ORPHAN = chat_rule(
    "result-without-call", "error",
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    "github.com/BerriAI/litellm/issues/4931",
)  # fmt: skip
REPEATED_RESULT = chat_rule("result-repeated", "error", "Duplicate value for 'tool_call_id'", REFERENCE)
SHARED = chat_rule("call-id-shared", "warning", "Duplicate value for 'tool_call_id'", REFERENCE)
SHARED_TWICE = replace(SHARED, severity="error")
ROLE = chat_rule(
    "role-unknown", "error",
    "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
    REFERENCE, ("note-role", "drop-message"),
)  # fmt: skip
EMPTY = chat_rule("content-missing", "error", "Invalid value for 'content': expected a string, got null.", REFERENCE, ("drop-empty",))
LONG_ID = chat_rule(
    "call-id-too-long",
    "error",
    f"Invalid '{{field}}': string too long. Expected a string with maximum length {LONGEST_ID}, but got a string with length "
    "{length} instead.",
    REFERENCE,
    ("respell-id",),
)
LONGISH_ID = chat_rule(
    "call-id-long", "warning",
    f"Invalid '{{field}}': string too long. Expected a string with maximum length {SAFE_ID}, but got a string with length "
    "{length} instead.",
    "github.com/pydantic/pydantic-ai/issues/4389", ("respell-id",),
)  # fmt: skip
NAME = chat_rule(
    "tool-name", "error",
    "Invalid '{field}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", REFERENCE,
    ("respell-name",),
)  # fmt: skip
NO_NAME = chat_rule(
    "tool-name-empty", "error",
    "Invalid '{field}': empty string. Expected a string with minimum length 1, but got an empty string instead.", REFERENCE,
    ("respell-name",),
)  # fmt: skip
ARGUMENTS = chat_rule(
    "arguments-no-json", "warning", "function.arguments must be a valid JSON object string",
    "github.com/vllm-project/vllm/issues/47761", ("mend-arguments",),
)  # fmt: skip
NO_OBJECT = chat_rule(
    "arguments-no-object", "warning", "function.arguments must be a valid JSON object string",
    "github.com/vllm-project/vllm/issues/47761", ("wrap-arguments",),
)  # fmt: skip
NO_REASONING = chat_rule(
    "reasoning-missing", "info", "", "github.com/langchain-ai/langchain/issues/34166", ("drop-thinking",),
    note="accepted; DeepSeek's and Kimi's servers require the reasoning_content of every turn in thinking mode, and none in the other mode",
)  # fmt: skip
MEDIA = chat_rule(
    "result-media", "warning", "Content blocks are expected to be either text or image_url type.", REFERENCE,
    ("media-to-human",),
)  # fmt: skip
PICTURES = openai_pictures(chat_rule)
USER_CALL = chat_rule(
    "call-by-user", "warning", "Additional properties are not allowed ('tool_calls' was unexpected)", REFERENCE,
    ("user-call-to-text",),
)  # fmt: skip
SURROGATE = chat_rule(
    "text-surrogate", "error",
    "Invalid body: failed to parse JSON value. Please check the value to ensure it is valid JSON. (Common errors include trailing "
    "commas, missing closing brackets, missing quotation marks, etc.)",
    "github.com/anomalyco/opencode/issues/14630", ("respell-text",), since="2026-02", checked="2026-11-27",
)  # fmt: skip
REUSED = chat_rule("call-id-reused", "info", "", REFERENCE, note="accepted: an id must be unique only within its turn")


def _shared(excerpt: Excerpt, problem: Problem) -> Rule:
    """Choose the rule for calls that share an id. The API refuses two results with one id but may accept one for both calls."""
    return SHARED_TWICE if _has_two_results(excerpt.section, problem) else SHARED


def _role(excerpt: Excerpt, problem: Problem) -> Rule | None:
    return None if excerpt.message(problem).role in API_ROLES else ROLE


def _empty(excerpt: Excerpt, problem: Problem) -> Rule | None:
    """Choose the rule for empty content. An answer may consist of audio only."""
    value = sent_value(excerpt.message(problem)) if excerpt.format in FORMATS else None
    return None if isinstance(value, dict) and value.get("audio") else EMPTY


def _has_two_results(section: Section[Message], problem: Problem) -> bool:
    pair = section.body[(problem.path.pair or 1) - 1]
    assert pair.ai is not None
    id = next(call.id for call in pair.ai.calls if call.part == problem.part)
    results = (result for message in pair.rest for result in message.results if result.id == id)
    return len(list(islice(results, 2))) > 1


RULES: dict[str, Choice] = {
    "pending-call": MISSING,
    "terminal-call": MISSING,
    "orphan-result": ORPHAN,
    "unmatched-result": ORPHAN,
    "duplicate-result": REPEATED_RESULT,
    "shared-call-id": _shared,
    "unknown-role": _role,
    "says-nothing": _empty,
    "call-by-other": USER_CALL,
    **PICTURES.choices,
    "no-json-arguments": ARGUMENTS,
    "no-object-arguments": NO_OBJECT,
    "result-media": MEDIA,
    "long-id": LONGISH_ID,
    "very-long-id": LONG_ID,
    "lone-surrogate": SURROGATE,
    "odd-name": where_unnamed(NO_NAME, NAME),
    "long-name": NAME,
    "very-long-name": NAME,
}

NO_CALLS = chat_rule(
    "tool-calls-empty",
    "error",
    "Invalid '{field}': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    REFERENCE,
)
FORM = ChatForm(
    parts={
        "system": frozenset(("text",)),
        "developer": frozenset(("text",)),
        "user": frozenset(("text", "image_url", "input_audio", "file")),
        "assistant": frozenset(("text", "refusal")),
        "tool": frozenset(("text", "image_url")),
    },
    value=chat_rule("field-type", "error", "Invalid type for '{field}': expected {expected}, but got {got} instead.", REFERENCE),
    role=ROLE,
    content_type=chat_rule(
        "content-type",
        "error",
        "Invalid type for '{field}': expected one of a string or array of objects, but got {got} instead.",
        REFERENCE,
    ),
    content_missing=EMPTY,
    other_roles=frozenset(("function",)),
    empty_content=chat_rule(
        "content-empty",
        "error",
        "Invalid '{field}': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        REFERENCE,
        ("drop-empty",),
    ),
    empty_calls=NO_CALLS,
    null_calls=NO_CALLS,
    part_type=chat_rule(
        "part-type",
        "error",
        "Invalid value: '{type}'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'.",
        REFERENCE,
    ),
    member=chat_rule("member-missing", "error", "Missing required parameter: '{field}'.", REFERENCE),
    speaker=chat_rule(
        "speaker-name",
        "error",
        "Invalid 'messages[{index}].name': string does not match pattern. Expected a string that matches the pattern '^[^\\s<|\\\\/>]+$'.",
        "github.com/langchain-ai/langchain/issues/35054",
        ("rewrite-message",),
        checked="2026-11-28",
    ),
    too_many_calls=chat_rule(
        "tool-calls-too-many",
        "error",
        f"Invalid 'messages[{{index}}].tool_calls': array too long. Expected an array with maximum length {MOST_CALLS}, but got an array "
        "with length {length} instead.",
        "github.com/github/copilot-cli/issues/669",
        checked="2026-11-28",
    ),
    too_long=chat_rule(
        "text-too-long",
        "error",
        f"Invalid 'messages[{{index}}].content': string too long. Expected a string with maximum length {LONGEST_TEXT}, but got a string "
        "with length {length} instead.",
        "github.com/VectorlyApp/bluebox/issues/31",
        checked="2026-11-28",
    ),
    call_type=chat_rule("member-missing", "error", "Missing required parameter: 'messages[{index}].tool_calls[{index}].type'", REFERENCE),
    arguments=chat_rule("arguments-type", "error", "Invalid type for '{field}': expected a string, but got an object instead.", REFERENCE),
)


PROVIDER = Provider(
    "openai-chat",
    "OpenAI Chat Completions",
    "OpenAI",
    RULES,
    lambda call, before: REUSED,
    vendor="openai",
    formats=FORMATS,
    clients=FORMATS,
    kinds=frozenset(("input_audio", "file", "refusal")),
    wire=check_chat,
    unusual=unusual_chat,
    wire_rule=FORM,
    chosen_rules=(PICTURES.type, SHARED, SHARED_TWICE, ROLE, EMPTY, REUSED, NO_NAME, *FORM.rules),
    section_rules=(reasoning_missing(NO_REASONING),),
)


ERRORS = (
    Wording("Image URLs are only allowed for messages with role 'user'", ("openai-chat",), ("result-media", "part-type")),
    Wording("Invalid MIME type. Only image types are supported.", ("openai-chat", "openai-responses"), ("image-type", "image-mislabelled")),
    Wording(
        "must be followed by tool messages responding to each tool_call_id",
        ("openai-chat", "deepseek-v3.2", "deepseek"), ("result-missing",),
    ),
    Wording(
        "The following tool_call_ids did not have response messages: {ids}",
        ("openai-chat", "deepseek-v3.2", "deepseek"), ("result-missing",),
    ),
    Wording(
        "Found AIMessages with tool_calls that do not have a corresponding ToolMessage",
        ("openai-chat", "anthropic"), ("result-missing",),
    ),
    Wording(
        "role tool must be a response to a preceding message",
        ("openai-chat", "deepseek-v3.2", "deepseek"), ("result-without-call",),
    ),
    Wording(
        "role tool must be a response to a preceeding message",
        ("openai-chat", "deepseek-v3.2", "deepseek"), ("result-without-call",),
    ),
    Wording(
        "Invalid 'messages[{index}].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
        ("openai-chat",), ("speaker-name",),
    ),
    Wording("does not match '^[a-zA-Z0-9_-]{1,64}$' - 'messages.{index}.name'", ("openai-chat",), ("speaker-name",)),
    Wording("arguments must be a valid JSON", ("openai-chat", "vllm"), ("arguments-no-json", "arguments-no-object")),
    Wording("Unterminated string starting at", ("openai-chat", "vllm"), ("arguments-no-json", "arguments-no-object")),
    Wording(
        "string too long. Expected a string with maximum length",
        ("openai-chat", "openai-responses", "deepseek-responses"), ("call-id-too-long", "call-id-long"),
    ),
    Wording("Expected an array with minimum length", ("openai-chat",), ("tool-calls-empty", "content-empty")),
    Wording("expected a string, but got an object", ("openai-chat",), ("arguments-type",)),
    Wording("expected a string, got null", ("openai-chat",), ("content-missing",)),
    Wording("Additional properties are not allowed ({field} was unexpected)", ("openai-chat",), ("not-understood",)),
    Wording("'tool_call_id' of '{id}' not found in 'tool_calls' of previous message", ("openai-chat",), ("result-without-call",)),
    Wording("messages with role 'tool' must have a 'tool_call_id'", ("openai-chat",), ("member-missing", "result-without-call")),
    Wording("Tool result is missing for tool call {id}", ("openai-chat", "anthropic"), ("result-missing",)),
    Wording("Tool results are missing for tool calls {ids}", ("openai-chat", "anthropic"), ("result-missing",)),
    Wording("Missing corresponding tool call for tool response message", ("openai-chat", "anthropic"), ("result-without-call",)),
    Wording(
        "The messages parameter is illegal", ("openai-chat", "compatible"), ("result-missing", "result-without-call", "content-missing")
    ),
)  # fmt: skip
"""Other wordings of the API's errors, from public issues about other versions and gateways."""
