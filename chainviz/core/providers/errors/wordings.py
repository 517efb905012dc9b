"""Wordings of errors beside those that the rules quote: of other versions and places of an API, of gateways and of frameworks.

Seen in public issues. What a rule itself says is recognised without an entry here.
"""

from __future__ import annotations

from dataclasses import dataclass

_CLAUDE, _CHAT, _RESPONSES, _BEDROCK = ("anthropic",), ("openai-chat",), ("openai-responses", "deepseek-responses"), ("bedrock",)
_DEEPSEEK = ("deepseek-v3.2", "deepseek")
_GEMINI = ("gemini-3", "gemini-2.5")


@dataclass(frozen=True, slots=True)
class Wording:
    says: str
    """As in a rule, with variables such as `{id}`."""
    providers: tuple[str, ...]
    """Whose wording it is, the likeliest first."""
    rules: tuple[str, ...]
    """Ids of the rules that mean the same, the likeliest first."""
    unseen: tuple[str, ...] = ()
    """Fixes of the message that the error names, for a cause that no rule can see in the chain."""


WORDINGS = (
    Wording(
        "tool_use ids were found without tool_result blocks immediately after: {ids}",
        _CLAUDE, ("result-missing", "result-missing-at-end", "result-after-text"),
    ),
    Wording("unexpected tool_use_id found in tool_result blocks: {id}", _CLAUDE, ("result-without-call",)),
    Wording(
        "unexpected tool_use_id found in {kind} blocks: {id}. Each must have a corresponding server_tool_use block",
        _CLAUDE, ("server-result-without-call",),
    ),
    Wording("unexpected tool_use_id found in {kind} blocks: {id}", _CLAUDE, ("server-result-without-call",)),
    Wording(
        "tool use with id {id} was found without a corresponding {kind} block", _CLAUDE, ("server-call-without-result",)
    ),
    Wording("each tool_use must have a single result. Found multiple tool_result blocks with id: {id}", _CLAUDE, ("result-repeated",)),
    Wording(
        "roles must alternate between user and assistant, but found multiple {role} roles in a row",
        (*_BEDROCK, "vllm", *_CLAUDE), ("roles-alternate", "assistants-alternate"),
    ),
    Wording("conversation roles must alternate", ("vllm", *_BEDROCK, *_CLAUDE), ("roles-alternate", "assistants-alternate")),
    Wording("Expected thinking or redacted_thinking, but found", _CLAUDE, ("thinking-missing",)),
    Wording(
        "thinking or redacted_thinking blocks in the latest assistant message cannot be modified",
        _CLAUDE, ("thinking-emptied", "thinking-unsigned"), ("drop-signed",),
    ),
    Wording("Invalid signature in thinking block", _CLAUDE, ("thinking-unsigned", "thinking-emptied"), ("drop-signed",)),
    Wording("assistant message in the final position cannot contain thinking", _CLAUDE, ("thinking-final",)),
    Wording("final block in an assistant message cannot be thinking", _CLAUDE, ("thinking-last-block",)),
    Wording("text content blocks must be non-empty", _CLAUDE, ("text-empty",)),
    Wording("must contain non-whitespace text", _CLAUDE, ("text-blank", "text-empty")),
    Wording("must have non-empty content", (*_CLAUDE, *_GEMINI, *_BEDROCK), ("content-missing",)),
    Wording("image exceeds {size} MB maximum", _CLAUDE, ("image-too-large",)),
    Wording("Invalid {type} image.", _CHAT, ("image-broken",)),
    Wording("Could not process image", _CLAUDE, ("image-broken",)),
    Wording("{place}.source.base64.data: Image format {type} not supported", _CLAUDE, ("image-type",)),
    Wording("Image does not match the provided media type", _CLAUDE, ("image-mislabelled",)),
    Wording("image dimensions exceed max allowed size", _CLAUDE, ("image-too-large", "image-large")),
    Wording(
        "The image was specified using the {type} media type, but the image appears to be a {type} image",
        _CLAUDE, ("image-mislabelled",),
    ),
    Wording("cannot end with trailing whitespace", _CLAUDE, ("trailing-space",)),
    Wording("no low surrogate in string", _CLAUDE, ("text-surrogate",)),
    Wording("Unexpected role system", ("mistral", *_CLAUDE), ("system-in-messages",)),
    Wording("first message must use the user role", (*_CLAUDE, *_BEDROCK), ("first-role",)),
    Wording("conversation must start with a user message", _BEDROCK, ("first-role",)),
    Wording("toolUse blocks at {place} contain duplicate Ids: {ids}", _BEDROCK, ("call-id-shared",)),
    Wording("toolResult blocks at {place} contain duplicate Ids: {ids}", _BEDROCK, ("result-repeated",)),
    Wording("Expected toolResult blocks at {place} for the following Ids: {ids}", _BEDROCK, ("result-missing", "results-split")),
    Wording("ContentBlock object at {place} is blank", _BEDROCK, ("text-blank",)),
    Wording("message object at {place} is empty", _BEDROCK, ("content-missing",)),
    Wording("must be followed by tool messages responding to each tool_call_id", (*_CHAT, *_DEEPSEEK), ("result-missing",)),
    Wording("The following tool_call_ids did not have response messages: {ids}", (*_CHAT, *_DEEPSEEK), ("result-missing",)),
    Wording("insufficient tool messages following tool_calls message", _DEEPSEEK, ("result-missing",)),
    Wording("Found AIMessages with tool_calls that do not have a corresponding ToolMessage", (*_CHAT, *_CLAUDE), ("result-missing",)),
    Wording("role tool must be a response to a preceding message", (*_CHAT, *_DEEPSEEK), ("result-without-call",)),
    Wording("role tool must be a response to a preceeding message", (*_CHAT, *_DEEPSEEK), ("result-without-call",)),
    Wording("No tool output found for {kind} call {id}", _RESPONSES, ("result-missing", "text-between-calls")),
    Wording("missing required field summary", _RESPONSES, ("member-missing",)),
    Wording("arguments must be a valid JSON", (*_CHAT, "vllm"), ("arguments-no-json", "arguments-no-object")),
    Wording("Unterminated string starting at", (*_CHAT, "vllm"), ("arguments-no-json", "arguments-no-object")),
    Wording("string too long. Expected a string with maximum length", (*_CHAT, *_RESPONSES), ("call-id-too-long", "call-id-long")),
    Wording("Expected an array with minimum length", _CHAT, ("tool-calls-empty", "content-empty")),
    Wording("expected a string, but got an object", _CHAT, ("arguments-type",)),
    Wording("expected a string, got null", _CHAT, ("content-missing",)),
    Wording("number of function response parts is equal to the number of function call parts", _GEMINI, ("result-count",)),
    Wording("function call turn comes immediately after", _GEMINI, ("call-order", "call-after-model")),
    Wording("function response turn comes immediately after", _GEMINI, ("result-without-call", "result-count")),
    Wording("parts must not be empty", _GEMINI, ("content-missing",)),
    Wording("missing a thought_signature", ("gemini-3",), ("thought-signature-missing",)),
    Wording("reasoning_content {text} must be passed back", _DEEPSEEK, ("reasoning-missing",)),
    Wording("missing reasoning_content", _DEEPSEEK, ("reasoning-missing",)),
    Wording("Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of", ("mistral",), ("call-id-form",)),
)  # fmt: skip
