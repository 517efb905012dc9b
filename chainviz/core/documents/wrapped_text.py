"""Transcripts as failures arrive: JSON inside a string, a cURL command, Python's repr, CSV, a log line with a prefix (issue 12).

The JSON is taken out and read; the file as it came is kept beside it, in the layout of an archive (eval_archive.py).
"""

from __future__ import annotations

import ast
import base64
import csv
import io
import json
import re
import shlex
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, Any

from chainviz.core.documents.eval_archive import MARK

WRAPPED = "wrapped-json"
"""The encoding of a source whose JSON was taken out of something else."""
MOST = 1 << 26
"""Bytes of a file that is looked into."""
HEAD = 1 << 16
_HOLDS_MESSAGES = re.compile(r'"(?:messages|contents|conversations|input)"\s*:\s*[\["]|\[\s*\{\s*"(?:role|type|from|parts|content)"\s*:')
_CURL = re.compile(r"\s*(?:\$\s*)?curl\s")
_DATA = re.compile(r"--(?:data(?:-raw|-binary|-ascii)?|json)$|-d$")
_ANSI_C = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_REPR = re.compile(r"\s*[\[({]\s*(?:[\[({]\s*)*'|\s*\[?\s*[A-Z]\w*\(\w+=")
_ESCAPED = re.compile(r'\s*[\[{](?:\s|\\n)*(?:\{(?:\s|\\n)*)?\\"')
_PLAIN_ROLE = re.compile(r'(?<!\\)"role"\s*:')
_OBJECT_IN_STRING = re.compile(r'"(?:\s|\\[nrt])*\{(?:\s|\\[nrt])*\\"')
_LIST_IN_STRING = re.compile(r':\s*"(?:\s|\\[nrt])*\[(?:\s|\\[nrt])*\{(?:\s|\\[nrt])*\\"')
_LOG_PREFIX = re.compile(
    r"\W{0,2}(?:\d{4}-\d\d-\d\d|\d\d:\d\d|[A-Z][a-z]{2} +\d|DEBUG|INFO|WARN|ERROR|TRACE)"
    r"|[\w.\-]+\[\d+\]:|[^{\[]{0,200}\b(?:request|body|payload|messages|response|prompt|options|data)\b[^{\[]{0,40}$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Unwrapped:
    kind: str
    """What the file is, for a sentence: “a cURL command”."""
    documents: tuple[tuple[str, str], ...]
    """Name and JSON text of each."""

    @property
    def notice(self) -> str:
        return (
            f"This is {self.kind}; the JSON in it was unwrapped. An unchanged file is exported as it came, "
            "a changed one as the JSON alone."
        )


def may_be_wrapped(head: bytes) -> bool:
    """A look at the beginning of a file: most files are what they seem, and are not read for this."""
    text = head.decode("utf-8", "replace").removeprefix("\ufeff")
    return any(is_likely(text) for _, is_likely, _ in _KINDS)


def read_wrapped(file: IO[bytes]) -> tuple[IO[bytes], Unwrapped] | None:
    """The text of a file with JSON inside, and what it is; None for every other file."""
    file.seek(0)
    content = file.read()
    found = unwrapped(content.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
    if found is None:
        return None
    text: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=1 << 24)  # noqa: SIM115
    text.write(MARK + base64.b64encode(content) + b'",\n"names": ')
    text.write(json.dumps([name for name, _ in found.documents]).encode() + b',\n"samples": [\n')
    text.write(b",\n".join(each.encode("utf-8", "surrogateescape") for _, each in found.documents))
    text.write(b'],\n"members": []}\n')
    return text, found


def rewrapped(file: IO[bytes]) -> IO[bytes] | None:
    """The text of a file that was kept."""
    found = read_wrapped(file)
    return found[0] if found else None


def write_documents(file: IO[bytes], documents: Iterable[tuple[str, Iterator[bytes]]]) -> None:
    """Writes the JSON alone: one document as it is, several as JSON Lines."""
    listed = [b"".join(pieces) for _, pieces in documents]
    lines = [each.replace(b"\n", b"") for each in listed] if len(listed) > 1 else listed
    file.writelines(each + b"\n" for each in lines)


def unwrapped(text: str) -> Unwrapped | None:
    """The JSON documents inside a text that is not itself a JSON document of messages; None for every other text."""
    for kind, is_likely, documents in _KINDS:
        if is_likely(text[:HEAD]):
            found = tuple((name, each) for name, each in documents(text) if _HOLDS_MESSAGES.search(each))
            if found:
                return Unwrapped(kind, found)
    return None


def _in_string(text: str) -> Iterator[tuple[str, str]]:
    """A whole document, or each of its lines, is a JSON string; its quotation marks may be gone."""
    text = text.strip()
    whole = _json(text) if text.startswith('"') else _json(f'"{text}"'.replace("\r", "").replace("\n", "\\n"))
    values = [whole] if whole is not None else [_json(line) for line in text.splitlines()]
    for number, value in enumerate(values, 1):
        inner = _json(value) if isinstance(value, str) else None
        if isinstance(inner, dict | list):
            yield f"string {number}", str(value)


def _in_curl(text: str) -> Iterator[tuple[str, str]]:
    plain = _ANSI_C.sub(lambda found: shlex.quote(_unescaped(found[1])), text.replace("\\\r\n", " ").replace("\\\n", " "))
    try:
        words = shlex.split(plain)
    except ValueError:
        return
    for flag, value in pairwise(words):
        if _DATA.match(flag) and isinstance(_json(value), dict | list):
            yield "body", value
    for word in words:
        name, mark, value = word.partition("=")
        if mark and _DATA.match(name) and isinstance(_json(value), dict | list):
            yield "body", value


def _in_repr(text: str) -> Iterator[tuple[str, str]]:
    whole = _from_repr(text)
    values = [whole] if whole is not None else [_from_repr(line) for line in text.splitlines()]
    for number, value in enumerate(values, 1):
        if value is not None:
            yield f"value {number}", value


def _in_table(text: str) -> Iterator[tuple[str, str]]:
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    csv.field_size_limit(MOST)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        names = next(rows)
        for number, row in enumerate(rows, 2):
            for name, cell in zip(names, row, strict=False):
                found = _value_at(cell, 0) if cell[:1] in ("{", "[") else None
                if found is not None:
                    yield f"row {number}, {name[:40]}", found
    except (csv.Error, StopIteration):
        return


def _in_log(text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        starts = [place for mark in ('{"', "{'", "[{", "{ ") if (place := line.find(mark)) > 0]
        if starts and _LOG_PREFIX.match(line[: min(starts)]):
            found = _value_at(line, min(starts))
            if found is not None:
                yield f"line {number}", found


def _in_members(text: str) -> Iterator[tuple[str, str]]:
    """Strings of a JSON document, or of JSON Lines, that spell an object. A request and the answer that an object holds
    beside it, as the inputs and outputs of a traced span, are one document."""
    whole = _json(text)
    values = [whole] if whole is not None else [_json(line) for line in text.splitlines()]
    for number, value in enumerate(values, 1):
        held = [(key, inner, _json(inner)) for key, inner in _strings(value) if inner.lstrip()[:1] == "{"]
        answers = {key.rpartition(".")[0]: inner for key, inner, value in held if _is_answer(value)}
        for key, inner, value in held:
            where = f"{f'line {number}, ' if len(values) > 1 else ''}{key}"
            answer = answers.get(key.rpartition(".")[0])
            if isinstance(value, dict) and "messages" in value and answer:
                yield where, f'{{"request": {inner}, "response": {answer}}}'
            elif isinstance(value, dict) and inner not in answers.values():
                yield where, inner


def _is_answer(value: Any) -> bool:
    return isinstance(value, dict) and ("choices" in value or value.get("type") == "message")


def _strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    waiting = [(key, value)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, str):
            yield key, value
        elif isinstance(value, dict):
            waiting += [(f"{key}.{name}" if key else name, each) for name, each in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [(f"{key}[{place}]", each) for place, each in reversed([*enumerate(value)])]


def _value_at(text: str, start: int) -> str | None:
    """The JSON that begins there; a Python literal becomes JSON."""
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
        return text[start:end]
    except (ValueError, RecursionError):
        return _from_repr(text[start:])


def _json(text: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError, TypeError):
        return None


def _unescaped(text: str) -> str:
    """The text of a $'…' of a shell; browsers write each half of a surrogate pair as an escape."""
    found = _ESCAPE.sub(lambda each: chr(int(each[1], 16)) if each[1] else _ESCAPES.get(each[2], each[2]), text)
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _from_repr(text: str) -> str | None:
    """JSON of what Python prints for lists, dicts and models; None where the text is something else."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return json.dumps(_plain(tree.body))
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return None


def _plain(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_plain(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {_key(key): _plain(value) for key, value in zip(keys, values, strict=True)}
        case ast.Call(args=[], keywords=members) if members:
            return {member.arg or "": _plain(member.value) for member in members}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    return ast.unparse(node)


def _key(node: ast.expr | None) -> str:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise ValueError("no JSON object")
    return node.value


def _is_log(head: str) -> bool:
    first = next((line for line in head.splitlines() if line.strip()), "")
    return _LOG_PREFIX.match(first) is not None


def _has_members(head: str) -> bool:
    """The only messages in sight are in objects that strings spell; lists in strings are read where they are."""
    begins = head.lstrip()[:1] in ("{", "[")
    in_strings = _OBJECT_IN_STRING.search(head) and not _LIST_IN_STRING.search(head) and '\\"role\\"' in head
    return bool(begins and in_strings) and not _PLAIN_ROLE.search(head)


Documents = Callable[[str], Iterator[tuple[str, str]]]

_KINDS: tuple[tuple[str, Callable[[str], bool], Documents], ...] = (
    ("JSON inside a string", lambda head: head.lstrip()[:1] == '"' and "," not in head[:1], _in_string),
    ("JSON inside a string", lambda head: _ESCAPED.match(head) is not None, _in_string),
    ("a cURL command", lambda head: _CURL.match(head) is not None, _in_curl),
    ("Python's repr", lambda head: _REPR.match(head) is not None, _in_repr),
    ("a log", _is_log, _in_log),
    ("a table with a column of JSON", lambda head: head.lstrip()[:1] not in ("{", "[", "<"), _in_table),
    ("JSON with the request inside a string", _has_members, _in_members),
)
"""What a file may be, in the order in which it is looked at."""
