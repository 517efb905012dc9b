"""The OpenAPI document as rows of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: str
    is_required: bool
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A method of an address."""

    group: str
    method: str
    path: str
    text: str
    fields: tuple[Field, ...]
    """The fields of the query and of the body."""
    answers: str
    """The statuses of successful answers."""

    @property
    def paragraphs(self) -> list[str]:
        return self.text.split("\n\n")


def calls(description: Mapping[str, Any], prefix: str) -> list[tuple[str, list[Call]]]:
    """Returns the calls by group."""
    schemas = description["components"]["schemas"]
    found = [
        _call(method.upper(), path.removeprefix(prefix), said, schemas)
        for path, methods in description["paths"].items()
        for method, said in methods.items()
    ]
    return [(group, list(rows)) for group, rows in groupby(found, key=lambda call: call.group)]


def _call(method: str, path: str, said: Mapping[str, Any], schemas: Mapping[str, Any]) -> Call:
    fields = [
        Field(each["name"], _type(each["schema"]), each["required"], each.get("description", ""))
        for each in said.get("parameters", [])
        if each["in"] in ("query", "header")
    ]
    answers = ", ".join(str(status) for status in said["responses"] if str(status).startswith("2"))
    return Call(said["tags"][0], method, path, said["description"], (*fields, *_body(said, schemas)), answers)


def _body(said: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[Field]:
    for kind, content in said.get("requestBody", {}).get("content", {}).items():
        name = content["schema"].get("$ref", "").rpartition("/")[2]
        if not name:
            yield Field("(body)", kind, True, said["requestBody"]["description"])
            continue
        required = schemas[name].get("required", ())
        for field, schema in schemas[name]["properties"].items():
            yield Field(field, _type(schema), field in required, schema.get("description", ""))


def _type(schema: Mapping[str, Any]) -> str:
    kinds = [each["type"] for each in schema.get("anyOf", [schema]) if each.get("type") != "null"]
    return " or ".join(kinds)
