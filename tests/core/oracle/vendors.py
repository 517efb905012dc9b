"""The types that providers publish for their requests, as judges of what chainviz writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import botocore.loaders
from anthropic.types.beta.message_create_params import MessageCreateParamsNonStreaming as AnthropicRequest
from botocore.model import ListShape, MapShape, ServiceModel, Shape, StringShape, StructureShape
from botocore.validate import ParamValidator
from google.genai import types as gemini
from mistralai.client.models import ChatCompletionRequest as MistralRequest
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming as ChatRequest
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming as ResponsesRequest
from pydantic import BaseModel, TypeAdapter, ValidationError

from tests.core.oracle.plain_types import plain

Json = Any


@dataclass(frozen=True)
class Vendor:
    """A provider's API: the format that writes its requests and what its types say of one."""

    format: str
    faults: Callable[[Json], list[str]]
    """The faults of a request; none where the types allow it."""


def _of_typed_dict(request: type, **required: Json) -> Callable[[Json], list[str]]:
    """Judge by a typed dictionary; `required`: members that a chain without settings lacks."""
    return lambda value: _misfits(_adapter(request), {**required, **value})


@cache
def _adapter(request: type) -> TypeAdapter[Json]:
    return TypeAdapter(plain(request))


def _misfits(adapter: TypeAdapter[Json] | type[BaseModel], value: Json) -> list[str]:
    validate = adapter.validate_json if isinstance(adapter, TypeAdapter) else adapter.model_validate_json
    try:
        validate(json.dumps(value), extra="forbid", strict=isinstance(adapter, TypeAdapter))
    except ValidationError as refused:
        return _nearest(refused)
    return []


def _nearest(refused: ValidationError) -> list[str]:
    """The faults without those of the members of a union that are of another type or role than the value."""
    errors = refused.errors(include_url=False, include_context=False)
    others = [each["loc"][:-1] for each in errors if each["type"] == "literal_error" and each["loc"][-1] in ("type", "role")]
    of_type = [each for each in errors if not any(each["loc"][: len(other)] == other for other in others)]
    furthest = max(len(each["loc"]) for each in of_type or errors)
    nearest = [each for each in of_type or errors[:1] if len(each["loc"]) == furthest or not of_type]
    return [f"{'.'.join(str(step)[:24] for step in each['loc'])}: {each['msg']} ({str(each['input'])[:80]})" for each in nearest]


def _of_anthropic(value: Json) -> list[str]:
    """The API takes sampling settings for earlier models; the types of the SDK no longer have them."""
    members = {key: each for key, each in value.items() if key not in ("temperature", "top_p", "top_k")}
    return _misfits(_adapter(AnthropicRequest), {"model": "m", "max_tokens": 1, **members})


def _of_responses(value: Json) -> list[str]:
    """Codex sends encrypted reasoning without the id that the types ask for, and the API takes it."""
    items = [{"id": "rs_1", **item} if item.get("type") == "reasoning" else item for item in value["input"]]
    return _misfits(_adapter(ResponsesRequest), {"model": "m", **value, "input": items})


SAMPLING = ("temperature", "top_p", "top_k")


def _of_anthropic(value: Json) -> list[str]:
    """Today's types have no settings of sampling, which the models of before take."""
    request = {key: item for key, item in value.items() if key not in SAMPLING}
    return _misfits(_adapter(AnthropicRequest), {"model": "m", "max_tokens": 1, **request})


def _of_gemini(value: Json) -> list[str]:
    contents = [*value["contents"], *([value["systemInstruction"]] if "systemInstruction" in value else [])]
    beside = [("toolConfig", gemini.ToolConfig), ("generationConfig", gemini.GenerationConfig)]
    judged: list[tuple[type[BaseModel], Json]] = [(gemini.Content, content) for content in contents]
    judged += [(gemini.Tool, tool) for tool in value.get("tools", ())]
    judged += [(kind, value[key]) for key, kind in beside if key in value]
    return [fault for kind, each in judged for fault in _misfits(kind, each)] + [
        f"{part}: not one kind" for content in contents for part in content.get("parts", []) if len(GEMINI_KINDS & part.keys()) != 1
    ]


GEMINI_KINDS = frozenset(
    ("text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult",
     "toolCall", "toolResponse")
)  # fmt: skip
"""Members of a part of which each part has one: the SDK's model does not say so."""


@cache
def converse_shape() -> StructureShape:
    model = botocore.loaders.Loader().load_service_model("bedrock-runtime", "service-2")
    shape = ServiceModel(model).operation_model("Converse").input_shape
    assert isinstance(shape, StructureShape)
    return shape


def _of_bedrock(value: Json) -> list[str]:
    request = {"modelId": "m", **value}
    report = ParamValidator().validate(request, converse_shape()).generate_report()
    return [line for line in report.splitlines() if line] or list(_odd_words(request, converse_shape()))


def _odd_words(value: Json, shape: Shape, at: str = "") -> Iterator[str]:
    """Words outside an enumeration, which botocore leaves to the server."""
    if isinstance(shape, StringShape) and shape.enum and value not in shape.enum:
        yield f"{at}: {value} is none of {shape.enum}"
    elif isinstance(shape, StructureShape) and isinstance(value, dict):
        for key, item in value.items():
            if key in shape.members:
                yield from _odd_words(item, shape.members[key], f"{at}.{key}")
    elif isinstance(shape, ListShape):
        for place, item in enumerate(value):
            yield from _odd_words(item, shape.member, f"{at}[{place}]")
    elif isinstance(shape, MapShape):
        for key, item in value.items():
            yield from _odd_words(item, shape.value, f"{at}.{key}")


VENDORS = (
    Vendor("openai_chat", _of_typed_dict(ChatRequest, model="m")),
    Vendor("openai_responses", _of_responses),
    Vendor("anthropic", _of_anthropic),
    Vendor("gemini", _of_gemini),
    Vendor("bedrock_converse", _of_bedrock),
    Vendor("mistral", lambda value: _misfits(MistralRequest, {"model": "m", **value})),
)
