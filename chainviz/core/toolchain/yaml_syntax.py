"""YAML in action sections and in results. PyYAML composes and emits; what a scalar means is decided here.

The reference reads scalars almost as YAML 1.2 does: `yes` is a text, `007` a number, a date a timestamp.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any

import yaml

from chainviz.core.text_formats.line_index import LineIndex
from chainviz.core.toolchain import json_syntax
from chainviz.core.toolchain.schemas import Schema, allows_text
from chainviz.core.toolchain.section_values import CallsError, Located

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOL = {word: value for value in (True, False) for word in (str(value), str(value).lower(), str(value).upper())}
_INTEGER = re.compile(r"[-+]?(?:0b[01][01_]*|0o[0-7][0-7_]*|0x[0-9a-fA-F][0-9a-fA-F_]*|0[0-7_]*|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}\S*)?")
_OTHER_BREAKS = re.compile("[\r\x85\u2028\u2029]")
"""Line breaks that YAML would read as another one."""
_BASES = {"0b": 2, "0o": 8, "0x": 16}
_TEXT = "tag:yaml.org,2002:str"
_MOST_DIGITS = 4300
"""Python refuses to read longer integers."""
_IN_WORDS = {"mapping values are not allowed here": "a second colon needs quotes around its text"}


def located_values(text: str, lines: LineIndex, schemas: Mapping[str, Schema]) -> Iterator[Located]:
    """The mapping, or the elements of the list, of the first document; CallsError where there is none.

    `schemas` of arguments by tool: a scalar that is to be a string stays as it is written.
    """
    if not schemas:
        try:
            # JSON is YAML, and PyYAML misreads some of it (tabs, surrogate pairs)
            yield from list(json_syntax.located_values(text, lines))
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
    """What a call needs: its tool, as it is written, and its arguments."""
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
    """YAML without white space around it, as the reference has it (so a text at the end loses its last line break).

    yaml.YAMLError or RecursionError where the value has no YAML.
    """
    text: str = yaml.dump(
        value, Dumper=_Dumper, indent=4, width=sys.maxsize, allow_unicode=True, sort_keys=False, default_flow_style=False
    )
    return text.removesuffix("\n...\n").strip()
