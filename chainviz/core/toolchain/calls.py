"""The text of an action section as tool calls: `{"tool": name, "args": {…}}`, one or a list, in JSON or YAML (seed 2).

Offsets count characters of the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from chainviz.core.documents.json.edit import dump, raw_at
from chainviz.core.text_formats.line_index import LineIndex
from chainviz.core.toolchain.json_syntax import located_values as json_values
from chainviz.core.toolchain.schemas import Schema
from chainviz.core.toolchain.section_values import CallsError, Located
from chainviz.core.toolchain.yaml_syntax import located_values as yaml_values

SyntaxName = Literal["json", "yaml"]


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: dict[str, Any] | None = None
    """JSON values; numbers of JSON keep their full length. None where the call has none."""
    source: str = field(default="", repr=False, compare=False)
    """The call as the text spells it, where that is JSON."""

    @property
    def text(self) -> str:
        """The arguments as JSON, as the source spells them where it is JSON."""
        if self.arguments is None:
            return "{}"
        return (raw_at(self.source, ("args",)) if self.source else None) or dump(self.arguments, ascii_only=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One element of the action: a call, or why it is none."""

    start: int
    end: int
    name: str
    call: Call | None
    error: CallsError | None = None


@dataclass(frozen=True, slots=True)
class ReadCalls:
    entries: tuple[Entry, ...]
    """Valid neighbours of a broken entry too; of a broken text those before the fault."""
    error: CallsError | None = None
    """Why none of the calls runs."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """What runs: every call, or none."""
        return () if self.error else tuple(entry.call for entry in self.entries if entry.call is not None)


def parse_calls(
    text: str,
    syntax: SyntaxName = "json",
    schemas: Mapping[str, Schema] | None = None,
    *,
    reference: bool = False,
) -> tuple[Call, ...]:
    """The calls of a text; CallsError where one of them is wrong. A blank text has none.

    `schemas` of arguments by tool: where YAML is to be a string, its scalars stay as they are written.
    With `reference` the numbers of JSON become floats.
    """
    read = read_calls(text, syntax, schemas, reference=reference)
    if read.error:
        raise read.error
    return read.calls


def read_calls(
    text: str,
    syntax: SyntaxName = "json",
    schemas: Mapping[str, Schema] | None = None,
    *,
    reference: bool = False,
) -> ReadCalls:
    """Each entry alone, with its place and its error. Never fails."""
    text = text.rstrip()
    if not text:
        return ReadCalls(())
    lines = LineIndex(text)
    values = json_values(text, lines, floats=reference) if syntax == "json" else yaml_values(text, lines, schemas or {})
    entries: list[Entry] = []
    try:
        for value in values:
            entries.append(_entry(value, text, lines, syntax))
    except CallsError as error:
        return ReadCalls(tuple(entries), error)
    return ReadCalls(tuple(entries), _first_error(entries))


def _first_error(entries: list[Entry]) -> CallsError | None:
    """Types are checked before names, as the reference does."""
    errors = [entry.error for entry in entries if entry.error is not None]
    return min(errors, key=lambda error: error.kind == "missing_tool_name", default=None)


def _entry(found: Located, text: str, lines: LineIndex, syntax: SyntaxName) -> Entry:
    members = found.value if isinstance(found.value, dict) else {}
    name, arguments = members.get("tool"), members.get("args")
    name = "" if name is None else name
    if syntax == "yaml" and not isinstance(arguments, dict):
        arguments = None
    what = _type_fault(found.value, name, arguments)
    if what:
        error = CallsError("invalid_json" if syntax == "json" else "invalid_yaml", what, lines, found.start)
        return Entry(found.start, found.end, name if isinstance(name, str) else "", None, error)
    if not name:
        missing = CallsError("missing_tool_name", "“tool” is missing; all calls of this text are rejected", lines, found.start)
        return Entry(found.start, found.end, "", None, missing)
    return Entry(found.start, found.end, name, Call(name, arguments, text[found.start : found.end] if found.is_json else ""))


def _type_fault(value: Any, name: Any, arguments: Any) -> str:
    """What is not as it must be; "" where nothing is."""
    if not isinstance(value, dict):
        return f"a call must be an object, not {_kind(value)}"
    if not isinstance(name, str):
        return f"“tool” must be a string, not {_kind(name)}"
    if not isinstance(arguments, dict | None):
        return f"“args” must be an object, not {_kind(arguments)}"
    return ""


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", bool: "true or false", dict: "an object", type(None): "null"}
    return names.get(type(value), "a number")
