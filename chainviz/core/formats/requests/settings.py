"""Tools and settings of a request as neutral values: the JSON members they are read from, JSON Schemas, and what a conversion
changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

Schema = Mapping[str, Any]
"""A JSON Schema."""
NO_ARGUMENTS: Schema = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the program calls for the model."""

    name: str
    description: str = ""
    schema: Schema | None = None
    """The schema of its arguments, or None if the request has none."""
    strict: bool | None = None
    """True if arguments must follow the schema; None if the request does not say."""
    grammar: Mapping[str, Any] | None = None
    """The format of a custom tool, whose input is plain text; None for a function."""
    place: str = ""
    """The place of its definition in the request, such as `tools[0]`."""


@dataclass(frozen=True, slots=True)
class ToolChoice:
    mode: Literal["auto", "none", "required"]
    names: tuple[str, ...] = ()
    """The only functions that may be called, or () for all."""


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """An answer in JSON, of a schema or of any form."""

    schema: Schema | None = None
    name: str = ""
    description: str = ""
    strict: bool | None = None
    is_text: bool = False
    """True for an answer of any form, which is the default of APIs."""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The amount of reasoning of the model; without effort and budget the model decides."""

    effort: str = ""
    """One of EFFORTS, or a word that only one API knows."""
    budget: int | None = None
    """The budget in tokens."""


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class RequestSettings:
    """The settings of a request beside its messages; None, () and "" if it has none."""

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
    """The family of `model`, such as `openai`."""
    places: Mapping[str, str] = field(default_factory=dict)
    """The place of each setting in the request, by the name of its field here, such as `generationConfig.topK`."""


NUMBERS = ("max_tokens", "temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty")
"""Settings that are a number in every API."""


Kind = Literal["left-out", "own-tool", "model", "changed", "added", "derived-tools"]


@dataclass(frozen=True, slots=True)
class Change:
    """One setting, or member of the request, that is not written as it was."""

    kind: Kind
    place: str
    """The place in the old request, or for an added setting its place in the new one."""
    old: str = ""
    """The value, or the name of a tool."""
    new: str = ""
    """The value that is written instead."""


def sentences(changes: Iterable[Change], label: str) -> Iterator[str]:
    """Yield a sentence for each kind of change. `label` names the format that is written."""
    found = list(changes)
    left_out = [change.place for change in found if change.kind == "left-out"]
    if left_out:
        yield f"Fields beside the messages are left out: {', '.join(dict.fromkeys(left_out))}."
    for change in found:
        match change.kind:
            case "own-tool":
                yield f"{change.place}: {change.old} is a tool of its API and is left out."
            case "model":
                yield f"{change.place}: the model {change.old} is left out; choose one for {label}."
            case "changed":
                yield f"{change.place}: {change.old} becomes {change.new}: {label} does not accept it."
            case "added":
                yield f"{change.place} is added as {change.new}: {label} requires it."
            case "derived-tools":
                yield (
                    f"{change.place}: {label} requires the definitions of the tools that are called; those of {change.new} are made "
                    "from their calls and say nothing of the arguments."
                )
            case _:
                continue


T = TypeVar("T")
R = TypeVar("R")
Place = tuple[str, ...]
"""The keys that lead to a member."""
NUMBER = (int, float)


class Members:
    """A request that is read. Each member is removed when it is taken; those that stay are not settings."""

    def __init__(self, value: dict[str, Any], at: str = "") -> None:
        self._value = value
        self._at = at
        """The beginning of the names of places."""
        self.opened: set[int] = set()
        """Identities of the objects in the request from which a member was taken."""
        self.lost: list[str] = []
        """The places of values that were taken and not understood."""
        self.places: dict[str, str] = {}
        """The places of the settings that were taken, by the names of their fields."""

    def read(self, place: Place, kind: type[T] | tuple[type[T], ...], setting: str, read: Callable[[Any], R | None]) -> R | None:
        """Return what `read` makes of the value at a place, and removes the value; it is lost where that is None."""
        value = self.take(place, kind, setting)
        if value is None:
            return None
        found = read(value)
        if found is None:
            self.lost.append(self.name(place))
        return found

    def take(self, place: Place, kind: type[T] | tuple[type[T], ...], setting: str = "") -> T | None:
        """Return the value at a place and remove it; None, without removing anything, if it is of another kind."""
        holders = [self._value]
        for key in place[:-1]:
            inner = holders[-1].get(key)
            if not isinstance(inner, dict):
                return None
            holders.append(inner)
        found = holders[-1].get(place[-1])
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(found, kinds) or (isinstance(found, bool) and bool not in kinds):
            return None
        del holders[-1][place[-1]]
        self.opened.update(map(id, holders[1:]))
        if setting:
            self.places[setting] = self.name(place)
        return found

    def name(self, place: Place) -> str:
        return self._at + ".".join(place)


def put(value: dict[str, Any], place: Place, item: Any) -> None:
    """Set the member at a place, with the objects that lead to it."""
    for key in place[:-1]:
        value = value.setdefault(key, {})
    value[place[-1]] = item


# What single APIs take of JSON Schema, and Gemini's own spelling, which is that of OpenAPI 3.0.


_OPENAPI = frozenset(
    ("type", "format", "title", "description", "nullable", "enum", "items", "properties", "required", "minItems", "maxItems",
     "minProperties", "maxProperties", "minimum", "maximum", "minLength", "maxLength", "pattern", "example", "anyOf", "default",
     "propertyOrdering")
)  # fmt: skip
_TYPES = ("string", "number", "integer", "boolean", "array", "object")
_STRING_FORMATS = ("enum", "date-time")
_COUNTS = ("minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength")


def object_schema(schema: Schema | None) -> Schema:
    """Return the schema of arguments as APIs require it: that of an object."""
    if not schema:
        return NO_ARGUMENTS
    return schema if "type" in schema else {"type": "object", **schema}


def is_empty(schema: Schema | None) -> bool:
    """Return True if no argument is described."""
    if schema is None:
        return True
    says_more = set(schema) - {"type", "properties", "additionalProperties", "required", "$schema"}
    return not (says_more or schema.get("properties") or schema.get("required"))


def fits_openapi(schema: Any) -> bool:
    """Return True if Gemini's type Schema can express it unchanged (ai.google.dev/api/caching#Schema)."""
    if not isinstance(schema, Mapping) or not schema.keys() <= _OPENAPI:
        return False
    kind = schema.get("type")
    if kind not in _TYPES and not (kind is None and "anyOf" in schema):
        return False
    if kind == "object" and "properties" in schema and not schema["properties"]:
        return False
    is_odd_format = kind == "string" and schema.get("format", "enum") not in _STRING_FORMATS
    texts = all(isinstance(each, str) for each in _items(schema, "enum"))
    return texts and not is_odd_format and all(map(fits_openapi, _inner(schema)))


def fits_strict(schema: Any) -> bool:
    """Return True if OpenAI accepts the schema with `strict`: each object requires all its properties and allows no
    others."""
    if not isinstance(schema, Mapping):
        return False
    if schema.get("type") == "object" or "properties" in schema:
        required = [name for name in _items(schema, "required") if isinstance(name, str)]
        if schema.get("additionalProperties") is not False or set(required) != _values(schema, "properties").keys():
            return False
    definitions = (*_values(schema, "$defs").values(), *_values(schema, "definitions").values())
    return all(fits_strict(each) for each in (*_inner(schema), *definitions) if isinstance(each, Mapping))


def _inner(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the schemas in a schema."""
    yield from _values(schema, "properties").values()
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        yield from _items(schema, key)
    if "items" in schema:
        yield schema["items"]


def _items(schema: Mapping[str, Any], key: str) -> list[Any]:
    found = schema.get(key)
    return found if isinstance(found, list) else []


def _values(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = schema.get(key)
    return found if isinstance(found, Mapping) else {}


def from_openapi(schema: Any) -> Any:
    """Return Gemini's type Schema as JSON Schema: types in lower case, counts as numbers, `nullable` as a type."""
    if not isinstance(schema, Mapping):
        return schema
    new: dict[str, Any] = {_CAMEL.get(str(key), str(key)): each for key, each in schema.items()}
    new.pop("propertyOrdering", None)
    if isinstance(new.get("type"), str):
        new["type"] = new["type"].lower()
    for key in _COUNTS:
        if isinstance(new.get(key), str) and new[key].isdecimal():
            new[key] = int(new[key])
    if isinstance(new.get("properties"), Mapping):
        new["properties"] = {name: from_openapi(each) for name, each in new["properties"].items()}
    if isinstance(new.get("anyOf"), list):
        new["anyOf"] = [from_openapi(each) for each in new["anyOf"]]
    if "items" in new:
        new["items"] = from_openapi(new["items"])
    if "example" in new:
        new["examples"] = [new.pop("example")]
    if new.pop("nullable", False) is True:
        _allow_null(new)
    return new


_CAMEL = {
    "any_of": "anyOf", "max_items": "maxItems", "min_items": "minItems", "max_length": "maxLength", "min_length": "minLength",
    "max_properties": "maxProperties", "min_properties": "minProperties", "property_ordering": "propertyOrdering",
}  # fmt: skip


def _allow_null(schema: dict[str, Any]) -> None:
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
        if isinstance(schema.get("enum"), list):
            schema["enum"] = [*schema["enum"], None]
    elif isinstance(schema.get("anyOf"), list):
        schema["anyOf"] = [*schema["anyOf"], {"type": "null"}]


_KNOWN = ("type", "name", "description", "strict")


def read_function(value: Any, place: str, schema_key: str) -> Iterator[Tool | Change]:
    """Yield the function that an object describes, and the members of the object that are not part of a function."""
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str) or not value["name"]:
        yield Change("left-out", place)
        return
    schema, strict = value.get(schema_key), value.get("strict")
    yield Tool(
        value["name"],
        value["description"] if isinstance(value.get("description"), str) else "",
        schema if isinstance(schema, Mapping) else None,
        strict if isinstance(strict, bool) else None,
        place=place,
    )
    for key, each in value.items():
        if key not in (*_KNOWN, schema_key) and each is not None:
            yield Change("left-out", f"{place}.{key}")


def own_tool(value: Any, place: str) -> Change:
    """Return the change for a tool that runs at the API, or that its models are trained on."""
    name = value.get("type") or value.get("name") if isinstance(value, Mapping) else None
    return Change("own-tool", place, name) if isinstance(name, str) else Change("left-out", place)


def function_members(tool: Tool, schema_key: str, strict: bool | None = None) -> dict[str, Any]:
    """Return name, description and schema of a function; and `strict` if it is given."""
    members: dict[str, Any] = {"name": tool.name}
    if tool.description:
        members["description"] = tool.description
    members[schema_key] = object_schema(tool.schema)
    if strict is not None:
        members["strict"] = strict
    return members
