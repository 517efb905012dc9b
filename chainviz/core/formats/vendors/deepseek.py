"""DeepSeek chat: OpenAI's messages with reasoning_content. The rules for reasoning have changed, so there are two profiles.

In its thinking mode, the default, V4 requires the reasoning_content of every message that calls tools and ignores that of other
messages. DeepSeek's Responses endpoint is in openai/responses_rules.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from chainviz.core.chain.messages import AI
from chainviz.core.chain.paths import Path
from chainviz.core.formats.vendors.openai_form.wire import ChatForm, check_chat, unusual_chat
from chainviz.core.providers.contract import Broken, CallIds, Choice, Excerpt, Provider
from chainviz.core.providers.rules import ALL_MODELS, Rule, Wording, reasoning_missing
from chainviz.core.providers.wire import sent_value

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
    "Failed to deserialize the JSON body into the target type: "
    "messages[{index}].role: unknown variant `{role}`, expected one "
    "of `system`, `user`, `assistant`, `tool`, `latest_reminder`",
    REFERENCE,
    ("note-role", "drop-message"),
)
EMPTY = deepseek_rule(
    "content-missing", "error", "Invalid assistant message: content or tool_calls must be set", REFERENCE, ("drop-empty",)
)
NAME = deepseek_rule(
    "tool-name", "error", "Invalid function name: string does not match pattern '^[a-zA-Z0-9_-]+$'", REFERENCE, ("respell-name",)
)
ARGUMENTS = deepseek_rule("arguments-no-json", "warning", "Invalid JSON in function arguments", REFERENCE, ("mend-arguments",))
SURROGATE = deepseek_rule(
    "text-surrogate", "error",
    "Failed to parse the request body as JSON: {place}: lone leading surrogate in hex escape at line {line} column {column}",
    "github.com/Zoo-Code-Org/Zoo-Code/issues/461", ("respell-text",), since="2026-04", checked="2026-11-27",
)  # fmt: skip
USER_CALL = deepseek_rule("call-by-user", "warning", "unknown field `tool_calls`", REFERENCE, ("user-call-to-text",))
MEDIA = deepseek_rule(
    "result-media",
    "error",
    "Failed to deserialize the JSON body into the target type: messages[{index}]: unknown variant `image_url`, expected `text`",
    REFERENCE,
    ("media-to-human",),
)
NO_REASONING = deepseek_rule(
    "reasoning-missing", "error", "The `reasoning_content` in the thinking mode must be passed back to the API.", REFERENCE,
    ("empty-reasoning",), models="DeepSeek V4 and deepseek-reasoner, in the thinking mode, which is their default",
    since="2025-12", checked="2026-11-27",
)  # fmt: skip
MAYBE_NO_REASONING = replace(
    NO_REASONING, severity="warning", note="the model is not recorded or not DeepSeek's; refused by DeepSeek V4 in its thinking mode"
)
UNEVEN_REASONING = replace(
    NO_REASONING, severity="warning", fixes=("drop-thinking",), source="github.com/langchain-ai/langchain/issues/34166",
    models="DeepSeek V3.2, in the thinking mode",
)  # fmt: skip
_THINKS = re.compile(r"deepseek-(?:v(?:[4-9]|\d\d)|reasoner|flash|pro)", re.IGNORECASE)
_NEVER_THINKS = re.compile(r"deepseek-(?:chat|v[1-3]\b|coder)", re.IGNORECASE)
RULES: dict[str, Choice] = {
    "pending-call": MISSING,
    "terminal-call": MISSING,
    "orphan-result": ORPHAN,
    "unmatched-result": ORPHAN,
    "duplicate-result": REPEATED_RESULT,
    "unknown-role": ROLE,
    "says-nothing": EMPTY,
    "lone-surrogate": SURROGATE,
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
    value=deepseek_rule(
        "field-type",
        "error",
        "Failed to deserialize the JSON body into the target type: messages[{index}]: invalid type: {got}, expected {expected}",
        REFERENCE,
    ),
    role=ROLE,
    content_type=deepseek_rule("content-type", "error", "invalid type: expected a string or a list of content parts", REFERENCE),
    content_missing=deepseek_rule(
        "content-missing",
        "error",
        "Failed to deserialize the JSON body into the target type: messages[{index}]: missing field `content`",
        REFERENCE,
        ("drop-empty",),
    ),
    part_type=deepseek_rule("part-type", "error", "unknown variant of content part, expected `text`", REFERENCE),
    member=deepseek_rule(
        "member-missing",
        "error",
        "Failed to deserialize the JSON body into the target type: messages[{index}]: missing field `{field}`",
        REFERENCE,
    ),
    empty_calls=deepseek_rule(
        "tool-calls-empty",
        "error",
        "Invalid 'messages.tool_calls': empty array. Expected an array with minimum length 1",
        "github.com/NousResearch/hermes-agent/pull/59110",
    ),
    arguments=deepseek_rule(
        "arguments-type",
        "error",
        "Failed to deserialize the JSON body into the target type: messages[{index}]: invalid type: map, expected a string",
        REFERENCE,
    ),
)

FORMATS = frozenset(("openai_chat",))
CALL_IDS = CallIds("call_{r:2:d}_{r:24:b}")


def _reasoning(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    """Find calls without reasoning. Empty reasoning is enough, because the API itself returns it."""
    request = excerpt.request
    if request.thinking == "disabled" or _NEVER_THINKS.search(request.model):
        return
    rule = NO_REASONING if _THINKS.search(request.model) else MAYBE_NO_REASONING
    for place, message in enumerate(excerpt.section.messages):
        value = sent_value(message) if message.role == AI and message.calls else None
        if isinstance(value, dict) and not isinstance(value.get("reasoning_content"), str):
            yield *excerpt.messages[place][:2], (rule, None, "calls tools without reasoning_content")


PROVIDER = Provider(
    "deepseek",
    "DeepSeek chat",
    "DeepSeek",
    RULES,
    vendor="deepseek",
    call_ids=CALL_IDS,
    formats=FORMATS,
    wire=check_chat,
    unusual=unusual_chat,
    wire_rule=FORM,
    chosen_rules=(*FORM.rules, NO_REASONING, MAYBE_NO_REASONING),
    sent=(_reasoning,),
)
PROVIDER_2025 = replace(
    PROVIDER,
    name="deepseek-v3.2",
    label="DeepSeek chat (until May 2026)",
    chosen_rules=FORM.rules,
    section_rules=(reasoning_missing(UNEVEN_REASONING),),
    sent=(),
)


ERRORS = (
    Wording("insufficient tool messages following tool_calls message", ("deepseek-v3.2", "deepseek"), ("result-missing",)),
    Wording("reasoning_content {text} must be passed back", ("deepseek-v3.2", "deepseek"), ("reasoning-missing",)),
    Wording("missing field `tool_call_id`", ("deepseek-v3.2", "deepseek"), ("member-missing", "result-without-call")),
    Wording("missing field `id`", ("deepseek-v3.2", "deepseek"), ("member-missing", "result-missing")),
    Wording("missing field `content`", ("deepseek-v3.2", "deepseek"), ("content-missing",)),
    Wording("did not match any variant of untagged enum ChatCompletionRequestContent", ("deepseek-v3.2", "deepseek"), ("part-type",)),
    Wording(
        "Failed to deserialize the JSON body into the target type: messages[{index}]: invalid type: sequence, expected a string",
        ("compatible",), ("content-list",),
    ),
    Wording("missing reasoning_content", ("deepseek-v3.2", "deepseek"), ("reasoning-missing",)),
)  # fmt: skip
"""Other wordings of the API's errors, from public issues about other versions and gateways."""
