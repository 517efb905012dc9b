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
        _words(r"images?\b|image_url|picture|vision|mime.?type|media.type|\bpdf|document|multimodal|inline.?data"),
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
            r"argument|item pairs|mapping|'items'|\bjson\b.{0,40}(?:pars|decod|invalid|object)|"
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
