"""Definitions of tools in a request: functions as most APIs spell them, and tools that run at the API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from chainviz.core.formats.requests.changes import Change
from chainviz.core.formats.requests.json_schema import object_schema
from chainviz.core.formats.requests.settings import Tool

_KNOWN = ("type", "name", "description", "strict")


def read_function(value: Any, place: str, schema_key: str) -> Iterator[Tool | Change]:
    """Yields the function that an object describes, and the members of the object that are no part of a function."""
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
    """A tool that runs at the API which defines it, or is trained into its models."""
    name = value.get("type") or value.get("name") if isinstance(value, Mapping) else None
    return Change("own-tool", place, name) if isinstance(name, str) else Change("left-out", place)


def function_members(tool: Tool, schema_key: str, strict: bool | None = None) -> dict[str, Any]:
    """Name, description and schema of a function; and `strict` where it is given."""
    members: dict[str, Any] = {"name": tool.name}
    if tool.description:
        members["description"] = tool.description
    members[schema_key] = object_schema(tool.schema)
    if strict is not None:
        members["strict"] = strict
    return members
