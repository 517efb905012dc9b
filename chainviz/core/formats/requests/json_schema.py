"""JSON Schemas of tools: what single APIs take of them, and Gemini's own spelling, which is that of OpenAPI 3.0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from chainviz.core.formats.requests.settings import NO_ARGUMENTS, Schema

_OPENAPI = frozenset(
    ("type", "format", "title", "description", "nullable", "enum", "items", "properties", "required", "minItems", "maxItems",
     "minProperties", "maxProperties", "minimum", "maximum", "minLength", "maxLength", "pattern", "example", "anyOf", "default",
     "propertyOrdering")
)  # fmt: skip
_TYPES = ("string", "number", "integer", "boolean", "array", "object")
_STRING_FORMATS = ("enum", "date-time")
_COUNTS = ("minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength")


def object_schema(schema: Schema | None) -> Schema:
    """The schema of arguments as APIs require it: that of an object."""
    if not schema:
        return NO_ARGUMENTS
    return schema if "type" in schema else {"type": "object", **schema}


def is_empty(schema: Schema | None) -> bool:
    """Whether no argument is described."""
    if schema is None:
        return True
    says_more = set(schema) - {"type", "properties", "additionalProperties", "required", "$schema"}
    return not (says_more or schema.get("properties") or schema.get("required"))


def fits_openapi(schema: Any) -> bool:
    """Whether Gemini's type Schema can hold it unchanged (ai.google.dev/api/caching#Schema)."""
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
    """Whether OpenAI takes it with `strict`: each object requires all of its properties and allows no others."""
    if not isinstance(schema, Mapping):
        return False
    if schema.get("type") == "object" or "properties" in schema:
        required = [name for name in _items(schema, "required") if isinstance(name, str)]
        if schema.get("additionalProperties") is not False or set(required) != _values(schema, "properties").keys():
            return False
    definitions = (*_values(schema, "$defs").values(), *_values(schema, "definitions").values())
    return all(fits_strict(each) for each in (*_inner(schema), *definitions) if isinstance(each, Mapping))


def _inner(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas in a schema."""
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
    """Gemini's type Schema as JSON Schema: types in small letters, counts as numbers, `nullable` as a type."""
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
