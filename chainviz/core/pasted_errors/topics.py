"""Find the topic of an error that no rule quotes. A topic has rules, or messages that contain what the error names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from chainviz.core.chain.messages import SYSTEM, Binary, Image, Message, ToolResult
from chainviz.core.chain.reasoning import is_signed, thinks

_RESULTS = (
    "result-missing", "result-missing-at-end", "results-split", "result-without-call", "result-after-text", "result-repeated",
    "result-count", "call-id-shared", "call-id-reused", "call-order",
)  # fmt: skip


def _nothing(message: Message) -> bool:
    return False


def _has_media(message: Message) -> bool:
    return any(isinstance(part, Image | Binary) or (isinstance(part, ToolResult) and part.media) for part in message.parts)


@dataclass(frozen=True, slots=True)
class Topic:
    words: re.Pattern[str]
    """Words of such an error."""
    rules: tuple[str, ...]
    """Ids of the rules about it, the likeliest first."""
    holds: Callable[[Message], bool] = _nothing
    """Returns True for a message that may be the cause although it breaks no rule."""
    fix: str = ""
    """The fix of such a message; "" if there is none."""


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


TOPICS: tuple[Topic, ...] = (
    Topic(
        _words(
            r"images?\b|image_url|picture|vision|mime.?type|media.type|\bpdf|document|multimodal|inline.?data|downloading|"
            r"(?:download|fetch|retrieve)\b.{0,40}\b(?:file|url|content)"
        ),
        ("image-broken", "image-mislabelled", "image-type", "image-empty", "image-too-large", "image-address", "result-media", "part-role",
         "part-type", "document-without-text", "parts-too-many"),
        _has_media, "media-to-text",
    ),
    Topic(_words(r"signature|encrypted"), ("thinking-unsigned", "thinking-signature-cut", "thinking-emptied"), is_signed, "drop-signed"),
    Topic(
        _words(r"reasoning|thinking|thought"),
        ("reasoning-missing", "thinking-missing", "thinking-enabled", "thinking-last-block", "thinking-final", "reasoning-without-item"),
        thinks, "drop-reasoning",
    ),
    Topic(
        _words(
            r"argument|item pairs|mapping|'items'|expecting (?:value|property name|',' delimiter)|extra data: line|"
            r"\bjson\b.{0,40}(?:pars|decod|invalid|object)|"
            r"(?:pars|decod|invalid|convert)\w*.{0,60}\b(?:json|tool.calls?)\b"
        ),
        ("arguments-no-json", "arguments-no-object", "arguments-type", "arguments-missing", "tool-name", "tool-name-empty",
         "text-surrogate"),
    ),
    Topic(
        _words(r"tool.?(?:call|result|response|output|use|message|invocation)|tool_call_id|function.?(?:call|response|output)|unprocessed"),
        (*_RESULTS, "tool-calls-empty", "call-by-user", "member-missing", "tools-undefined"),
    ),
    Topic(_words(r"\bids?\b.{0,40}(?:match|pattern|long|invalid|character)"), ("call-id-pattern", "call-id-too-long", "call-id-form")),
    Topic(_words(r"system"), ("system-in-messages", "system-place", "system-first"), lambda message: message.role == SYSTEM),
    Topic(
        _words(r"alternat|consecutive|multi.?turn|first message|last message|\broles?\b|user (?:message|query)|prefill|end with"),
        ("roles-alternate", "assistants-alternate", "first-role", "last-role", "call-order", "role-unknown", "messages-missing",
         "system-in-messages"),
        lambda message: message.role == SYSTEM,
    ),
    Topic(
        _words(r"empty|blank|\bnull\b|\bnone\b|<nil>|non-?empty|whitespace|\bcontent\b|required property|too short"),
        ("content-missing", "text-empty", "text-blank", "content-empty", "content-type", "tool-calls-empty", "call-without-text",
         "trailing-space", "part-empty", "member-missing", "field-type"),
    ),
)  # fmt: skip
"""Special topics come first, since an error about an image may also name a tool's result."""


def topics_of(text: str) -> tuple[Topic, ...]:
    return tuple(topic for topic in TOPICS if topic.words.search(text))


_BESIDE = {
    _words(
        r"prompt is too long|context.{0,12}(?:length|window|size)|input (?:is|was) too long|too many (?:input )?tokens|"
        r"token count.{0,40}exceed|reduce the length|request_too_large|exceed.{0,40}tokens allowed"
    ): "It is about the length of the request: compact, summarize or mask the chain to make it shorter.",
    _words(
        r"rate.?limit|overloaded|quota|too many requests|tokens per min|billing|credit balance|insufficient.{0,8}(?:quota|balance|funds)|"
        r"api.?key|authenticat|unauthori[sz]ed|permission_error|service.?unavailable|internal server error"
    ): "It is about the account or the load of the API, not about the chain: the same request may be accepted later.",
    _words(
        r"\btools?[.\[]\d|'tools'|\btools: |tool_choice|toolConfig\.tools|toolChoice|function_declarations|input_schema|json.?schema|"
        r"invalid schema for function|function parameters|tool names must be unique|tool type\b"
    ): "It is about the tools that the request defines, not about a message of the chain.",
    _words(
        r"max_(?:completion_|output_)?tokens|temperature|top_[pk]\b|budget_tokens|reasoning[._]?effort|response_format|text\.format|"
        r"stop_sequences|thinking\.type|thinking may not be enabled|parallel_tool_calls|model.{0,40}(?:not found|does not exist)"
    ): "It is about a setting of the request, not about a message of the chain.",
}
"""What is said about an error that no message of a chain causes. Limits come first, since their errors name settings too."""


def beside_messages(text: str) -> str:
    """Return a sentence if the error is about the request beside its messages, its length or the API, else ""."""
    return next((says for words, says in _BESIDE.items() if words.search(text)), "")
