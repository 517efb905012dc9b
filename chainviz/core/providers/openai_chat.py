"""OpenAI Chat Completions (2026-09): results directly after their call, each id answered once, any role may begin or end."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.tree import Section
from chainviz.core.providers.contract import Choice, Excerpt, Provider
from chainviz.core.providers.rules.findings import LONGEST_ID, SAFE_ID
from chainviz.core.providers.rules.picture_rules import openai_pictures
from chainviz.core.providers.rules.rule import ALL_MODELS, Rule
from chainviz.core.providers.rules.rule_choices import where_unnamed
from chainviz.core.providers.rules.section_rules import reasoning_missing
from chainviz.core.providers.wire.message import sent_value
from chainviz.core.providers.wire.openai import ChatForm, check_chat

REFERENCE = "platform.openai.com/docs/api-reference/chat/create"
chat_rule = partial(Rule, models=ALL_MODELS, since="2023-11", checked="2026-11-23")
FORMATS = frozenset(("openai_chat", "goaitools_state"))
ROLES = frozenset({SYSTEM, HUMAN, AI, TOOL, "function", "developer"})

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
EMPTY = chat_rule(
    "content-missing", "error", "Invalid value for 'content': expected a string, got null.", REFERENCE, ("drop-empty",)
)
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
    """Two results under one id are refused; one for both calls may pass."""
    return SHARED_TWICE if _answered_twice(excerpt.section, problem) else SHARED


def _role(excerpt: Excerpt, problem: Problem) -> Rule | None:
    return None if excerpt.message(problem).role in ROLES else ROLE


def _empty(excerpt: Excerpt, problem: Problem) -> Rule | None:
    """An answer may be nothing but audio."""
    value = sent_value(excerpt.message(problem)) if excerpt.format in FORMATS else None
    return None if isinstance(value, dict) and value.get("audio") else EMPTY


def _answered_twice(section: Section[Message], problem: Problem) -> bool:
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
        "content-type", "error", "Invalid type for '{field}': expected one of a string or array of objects, but got {got} instead.",
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
    call_type=chat_rule("member-missing", "error", "Missing required parameter: 'messages[{index}].tool_calls[{index}].type'", REFERENCE),
    arguments=chat_rule(
        "arguments-type",
        "error",
        "Invalid type for '{field}': expected a string, but got an object instead.",
        REFERENCE,
    ),
)


PROVIDER = Provider(
    "openai-chat",
    "OpenAI Chat Completions",
    "OpenAI",
    RULES,
    lambda call, before: REUSED,
    formats=FORMATS,
    clients=FORMATS,
    kinds=frozenset(("input_audio", "file", "refusal")),
    wire=check_chat,
    wire_rule=FORM,
    chosen_rules=(PICTURES.type, SHARED, SHARED_TWICE, ROLE, EMPTY, REUSED, NO_NAME, *FORM.rules),
    section_rules=(reasoning_missing(NO_REASONING),),
)
