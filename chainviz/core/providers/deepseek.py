"""DeepSeek chat: OpenAI's form with reasoning_content. What must happen to reasoning has changed, so there are two profiles.

Until May 2026 the thinking mode wanted the reasoning of a tool turn back; since June 2026 the documents say to leave it out. The
Responses endpoint is in openai_responses.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from chainviz.core.providers.contract import CallIds, Choice, Provider
from chainviz.core.providers.rules.rule import ALL_MODELS, Rule
from chainviz.core.providers.rules.section_rules import reasoning_missing
from chainviz.core.providers.wire.openai import ChatForm, check_chat

REFERENCE = "api-docs.deepseek.com/guides/thinking_mode"
deepseek_rule = partial(Rule, models=ALL_MODELS, since="2024-07", checked="2026-11-23")

MISSING = deepseek_rule(
    "result-missing", "error",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "(insufficient tool messages following tool_calls message)",
    "github.com/BerriAI/litellm/issues/28995",
)  # fmt: skip
ORPHAN = deepseek_rule(
    "result-without-call", "error",
    "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'", REFERENCE,
)  # fmt: skip
REPEATED_RESULT = deepseek_rule("result-repeated", "error", "Duplicate value for 'tool_call_id'", REFERENCE)
ROLE = deepseek_rule(
    "role-unknown",
    "error",
    "unknown variant of role, expected one of `system`, `user`, `assistant`, `tool`",
    REFERENCE,
    ("note-role", "drop-message"),
)
EMPTY = deepseek_rule(
    "content-missing",
    "error",
    "Invalid assistant message: content or tool_calls must be set",
    REFERENCE,
    ("drop-empty",),
)
NAME = deepseek_rule(
    "tool-name",
    "error",
    "Invalid function name: string does not match pattern '^[a-zA-Z0-9_-]+$'",
    REFERENCE,
    ("respell-name",),
)
ARGUMENTS = deepseek_rule("arguments-no-json", "warning", "Invalid JSON in function arguments", REFERENCE, ("mend-arguments",))
USER_CALL = deepseek_rule("call-by-user", "warning", "unknown field `tool_calls`", REFERENCE, ("user-call-to-text",))
MEDIA = deepseek_rule("result-media", "error", "unknown variant `image_url`, expected `text`", REFERENCE, ("media-to-human",))
NO_REASONING = deepseek_rule(
    "reasoning-missing", "warning", "The reasoning_content in the thinking mode must be passed back to the API.",
    "github.com/langchain-ai/langchain/issues/34166", ("drop-thinking",),
)  # fmt: skip
RULES: dict[str, Choice] = {
    "pending-call": MISSING,
    "terminal-call": MISSING,
    "orphan-result": ORPHAN,
    "unmatched-result": ORPHAN,
    "duplicate-result": REPEATED_RESULT,
    "unknown-role": ROLE,
    "says-nothing": EMPTY,
    "odd-name": NAME,
    "long-name": NAME,
    "very-long-name": NAME,
    "no-json-arguments": ARGUMENTS,
    "call-by-other": USER_CALL,
    "result-media": MEDIA,
}

_TEXT = frozenset(("text",))
FORM = ChatForm(
    fields=frozenset(("reasoning_content", "prefix")),
    parts={"system": _TEXT, "user": _TEXT, "assistant": _TEXT, "tool": _TEXT},
    value=deepseek_rule("field-type", "error", "invalid type or value", REFERENCE),
    role=ROLE,
    content_type=deepseek_rule("content-type", "error", "invalid type: expected a string or a list of content parts", REFERENCE),
    content_missing=deepseek_rule("content-missing", "error", "missing field `content`", REFERENCE, ("drop-empty",)),
    part_type=deepseek_rule("part-type", "error", "unknown variant of content part, expected `text`", REFERENCE),
    member=deepseek_rule("member-missing", "error", "missing field", REFERENCE),
    empty_calls=deepseek_rule(
        "tool-calls-empty", "error", "Invalid 'messages.tool_calls': empty array. Expected an array with minimum length 1",
        "github.com/NousResearch/hermes-agent/pull/59110",
    ),
    arguments=deepseek_rule("arguments-type", "error", "invalid type: map, expected a string", REFERENCE),
)

FORMATS = frozenset(("openai_chat",))
CALL_IDS = CallIds("call_{r:2:d}_{r:24:b}")
SINCE_JUNE = replace(NO_REASONING, severity="info", note="accepted; required until May 2026")

PROVIDER = Provider(
    "deepseek",
    "DeepSeek chat",
    "DeepSeek",
    RULES,
    call_ids=CALL_IDS,
    formats=FORMATS,
    wire=check_chat,
    wire_rule=FORM,
    chosen_rules=FORM.rules,
    section_rules=(reasoning_missing(SINCE_JUNE),),
)
PROVIDER_2025 = Provider(
    "deepseek-v3.2",
    "DeepSeek chat (until May 2026)",
    "DeepSeek",
    RULES,
    call_ids=CALL_IDS,
    formats=FORMATS,
    wire=check_chat,
    wire_rule=FORM,
    chosen_rules=FORM.rules,
    section_rules=(reasoning_missing(NO_REASONING),),
)
