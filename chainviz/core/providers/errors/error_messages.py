"""A message with which an API refused a chain, as people paste it: what class of error it is, and what it names.

The classes and their wordings are those seen in public issues (OpenAI, Anthropic, Gemini, Bedrock, Mistral, DeepSeek, vLLM).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ErrorClass:
    pattern: str
    """Found anywhere in the message, in any case."""
    providers: tuple[str, ...]
    """Whose wording it is, the likeliest first."""
    rules: tuple[str, ...]
    """Ids of the rules that say the same."""
    unseen: tuple[str, ...] = ()
    """Fixes of the message that the error names, for a cause that no rule can see in the chain."""


@dataclass(frozen=True, slots=True)
class ErrorMessage:
    """What a pasted message says."""

    text: str
    """The API's own words, without what was around them."""
    classes: tuple[ErrorClass, ...]
    """Those that it fits; empty for a message that is not known."""
    ids: tuple[str, ...]
    """Ids of calls and items that it names."""
    message: int | None
    """Index of the message in the request that it names, from 0."""
    part: int | None
    """Index of the part in that message."""


_CLAUDE, _CHAT, _RESPONSES = "anthropic", "openai-chat", "openai-responses"
_GEMINI = ("gemini-3", "gemini-2.5")

CLASSES = (
    ErrorClass(
        r"`?tool_use`? ids were found without `?tool_result`? blocks",
        (_CLAUDE,), ("result-missing", "result-missing-at-end", "result-after-text"),
    ),
    ErrorClass(r"unexpected `?tool_use_id`? found in `?tool_result`? blocks", (_CLAUDE,), ("result-without-call",)),
    ErrorClass(r"found in `?\w+_tool_result`? blocks", (_CLAUDE,), ("server-result-without-call",)),
    ErrorClass(r"found without a corresponding `?\w+_tool_result`?", (_CLAUDE,), ("server-call-without-result",)),
    ErrorClass(r"`?tool_use`? ids must be unique", (_CLAUDE,), ("call-id-reused",)),
    ErrorClass(r"each tool_use must have a single result", (_CLAUDE,), ("result-repeated",)),
    ErrorClass(r"tooluse blocks .*duplicate ids", ("bedrock",), ("call-id-shared",)),
    ErrorClass(r"roles must alternate", ("bedrock", "vllm", _CLAUDE), ("roles-alternate", "assistants-alternate")),
    ErrorClass(r"expected `?thinking`? or `?redacted_thinking`?, but found", (_CLAUDE,), ("thinking-missing",)),
    ErrorClass(r"`?thinking`? .*blocks? .*cannot be modified", (_CLAUDE,), ("thinking-emptied", "thinking-unsigned"), ("drop-signed",)),
    ErrorClass(r"invalid `?signature`? in `?thinking`?", (_CLAUDE,), ("thinking-unsigned", "thinking-emptied"), ("drop-signed",)),
    ErrorClass(r"final position cannot contain `?thinking`?", (_CLAUDE,), ("thinking-final",)),
    ErrorClass(r"final block in an assistant message cannot be `?thinking`?", (_CLAUDE,), ("thinking-last-block",)),
    ErrorClass(r"text content blocks must be non-empty", (_CLAUDE,), ("text-empty",)),
    ErrorClass(r"must contain non-whitespace text", (_CLAUDE,), ("text-blank", "text-empty")),
    ErrorClass(r"contentblock object .* is blank", ("bedrock",), ("text-blank",)),
    ErrorClass(
        r"must have non-empty content|contents\.parts must not be empty|message object .* is empty",
        (_CLAUDE, *_GEMINI, "bedrock"), ("content-missing",),
    ),
    ErrorClass(r"maximum of \d+ blocks with `?cache_control`?", (_CLAUDE,), ("cache-marks",)),
    ErrorClass(r"image (dimensions )?exceeds? ", (_CLAUDE,), ("image-too-large", "image-large")),
    ErrorClass(r"cannot end with trailing whitespace", (_CLAUDE,), ("trailing-space",)),
    ErrorClass(r"insufficient tool messages following", ("deepseek",), ("result-missing",)),
    ErrorClass(r"must be followed by tool messages responding to each", (_CHAT, "deepseek"), ("result-missing",)),
    ErrorClass(r"role '?tool'? must be a response to a prece+ding message", (_CHAT, "deepseek"), ("result-without-call",)),
    ErrorClass(
        r"no tool output found for (function|tool) call",
        (_RESPONSES, "deepseek-responses"), ("result-missing", "text-between-calls"),
    ),
    ErrorClass(r"no tool call found for (function|tool) call output", (_RESPONSES,), ("result-without-call",)),
    ErrorClass(r"type 'reasoning' was provided without its required following item", (_RESPONSES,), ("reasoning-without-item",)),
    ErrorClass(r"was provided without its required 'reasoning' item", (_RESPONSES,), ("item-without-reasoning",)),
    ErrorClass(r"expected an id that begins with", (_RESPONSES,), ("item-id",)),
    ErrorClass(r"missing required (field|parameter)\W+\S*summary|missing required field summary", (_RESPONSES,), ("member-missing",)),
    ErrorClass(r"invalid value: '?tool'?", (_RESPONSES,), ("role-unknown",)),
    ErrorClass(r"arguments must be a valid json|unterminated string", (_CHAT, "vllm"), ("arguments-no-json", "arguments-no-object")),
    ErrorClass(r"number of function response parts .* equal to the number of function call parts", _GEMINI, ("result-count",)),
    ErrorClass(r"function call turn comes immediately after", _GEMINI, ("call-order", "call-after-model")),
    ErrorClass(r"function response turn comes immediately after", _GEMINI, ("result-without-call", "result-count")),
    ErrorClass(r"missing a `?thought_?signature`?", ("gemini-3",), ("thought-signature-missing",)),
    ErrorClass(
        r"reasoning_content.*(must be passed back|in the thinking mode)|missing reasoning_content",
        ("deepseek-v3.2", "deepseek"), ("reasoning-missing",),
    ),
    ErrorClass(r"not the same number of function calls and responses", ("mistral",), ("result-count",)),
    ErrorClass(r"tool call id .* length of 9", ("mistral",), ("call-id-form",)),
    ErrorClass(r"unexpected role '?system'?", ("mistral", _CLAUDE), ("system-in-messages",)),
    ErrorClass(r"expected last role user or tool", ("mistral",), ("last-role",)),
    ErrorClass(r"conversation must start with a user message|first message must use the .?user", ("bedrock", _CLAUDE), ("first-role",)),
    ErrorClass(r"expected toolresult blocks", ("bedrock",), ("result-missing", "results-split")),
    ErrorClass(r"toolresult blocks .* exceeds", ("bedrock",), ("result-without-call",)),
    ErrorClass(r"\.(tool_use|toolUse|server_tool_use)\.id: string should match pattern", (_CLAUDE,), ("call-id-pattern",)),
    ErrorClass(r"string too long", (_CHAT, _RESPONSES), ("call-id-too-long", "call-id-long")),
    ErrorClass(r"expected an array with minimum length 1", (_CHAT,), ("tool-calls-empty", "content-empty")),
    ErrorClass(r"expected a string, but got an object", (_CHAT,), ("arguments-type",)),
    ErrorClass(r"expected a string, got null", (_CHAT,), ("content-missing",)),
)  # fmt: skip
"""Special wordings come before general ones."""

_PLACES = (
    r"\bmessages\.(\d+)(?:\.content\.(\d+))?",
    r"\bmessages\[(\d+)\](?:\.content\[(\d+)\])?",
    r"\binput\[(\d+)\](?:\.content\[(\d+)\])?",
    r"\bcontents\[(\d+)\](?:\.parts\[(\d+)\])?",
    r"\bmessage index (\d+)()",
    r"\bposition (\d+)()",
)
_ID = re.compile(r"\b(?:srvtoolu|toolu|tooluse|call|fc|rs|msg|chatcmpl-tool)[_-][A-Za-z0-9_:.-]*[A-Za-z0-9]")
_NAMED = re.compile(
    r"(?:with id|with call_id|for function call|for tool call|tool_call_ids?(?: did not have response messages)?)\W+"
    r"([^\s'\"`,]+[^\s'\"`,.])"
)
_TEXT_KEYS = ("message", "error", "detail", "msg")
MOST = 20_000
"""Characters of a pasted text that are looked at."""


def read_error(pasted: str) -> ErrorMessage:
    """`pasted`: the message alone, the JSON of the response, or a line of a log that holds it."""
    text = _message_in(pasted[:MOST]) or " ".join(pasted[:MOST].split())
    classes = tuple(each for each in CLASSES if re.search(each.pattern, text, re.IGNORECASE))
    message, part = next(_places_in(text), (None, None))
    ids = dict.fromkeys([*_ID.findall(text), *_NAMED.findall(text)])
    return ErrorMessage(text, classes, tuple(ids), message, part)


def _places_in(text: str) -> Iterator[tuple[int, int | None]]:
    for pattern in _PLACES:
        found = re.search(pattern, text, re.IGNORECASE)
        if found:
            yield int(found[1]), int(found[2]) if found[2] else None


def _message_in(pasted: str) -> str:
    """The message of the first JSON object in the text; "" where there is none."""
    start = pasted.find("{")
    if start < 0:
        return ""
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(pasted, start)
    except (ValueError, RecursionError):
        return ""
    return _deepest_text(value)


def _deepest_text(value: Any) -> str:
    while isinstance(value, dict):
        value = next((value[key] for key in _TEXT_KEYS if key in value), None)
    return value if isinstance(value, str) else ""
