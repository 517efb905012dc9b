"""Tools and settings of a request, in no API's own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Schema = Mapping[str, Any]
"""A JSON Schema."""
NO_ARGUMENTS: Schema = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the program calls for the model."""

    name: str
    description: str = ""
    schema: Schema | None = None
    """The schema of its arguments; None where the request has none."""
    strict: bool | None = None
    """Whether arguments must follow the schema; None where the request does not say."""
    grammar: Mapping[str, Any] | None = None
    """The format of a custom tool, whose input is plain text; None for a function."""
    place: str = ""
    """Where the request defines it, such as `tools[0]`."""


@dataclass(frozen=True, slots=True)
class ToolChoice:
    mode: Literal["auto", "none", "required"]
    names: tuple[str, ...] = ()
    """The only functions that may be called; () for all."""


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """An answer in JSON, of a schema or of any form."""

    schema: Schema | None = None
    name: str = ""
    description: str = ""
    strict: bool | None = None
    is_text: bool = False
    """An answer of any form, which is what APIs give that are not asked for another."""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How much the model reasons; without effort and budget as much as it decides itself."""

    effort: str = ""
    """One of EFFORTS, or a word that only one API knows."""
    budget: int | None = None
    """Tokens."""


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class RequestSettings:
    """What a request says beside its messages; None, () and "" where it says nothing."""

    model: str = ""
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    reasoning: Reasoning | None = None
    response_format: ResponseFormat | None = None
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel_calls: bool | None = None
    family: str = ""
    """Whose models `model` is one of, such as `openai`."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Where the request has each setting, by the name of its field here, such as `generationConfig.topK`."""


NUMBERS = ("max_tokens", "temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty")
"""Settings that are a number in every API."""
