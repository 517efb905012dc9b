"""Write results of tool calls as one text for a model, like the reference's Execute. Nothing is executed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import yaml

from chainviz.core.chain.messages import Binary, Image, Message, Text, ToolCall, ToolResult
from chainviz.core.chain.tree import BodyPair, match_results
from chainviz.core.errors import OptionsError
from chainviz.core.text_formats.contract import Section, TextFormat
from chainviz.core.toolchain.calls import SyntaxName, parse_calls
from chainviz.core.toolchain.syntax import to_json, to_yaml
from chainviz.core.usage.document_usage import NO_SCHEMAS, Schema, ToolSchemas, allows_text

Medium = Image | Binary
Wrapper = Literal["auto", "none", "section"]
"""auto: `<observation>` around XML. section: one section named observation, also in Markdown."""

ERROR = "Error: "


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a tool."""

    value: Any
    """A JSON value."""
    media: tuple[Medium, ...] = ()
    instructions: str = ""
    """Instructions for the model beside the result."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a call has no result."""

    error: str


class HasName(Protocol):
    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class RawResult:
    name: str
    output: Any


@dataclass(frozen=True, slots=True)
class Raw:
    """Results for programs: `results` and `errors` are as long as `calls`, with None if a call has none."""

    calls: tuple[HasName, ...]
    results: tuple[RawResult | None, ...]
    errors: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Result:
    text: str
    """A section for each call, including errors, in call order; "" if there is no call."""
    media: tuple[Medium, ...]
    """The media of all results, in call order."""
    raw: Raw

    def as_content_parts(self) -> tuple[Text | Medium, ...]:
        """Return the parts of a message: the text, even if it is empty, then the media."""
        return (Text(self.text), *self.media)


@dataclass(frozen=True, slots=True)
class ResultOptions:
    syntax: SyntaxName = "json"
    wrapper: Wrapper = "auto"
    empty_when_all_failed: bool = False
    """True to return no text if every call failed, although the model then sees no error."""
    go_compatible: bool = False
    """True to write JSON with the escapes of Go's encoder."""
    reference: bool = False
    """True to behave like the reference's newest version: no automatic wrapper, and Go's escapes."""

    def __post_init__(self) -> None:
        """Raise OptionsError for a word that is not one of the choices."""
        for name, given, choices in (("syntax", self.syntax, SyntaxName), ("wrapper", self.wrapper, Wrapper)):
            if given not in get_args(choices):
                raise OptionsError(f"The option {name} is one of {', '.join(get_args(choices))}.")


DEFAULT = ResultOptions()


def execute(
    content: str,
    tools: Mapping[str, Output | Failure],
    text_format: TextFormat,
    options: ResultOptions = DEFAULT,
    schemas: Mapping[str, Schema] | None = None,
) -> Result:
    """Return the result of the calls in an action section; `tools` contains what each tool returns.
    Raises CallsError if the section is wrong; a tool that is not in `tools` is an error of its own call.
    """
    _require(text_format)
    calls = parse_calls(content, options.syntax, schemas, reference=options.reference)
    outputs = [tools.get(call.name, Failure(f"unknown tool: {call.name}")) for call in calls]
    return format_results(calls, outputs, text_format, options)


def format_results(
    calls: Sequence[HasName], outputs: Sequence[Output | Failure], text_format: TextFormat, options: ResultOptions = DEFAULT
) -> Result:
    """Return a section for each call. `outputs` are those of the calls, in the same order."""
    _require(text_format)
    written = [_written(call, output, options) for call, output in zip(calls, outputs, strict=True)]
    sections, given = [section for section, _ in written], [output for _, output in written]
    all_failed = all(isinstance(output, Failure) for output in given)
    text = "" if options.empty_when_all_failed and all_failed else _text(sections, text_format, options)
    return Result(text, _media(given), _raw(calls, given))


def _require(text_format: TextFormat | None) -> None:
    """Raise TypeError if no text format is given."""
    if text_format is None:
        raise TypeError("a text format is required")


def _written(call: HasName, output: Output | Failure, options: ResultOptions) -> tuple[Section, Output | Failure]:
    """Return the call's section and its output. An output that cannot be serialised becomes a failure."""
    if isinstance(output, Output):
        try:
            return _section(call.name, serialised(output.value, options), output.instructions), output
        except (ValueError, TypeError, RecursionError, yaml.YAMLError):
            output = Failure(f"the output cannot be written as {options.syntax.upper()}")
    return Section(call.name, f"{ERROR}{output.error}"), output


def _section(name: str, content: str, instructions: str) -> Section:
    if not instructions:
        return Section(name, content)
    return Section(name, children=(Section("result", content), Section("instructions", instructions)))


def serialised(value: Any, options: ResultOptions) -> str:
    """Return a value in the options' syntax. Raises an exception of the serialiser if it has no such form."""
    if options.syntax == "yaml":
        return to_yaml(value)
    return to_json(value, go_compatible=options.go_compatible or options.reference)


def _text(sections: Sequence[Section], text_format: TextFormat, options: ResultOptions) -> str:
    text = text_format.format_sections(sections)
    is_wrapped = options.wrapper == "auto" and text_format.is_wrapped and not options.reference
    if not sections or not (is_wrapped or options.wrapper == "section"):
        return text
    return text_format.wrap(text)


def _media(outputs: Sequence[Output | Failure]) -> tuple[Medium, ...]:
    return tuple(medium for output in outputs if isinstance(output, Output) for medium in output.media)


def _raw(calls: Sequence[HasName], outputs: Sequence[Output | Failure]) -> Raw:
    return Raw(
        tuple(calls),
        tuple(
            RawResult(call.name, output.value) if isinstance(output, Output) else None for call, output in zip(calls, outputs, strict=True)
        ),
        tuple(output.error if isinstance(output, Failure) else None for output in outputs),
    )


MISSING = Failure("no result is stored for this call")


def stored_outputs(pair: BodyPair[Message], schemas: ToolSchemas = NO_SCHEMAS) -> tuple[tuple[ToolCall, ...], tuple[Output | Failure, ...]]:
    """Return the pair's calls and what each returned, in call order; a call without a stored result is a failure."""
    calls: list[ToolCall] = []
    outputs: list[Output | Failure] = []
    for ref, match in match_results(pair):
        assert pair.ai is not None
        call = pair.ai.parts[ref.part]
        result = pair.rest[match[0]].parts[match[1].part] if match else None
        assert isinstance(call, ToolCall)
        calls.append(call)
        outputs.append(output_of(result, schemas.results.get(ref.name)) if isinstance(result, ToolResult) else MISSING)
    return tuple(calls), tuple(outputs)


def output_of(result: ToolResult, schema: Schema | None = None) -> Output | Failure:
    """Return an error if the result is marked as one or begins with `Error:`."""
    if is_error(result.content, marked=result.is_error):
        return Failure(result.content.removeprefix(ERROR.strip()).lstrip(" "))
    return Output(value_of(result.content, schema), result.media)


def is_error(content: str, *, marked: bool = False) -> bool:
    return marked or content.startswith(ERROR.strip())


def value_of(content: str, schema: Schema | None = None) -> Any:
    """The JSON value that a stored text represents.

    Without a schema, text of an object or a list is that value, and every other text is a string.
    """
    if allows_text(schema) or (schema is None and content.lstrip()[:1] not in ("{", "[")):
        return content
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content
