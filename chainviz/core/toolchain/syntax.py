"""Read JSON and YAML in action sections and in results: values with their places, or the reason why there are none."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Literal, NoReturn

import yaml

from chainviz.core.documents.json.scan import SPACE, in_words
from chainviz.core.errors import ChainError
from chainviz.core.text_formats.contract import LineIndex
from chainviz.core.usage.document_usage import Schema, allows_text

ErrorKind = Literal["missing_tool_name", "invalid_json", "invalid_yaml"]


@dataclass(frozen=True, slots=True)
class Located:
    """A value that should be a call; `text[start:end]` is how the text spells it."""

    value: Any
    start: int
    end: int
    is_json: bool = True


class CallsError(ChainError):
    """`offset` counts characters of the text, `line` and `column` count from 1."""

    def __init__(self, kind: ErrorKind, what: str, lines: LineIndex, offset: int) -> None:
        self.kind = kind
        self.what = what
        self.offset = offset
        self.line, self.column = lines.place(offset)
        super().__init__(f"Line {self.line}, column {self.column}: {what}.")


Decode = Callable[[str, int], tuple[Any, int]]
_GO_ESCAPED = re.compile("[<>&\u2028\u2029]")


def locate_json_values(text: str, lines: LineIndex, *, floats: bool = False) -> Iterator[Located]:
    """The object, or the elements of the list; CallsError where the text stops being JSON.

    Integers keep their full length; with `floats` they become floats, as in Go.
    """
    decoder = json.JSONDecoder(parse_int=float if floats else None, parse_constant=_refuse)
    try:
        yield from _values(text, decoder.raw_decode)
    except json.JSONDecodeError as error:
        raise CallsError("invalid_json", in_words(error.msg), lines, error.pos) from None
    except RecursionError:
        raise CallsError("invalid_json", "values are nested too deep", lines, 0) from None
    except ValueError:
        raise CallsError("invalid_json", "a number is too long, or none that JSON has", lines, 0) from None


def _values(text: str, decode: Decode) -> Iterator[Located]:
    place = _skip_space(text, 0)
    if not text.startswith("[", place):
        value, end = decode(text, place)
        yield Located(value, place, end)
        _expect_end(text, end)
        return
    place = _skip_space(text, place + 1)
    goes_on = not text.startswith("]", place)
    while goes_on:
        value, end = decode(text, place)
        yield Located(value, place, end)
        place = _skip_space(text, end)
        goes_on = text.startswith(",", place)
        if goes_on:
            place = _skip_space(text, place + 1)
        elif not text.startswith("]", place):
            raise json.JSONDecodeError("Expecting ',' delimiter", text, place)
    _expect_end(text, place + 1)


def _skip_space(text: str, place: int) -> int:
    found = SPACE.match(text, place)
    return found.end() if found else place


def _expect_end(text: str, place: int) -> None:
    end = _skip_space(text, place)
    if end < len(text):
        raise json.JSONDecodeError("Extra data", text, end)


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


def to_json(value: Any, *, go_compatible: bool = False) -> str:
    """Return compact JSON. Raises ValueError, TypeError or RecursionError if the value has none.
    `go_compatible` escapes `<`, `>`, `&`, U+2028 and U+2029, as Go's json.Marshal does.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _GO_ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text) if go_compatible else text


# PyYAML composes and emits; what a scalar means is decided here. The reference reads scalars almost as YAML 1.2 does:
# `yes` is a text, `007` a number, a date a timestamp.


_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOL = {word: value for value in (True, False) for word in (str(value), str(value).lower(), str(value).upper())}
_INTEGER = re.compile(r"[-+]?(?:0b[01][01_]*|0o[0-7][0-7_]*|0x[0-9a-fA-F][0-9a-fA-F_]*|0[0-7_]*|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}\S*)?")
_OTHER_BREAKS = re.compile("[\r\x85\u2028\u2029]")
"""Characters that YAML reads as line breaks, and other programs do not."""
_BASES = {"0b": 2, "0o": 8, "0x": 16}
_TEXT = "tag:yaml.org,2002:str"
_MOST_DIGITS = 4300
"""The most digits of an integer that Python reads."""
_IN_WORDS = {"mapping values are not allowed here": "a second colon needs quotes around its text"}


def locate_yaml_values(text: str, lines: LineIndex, schemas: Mapping[str, Schema]) -> Iterator[Located]:
    """Yield the mapping, or the elements of the list, of the first document. Raises CallsError if there is none.
    `schemas` of arguments by tool: a scalar that is to be a string keeps its spelling.
    """
    if not schemas:
        try:
            # JSON is YAML, and PyYAML misreads some of it (tabs, surrogate pairs)
            yield from list(locate_json_values(text, lines))
            return
        except CallsError:
            pass
    node = _compose(text, lines)
    budget = _Budget(text, lines)
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            if isinstance(item, yaml.ScalarNode):
                raise CallsError("invalid_yaml", "a call must be a mapping", lines, item.start_mark.index)
            yield _located(text, item, schemas, budget)
    elif isinstance(node, yaml.MappingNode):
        yield _located(text, node, schemas, budget)
    else:
        raise CallsError("invalid_yaml", "a call must be a mapping", lines, 0)


def _compose(text: str, lines: LineIndex) -> yaml.Node | None:
    try:
        return next(yaml.compose_all(text, yaml.SafeLoader), None)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "this is not YAML"
        raise CallsError("invalid_yaml", _IN_WORDS.get(what, what), lines, mark.index if mark else 0) from None
    except yaml.reader.ReaderError as error:
        raise CallsError("invalid_yaml", "a character is not allowed in YAML", lines, error.position) from None
    except RecursionError:
        raise CallsError("invalid_yaml", "values are nested too deep", lines, 0) from None


def _located(text: str, node: yaml.Node, schemas: Mapping[str, Schema], budget: _Budget) -> Located:
    start = node.start_mark.index
    end = start + len(text[start : node.end_mark.index].rstrip())
    try:
        value = _members(node, schemas, budget) if isinstance(node, yaml.MappingNode) else _value(node, None, budget)
    except RecursionError:
        raise CallsError("invalid_yaml", "values are nested too deep", budget.lines, start) from None
    return Located(value, start, end, is_json=False)


def _members(node: yaml.MappingNode, schemas: Mapping[str, Schema], budget: _Budget) -> dict[str, Any]:
    """Return the members of a call: its tool, in its own spelling, and its arguments."""
    nodes = {_key(key): item for key, item in node.value}
    members = {}
    if "tool" in nodes:
        tool = nodes["tool"]
        is_text = isinstance(tool, yaml.ScalarNode) and (tool.style or tool.value not in _NULL)
        members["tool"] = tool.value if is_text else _value(tool, None, budget)
    if "args" in nodes:
        name = members.get("tool")
        members["args"] = _value(nodes["args"], schemas.get(name) if isinstance(name, str) else None, budget)
    return members


class _Budget:
    """Aliases can make a small text huge. Without them a document has fewer values than characters."""

    def __init__(self, text: str, lines: LineIndex) -> None:
        self.lines = lines
        self._left = 10 * len(text)

    def spend(self, node: yaml.Node) -> None:
        self._left -= 1
        if self._left < 0:
            raise CallsError("invalid_yaml", "aliases repeat too much", self.lines, node.start_mark.index)


def _value(node: yaml.Node, schema: Any, budget: _Budget) -> Any:
    budget.spend(node)
    known = schema if isinstance(schema, Mapping) else {}
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, known.get("items"), budget) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        properties = known.get("properties")
        inner = properties if isinstance(properties, Mapping) else {}
        return {_key(key): _value(item, inner.get(_key(key)), budget) for key, item in node.value}
    is_text = not isinstance(node, yaml.ScalarNode) or node.style or allows_text(schema)
    return node.value if is_text else scalar_value(node.value)


def _key(node: yaml.Node) -> str:
    return node.value if isinstance(node, yaml.ScalarNode) else "?"


def scalar_value(text: str) -> Any:
    """What a scalar without quotes means: null, a boolean, a number, a timestamp (as RFC 3339 text) or the text itself.

    `.inf` and `.nan` stay texts: JSON has no such numbers.
    """
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INTEGER.fullmatch(text) and len(text) < _MOST_DIGITS:
        return _integer(text)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if isfinite(number) else text
    return _timestamp(text) if _TIMESTAMP.fullmatch(text) else text


def _integer(text: str) -> int:
    digits = text.lstrip("+-").replace("_", "")
    base = _BASES.get(digits[:2], 8 if digits[0] == "0" else 10)
    return (-1 if text[0] == "-" else 1) * int(digits, base)


def _timestamp(text: str) -> str:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat().replace("+00:00", "Z")


class _Dumper(yaml.SafeDumper):
    """Writes as Go's yaml.v3 does: four spaces, lists indented in mappings, long texts as literal blocks."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        yaml.SafeDumper.increase_indent(self, flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    means_text = scalar_value(text) is text and dumper.resolve(yaml.ScalarNode, text, (True, False)) == _TEXT
    style = '"' if _OTHER_BREAKS.search(text) or not means_text else "|" if "\n" in text else None
    node: yaml.ScalarNode = dumper.represent_scalar(_TEXT, text, style)
    return node


yaml.add_representer(str, _represent_text, Dumper=_Dumper)


def to_yaml(value: Any) -> str:
    """Return YAML without white space around it, like the reference, so a text at the end loses its last line break.
    Raises yaml.YAMLError or RecursionError if the value has no YAML."""
    text: str = yaml.dump(value, Dumper=_Dumper, indent=4, width=sys.maxsize, allow_unicode=True, sort_keys=False, default_flow_style=False)
    return text.removesuffix("\n...\n").strip()
