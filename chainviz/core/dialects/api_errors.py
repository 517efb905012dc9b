"""Recognise what APIs send in place of an answer: an error, a refusal, or a notice that the answer is not ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from chainviz.core.dialects.values import string_of

_NAMES = ("type", "status", "code", "Code", "__type")
_TEXTS = ("message", "Message", "msg", "detail")


@dataclass(frozen=True, slots=True)
class ApiError:
    name: str
    """The kind of error as the API names it, or its message if it has no name."""
    message: str


def error_in(value: Any) -> ApiError | None:
    """The error that an answer or an event is; None for one that tells of none.

    OpenAI, Anthropic, Gemini, Cohere and Ollama put it under `error`, Responses and Mistral say by type that the object is one, the events
    of Bedrock are named after exceptions, boto3 writes `Error`, FastAPI servers `detail`. OpenRouter puts its provider's answer under
    `metadata.raw`.
    """
    if isinstance(value, list):
        return error_in(value[0]) if value else None
    if not isinstance(value, dict):
        return None
    for key in ("error", "Error"):
        if value.get(key) and isinstance(value[key], dict | str):
            return error_in(value[key]) or _described(value[key])
    if "error" in (value.get("type"), value.get("object")) or "__type" in value:
        return _described({key: each for key, each in value.items() if each != "error"})
    name = next((key for key in value if key.endswith("Exception") and isinstance(value[key], dict)), "")
    if name:
        return ApiError(name, _described(value[name]).message)
    return _described(value) if set(value) == {"detail"} else None


def _described(error: Any) -> ApiError:
    if isinstance(error, str):
        return ApiError(error, error)
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    message = raw if isinstance(raw, str) and raw else next((text for key in _TEXTS if (text := _text(error.get(key)))), "")
    names = (string_of(error, key) for key in _NAMES)
    return ApiError(next(filter(None, names), message), message)


def _text(value: Any) -> str:
    """Return a text, or the text of the first fault in a list (`detail` of FastAPI)."""
    if isinstance(value, list):
        return string_of(value[0], "msg") if value else ""
    return value if isinstance(value, str) else string_of(value, "message")


_WRAPPERS = ("response", "result", "body")
"""Members in which batches and proxies put the answer of the API."""
_PENDING = ("queued", "in_progress", "validating", "processing")
_LONGEST = 200


def what_came_instead(value: Any) -> str:
    """Say what a document without an answer is, in words that follow “This is”; return "" if it may have one."""
    for inner in _opened(value):
        found = next(filter(None, (describe(inner) for describe in _KINDS)), "")
        if found:
            return found
    return ""


def _opened(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the document, or the first one of a list, and the contents of its wrappers."""
    while isinstance(value, list) and value:
        value = value[0]
    while isinstance(value, dict):
        yield value
        value = next((value[key] for key in _WRAPPERS if isinstance(value.get(key), dict)), None)


def _quoted(name: str, *details: str) -> str:
    """Return `name` with the message of the API."""
    told = [detail.strip() for detail in dict.fromkeys(details) if detail.strip()]
    return f"{name} ({': '.join(told)[:_LONGEST]})" if told else name


def _blocked_prompt(value: dict[str, Any]) -> str:
    feedback = value.get("promptFeedback", value.get("prompt_feedback"))
    reason, message = (string_of(feedback, keys[0]) or string_of(feedback, keys[1]) for keys in _FEEDBACK)
    return _quoted("a prompt that Gemini blocked, without an answer", reason, message) if reason or message else ""


_FEEDBACK = (("blockReason", "block_reason"), ("blockReasonMessage", "block_reason_message"))
_BLOCKS = frozenset(("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE", "OTHER"))


def _empty_candidate(value: dict[str, Any]) -> str:
    candidates = value.get("candidates", ...)
    if not candidates:
        return "an answer of Gemini without candidates"
    first = candidates[0] if isinstance(candidates, list) else None
    if not isinstance(first, dict) or not isinstance(first.get("content", {}), dict) or first.get("content", {}).get("parts"):
        return ""
    reason = string_of(first, "finishReason") or string_of(first, "finish_reason")
    message = string_of(first, "finishMessage") or string_of(first, "finish_message")
    if not reason and "content" not in first:
        return ""
    return _quoted("an answer that Gemini blocked" if reason in _BLOCKS else "an answer of Gemini without content", reason, message)


def _without_candidates(value: dict[str, Any]) -> str:
    is_answer = {"usageMetadata", "modelVersion"} <= value.keys() and "candidates" not in value
    return "an answer of Gemini without candidates" if is_answer else ""


def _bedrock_message(value: dict[str, Any]) -> str:
    output = value.get("output")
    message = output.get("message") if isinstance(output, dict) else None
    if "stopReason" not in value or not isinstance(message, dict) or message.get("content") != []:
        return ""
    return _quoted("an answer of Bedrock without content", string_of(value, "stopReason"))


def _error(value: dict[str, Any]) -> str:
    error = error_in(value)
    return _quoted("an error that a provider returned", error.message or error.name) if error else ""


_OBJECTS = {"response": "output", "interaction": "steps", "chat.completion": "choices"}
"""Kinds of answers, with the member that contains the content."""


def _unfinished(value: dict[str, Any]) -> str:
    kind, status = string_of(value, "object"), string_of(value, "status")
    if kind in ("batch", "message_batch"):
        return _quoted("a batch of requests, without their answers", status)
    if kind not in _OBJECTS or value.get(_OBJECTS[kind]):
        return ""
    if status in _PENDING:
        return f"a response that is {status.replace('_', ' ')} and has no output yet"
    details = value.get("incomplete_details")
    return _quoted("a response without output", status, string_of(details, "reason"))


def _lone_message(value: dict[str, Any]) -> str:
    """Return the message of an error of Cohere, which consists of a message and the id of the request."""
    is_error = "message" in value and set(value) <= {"id", "message"}
    return _quoted("an error that a provider returned", string_of(value, "message")) if is_error and string_of(value, "message") else ""


_KINDS: tuple[Callable[[dict[str, Any]], str], ...] = (
    _blocked_prompt, _empty_candidate, _without_candidates, _bedrock_message, _error, _unfinished, _lone_message,
)  # fmt: skip
