"""Errors as APIs send them: in place of an answer, or as an event of a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chainviz.core.dialects.members import string_of

_NAMES = ("type", "status", "code", "Code", "__type")
_TEXTS = ("message", "Message", "msg", "detail")


@dataclass(frozen=True, slots=True)
class ApiError:
    name: str
    """What kind of error it is, as the API names it; its message where it has no name."""
    message: str


def error_in(value: Any) -> ApiError | None:
    """The error that an answer or an event is; None for one that tells of none.

    OpenAI, Anthropic, Gemini, Cohere and Ollama put it under `error`, Responses and Mistral say by type that the object is one, the events
    of Bedrock are named after exceptions, boto3 writes `Error`, FastAPI servers `detail`.
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
    message = next((text for key in _TEXTS if (text := _text(error.get(key)))), "")
    names = (string_of(error, key) for key in _NAMES)
    return ApiError(next(filter(None, names), message), message)


def _text(value: Any) -> str:
    """A text, or that of the first fault in a list (`detail` of FastAPI)."""
    if isinstance(value, list):
        return string_of(value[0], "msg") if value else ""
    return value if isinstance(value, str) else string_of(value, "message")
