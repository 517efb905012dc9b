"""Read a model's answer, and the calls in its action sections: `{"tool": name, "args": {…}}`, one or a list, in JSON or YAML.
Reading never fails: an invalid call becomes an error with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from chainviz.core.documents.json.edit import dump, raw_at
from chainviz.core.errors import OptionsError
from chainviz.core.text_formats import TEXT_FORMATS, get_text_format
from chainviz.core.text_formats.contract import FoundSection, LineIndex, ParsedText, RegisteredSection, TextFormat
from chainviz.core.toolchain.syntax import CallsError, Located
from chainviz.core.toolchain.syntax import locate_json_values as json_values
from chainviz.core.toolchain.syntax import locate_yaml_values as yaml_values
from chainviz.core.usage.document_usage import Schema

SyntaxName = Literal["json", "yaml"]


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: dict[str, Any] | None = None
    """JSON values; JSON numbers keep their full length. None if the call has no arguments."""
    source: str = field(default="", repr=False, compare=False)
    """The call in the spelling of the text, if that is JSON."""

    @property
    def text(self) -> str:
        """The arguments as JSON, in the spelling of the source if that is JSON."""
        if self.arguments is None:
            return "{}"
        return (raw_at(self.source, ("args",)) if self.source else None) or dump(self.arguments, ascii_only=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One element of the action: a call, or the reason why it is invalid."""

    start: int
    end: int
    name: str
    call: Call | None
    error: CallsError | None = None


@dataclass(frozen=True, slots=True)
class ReadCalls:
    entries: tuple[Entry, ...]
    """The entries, including valid ones beside a broken one; of a broken text, those before the fault."""
    error: CallsError | None = None
    """The reason why none of the calls runs."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls that run: all of them, or none."""
        return () if self.error else tuple(entry.call for entry in self.entries if entry.call is not None)


def parse_calls(
    text: str, syntax: SyntaxName = "json", schemas: Mapping[str, Schema] | None = None, *, reference: bool = False
) -> tuple[Call, ...]:
    """Return the calls of a text. Raises CallsError if one of them is wrong. A blank text has none. `schemas` of arguments by tool: for
    a string in YAML, scalars keep their spelling. With `reference` the numbers of JSON become floats.
    """
    read = read_calls(text, syntax, schemas, reference=reference)
    if read.error:
        raise read.error
    return read.calls


def read_calls(
    text: str, syntax: SyntaxName = "json", schemas: Mapping[str, Schema] | None = None, *, reference: bool = False
) -> ReadCalls:
    """Read each entry on its own, with its place and its error. Never fails."""
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
    """Return the error of an entry. Types are checked before names, as in the reference."""
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
    """Describe the first wrong type in a call, or return "" if all types are right."""
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


USUAL = tuple(RegisteredSection(name) for name in ("thinking", "action", "answer"))
ACTION = "action"

OUTER = ReadCalls((), CallsError("invalid_json", "another section of the same name is inside this one", LineIndex(""), 0))


@dataclass(frozen=True, slots=True)
class ParseOptions:
    format: str = ""
    """The name of a text format; "" to use the one that finds more sections."""
    sections: tuple[RegisteredSection, ...] = USUAL
    """The sections to find; if empty, all."""
    strict: bool = False
    calls_in: str = ACTION
    """The section that contains calls; "" for none."""
    syntax: SyntaxName = "json"
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    """The schema of the arguments, by tool."""

    def __post_init__(self) -> None:
        """Raise OptionsError for a word that is not one of the choices."""
        if self.syntax not in get_args(SyntaxName):
            raise OptionsError(f"The option syntax is one of {', '.join(get_args(SyntaxName))}.")


DEFAULT = ParseOptions()


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    format: TextFormat
    """The format with the sections registered. Its `parse` returns the values or the error, its `describe_structure`
    the prompt."""
    text: ParsedText
    actions: tuple[tuple[FoundSection, ReadCalls], ...]
    """The sections with calls; offsets of calls count from the section's `start`."""

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the registered sections that the text does not have."""
        found = {section.name for section in self.text.sections}
        return tuple(each.name for each in self.format.sections if each.name not in found)


def parse_answer(text: str, options: ParseOptions = DEFAULT) -> ParsedAnswer:
    chosen = (get_text_format(options.format),) if options.format else TEXT_FORMATS
    answers = [_parsed(text, text_format, options) for text_format in chosen]
    return max(answers, key=lambda answer: len(answer.text.sections))


def _parsed(text: str, text_format: TextFormat, options: ParseOptions) -> ParsedAnswer:
    registered = text_format
    for section in options.sections:
        registered = registered.register(section.name, section.guidance)
    registered = replace(registered, strict=options.strict)
    parsed = registered.scan(text)
    chosen = [section for section in parsed.sections if section.name.lower() == options.calls_in.lower()]
    actions = tuple(
        (section, OUTER if is_outer else read_calls(section.content, options.syntax, options.schemas))
        for section, is_outer in with_outer(chosen)
    )
    return ParsedAnswer(registered, parsed, actions)


def with_outer(sections: Iterable[FoundSection]) -> Iterator[tuple[FoundSection, bool]]:
    """Yield sections of one name, in the order of their ends, and whether each contains the one before it."""
    start = -1
    for section in sections:
        yield section, section.start < start
        start = section.start
