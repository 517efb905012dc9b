"""Message objects of agent frameworks as the JSON values that they are stored as."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter


def plain_messages(messages: Sequence[Any]) -> list[Any]:
    """Return messages as JSON values. Mappings stay as they are; objects of LangChain, of the OpenAI Agents SDK and of pydantic-ai
    are written as those libraries write them, without importing the libraries."""
    return [_plain(message) for message in messages]


def _plain(message: Any) -> Any:
    if message is None or isinstance(message, str | int | float | list | Mapping):
        return message
    if hasattr(message, "to_input_item"):  # an item of a run of the OpenAI Agents SDK
        return _plain(message.to_input_item())
    if hasattr(message, "model_dump"):  # a model of pydantic: LangChain, the items of OpenAI
        return message.model_dump(mode="json", exclude_unset=_is_of_openai(message))
    if dataclasses.is_dataclass(message) and not isinstance(message, type):  # pydantic-ai
        return TypeAdapter(type(message)).dump_python(message, mode="json")
    return message


def _is_of_openai(message: object) -> bool:
    """Return True if unset fields have to be omitted, because the API refuses them."""
    return type(message).__module__.startswith("openai.")
