"""DeepSeek chat: OpenAI's form with reasoning_content. What must happen to reasoning has changed, so there are two profiles.

Until May 2026 the thinking mode wanted the reasoning of a tool turn back; since June 2026 the documents say to leave it out. The
Responses endpoint is in openai_responses.py.
"""

from __future__ import annotations

from dataclasses import replace

from chainviz.core.providers.contract import CallIds, Choice, Provider
from chainviz.core.providers.rules.rule import Rule
from chainviz.core.providers.rules.section_rules import reasoning_missing
from chainviz.core.providers.wire.openai import ChatForm, check_chat

REFERENCE = "api-docs.deepseek.com/guides/thinking_mode"

MISSING = Rule(
    "result-missing", "error",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "(insufficient tool messages following tool_calls message)",
    "github.com/BerriAI/litellm/issues/28995",
)  # fmt: skip
ORPHAN = Rule(
    "result-without-call", "error",
    "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'", REFERENCE,
)  # fmt: skip
REPEATED_RESULT = Rule("result-repeated", "error", "Duplicate value for 'tool_call_id'", REFERENCE)
ROLE = Rule(
    "role-unknown",
    "error",
    "unknown variant of role, expected one of `system`, `user`, `assistant`, `tool`",
    REFERENCE,
    ("note-role", "drop-message"),
)
EMPTY = Rule(
    "content-missing",
    "error",
    "Invalid assistant message: content or tool_calls must be set",
    REFERENCE,
    ("drop-empty",),
)
NAME = Rule(
    "tool-name",
    "error",
    "Invalid function name: string does not match pattern '^[a-zA-Z0-9_-]+$'",
    REFERENCE,
    ("respell-name",),
)
ARGUMENTS = Rule("arguments-no-json", "warning", "Invalid JSON in function arguments", REFERENCE, ("mend-arguments",))
USER_CALL = Rule("call-by-user", "warning", "unknown field `tool_calls`", REFERENCE, ("user-call-to-text",))
MEDIA = Rule("result-media", "error", "unknown variant `image_url`, expected `text`", REFERENCE, ("media-to-human",))
NO_REASONING = Rule(
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
    value=Rule("field-type", "error", "invalid type or value", REFERENCE),
    role=ROLE,
    content_type=Rule("content-type", "error", "invalid type: expected a string or a list of content parts", REFERENCE),
    content_missing=Rule("content-missing", "error", "missing field `content`", REFERENCE, ("drop-empty",)),
    part_type=Rule("part-type", "error", "unknown variant of content part, expected `text`", REFERENCE),
    member=Rule("member-missing", "error", "missing field", REFERENCE),
    empty_calls=Rule(
        "tool-calls-empty", "error", "Invalid 'messages.tool_calls': empty array. Expected an array with minimum length 1",
        "github.com/NousResearch/hermes-agent/pull/59110",
    ),
    arguments=Rule("arguments-type", "error", "invalid type: map, expected a string", REFERENCE),
)

FORMATS = frozenset(("openai_chat",))
CALL_IDS = CallIds("call_{r:2:d}_{r:24:b}")
SINCE_JUNE = replace(NO_REASONING, severity="info", says="accepted; required until May 2026")

PROVIDER = Provider(
    "deepseek",
    "DeepSeek chat",
    "DeepSeek",
    RULES,
    call_ids=CALL_IDS,
    formats=FORMATS,
    wire=check_chat,
    wire_rule=FORM,
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
    section_rules=(reasoning_missing(NO_REASONING),),
)
