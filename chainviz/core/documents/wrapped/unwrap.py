"""What a file is in which JSON lies inside of something else, and the text that it becomes.

The JSON is taken out and read; the file as it came is kept beside it, in the layout of an archive (eval_archive.py).
"""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import IO, Any

from chainviz.core.documents.eval_archive import MAGIC, MARK
from chainviz.core.documents.wrapped import shell
from chainviz.core.documents.wrapped.python_repr import from_repr
from chainviz.core.documents.wrapped.values import PRINTED, SearchEnded, inside, read_json, value_at, values_in

WRAPPED = "wrapped-json"
"""The encoding of a source whose JSON was taken out of something else."""
MOST = 1 << 26
"""Bytes of a file that is looked into."""
HEAD = 1 << 16
CHUNK = 1 << 20
_SEAL = re.compile(rb'"sha256": "([0-9a-f]{64})"\}\n')
_SEAL_LENGTH = 78
_HOLDS_MESSAGES = re.compile(
    r'"(?:messages|contents|conversations|input)"\s*:\s*[\["]|\[\s*\{\s*"(?:role|type|from|parts|content|kind)"\s*:'
)
_NAMES_MESSAGES = re.compile(r"[\"'](?:messages|contents|conversations|input|role)\\*[\"']\s*:|\b(?:Human|AI)Message\(")
"""The same in any spelling."""
_ESCAPED = re.compile(r'\s*[\[{](?:\s|\\n)*(?:\{(?:\s|\\n)*)?\\"')
_LIST_OF_STRINGS = re.compile(r'\s*\[\s*"\s*\{(?:\s|\\[nrt])*\\"')
_PLAIN_ROLE = re.compile(r'(?<!\\)"role"\s*:')
_OBJECT_IN_STRING = re.compile(r'\{(?:\s|\\[nrt])*\\"')
_LIST_IN_STRING = re.compile(r':\s*"(?:\s|\\[nrt])*\[(?:\s|\\[nrt])*\{(?:\s|\\[nrt])*\\"')
_CHAT = re.compile(
    r"^(?:#+ +|\*\*)?(?:user|human|assistant|ai|system|question|thought|action|observation)\b\W{0,3}(?:[: ]|$)|^# aider chat",
    re.MULTILINE | re.IGNORECASE,
)
"""A line of a chat in plain text, in which JSON is what people talk about."""
_LOG_PREFIX = re.compile(
    r"\W{0,2}(?:\d{4}-\d\d-\d\d|\d\d:\d\d|[A-Z][a-z]{2} +\d|DEBUG|INFO|WARN|ERROR|TRACE)|[\w.\-]+\[\d+\]:"
    r"|[\w.\-]+ +\| ",
    re.IGNORECASE,
)
_SERVER_SENT = re.compile(r"\s*(?:event|data|id|retry)?:")
"""The chunks of an answer, which formats join; a list of messages in one event is taken out of it."""


@dataclass(frozen=True, slots=True)
class Unwrapped:
    kind: str
    """What the file is, for a sentence: “a cURL command”."""
    documents: tuple[tuple[str, str], ...]
    """Name and JSON text of each."""
    is_all: bool = True

    @property
    def notice(self) -> str:
        left = "" if self.is_all else " It was not searched to its end: too much of it only looks like JSON."
        return (
            f"This is {self.kind}; the JSON in it was unwrapped. An unchanged file is exported as it came, "
            f"a changed one as the JSON alone.{left}"
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
    text.write(b'],\n"members": [],\n')
    text.write(b'"sha256": "%s"}\n' % _digest(text, text.tell()).encode())
    return text, found


def wrapping_of(beginning: bytes) -> bytes:
    """The file that JSON was taken out of, from what is before its documents; b"" for the beginning of another text."""
    content, _, names = beginning.removeprefix(MARK).partition(b'"')
    if not beginning.startswith(MARK) or not names:
        return b""
    found = base64.b64decode(content)
    return b"" if found.startswith(MAGIC) else found


def is_as_read(archive: IO[bytes], text: IO[bytes]) -> bool:
    """Whether a text is still the one that was made of a file. What is looked for in files changes with the years, so the
    text itself says so."""
    end = max(0, text.seek(0, 2) - _SEAL_LENGTH)
    text.seek(end)
    seal = _SEAL.fullmatch(text.read())
    return _digest(text, end) == seal[1].decode() if seal else _was_made_before_seals(archive, text)


def _was_made_before_seals(archive: IO[bytes], text: IO[bytes]) -> bool:
    again = read_wrapped(archive)
    if again is None:
        return False
    again[0].seek(0)
    content = again[0].read()
    text.seek(0)
    return content[: -_SEAL_LENGTH - 2] + b"}\n" == text.read()


def _digest(text: IO[bytes], end: int) -> str:
    digest = sha256()
    text.seek(0)
    for start in range(0, end, CHUNK):
        digest.update(text.read(min(CHUNK, end - start)))
    text.seek(end)
    return digest.hexdigest()


def write_documents(file: IO[bytes], documents: Iterable[tuple[str, Iterator[bytes]]]) -> None:
    """Writes the JSON alone: one document as it is, several as JSON Lines."""
    listed = [b"".join(pieces) for _, pieces in documents]
    lines = [each.replace(b"\n", b"") for each in listed] if len(listed) > 1 else listed
    file.writelines(each + b"\n" for each in lines)


def unwrapped(text: str) -> Unwrapped | None:
    """The JSON documents inside a text that is not itself a JSON document of messages; None for every other text."""
    for kind, is_likely, documents in _KINDS:
        if is_likely(text[:HEAD]):
            found: list[tuple[str, str]] = []
            is_all = True
            try:
                found += (each for each in documents(text) if _HOLDS_MESSAGES.search(each[1]))
            except SearchEnded:
                is_all = False
            if found:
                return Unwrapped(kind, tuple(found), is_all)
    return None


def _in_string(text: str) -> Iterator[tuple[str, str]]:
    """A whole document, or each of its lines, is a JSON string; its quotation marks may be gone."""
    text = text.strip()
    whole = read_json(text) if text.startswith('"') else read_json(f'"{text}"'.replace("\r", "").replace("\n", "\\n"))
    values = [whole] if whole is not None else [read_json(line) for line in text.splitlines()]
    for number, value in enumerate(values, 1):
        spelled = inside(value)
        if spelled is not None:
            yield f"string {number}", spelled


def _in_strings(text: str) -> Iterator[tuple[str, str]]:
    """A list with one message in each string, as caches keep them."""
    values = read_json(text)
    messages = [inside(value) for value in values] if isinstance(values, list) else []
    if messages and None not in messages:
        yield "strings", f"[{','.join(filter(None, messages))}]"


def _in_curl(text: str) -> Iterator[tuple[str, str]]:
    yield from (("body", body) for body in dict.fromkeys(shell.bodies(text)))


def _in_powershell(text: str) -> Iterator[tuple[str, str]]:
    yield from (("body", body) for body in dict.fromkeys(shell.powershell_bodies(text)))


def _in_repr(text: str) -> Iterator[tuple[str, str]]:
    whole = from_repr(text)
    values = [whole] if whole is not None else [from_repr(line) for line in text.splitlines()]
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
                found = value_at(cell.strip(), 0) if cell.strip()[:1] in ("{", "[", '"') else None
                if found is not None:
                    yield f"row {number}, {name[:40]}", found
    except (csv.Error, StopIteration):
        return


def _in_text(text: str) -> Iterator[tuple[str, str]]:
    """Values between other words, each with the line in which it begins."""
    line, counted = 1, 0
    for start, found in values_in(text):
        line, counted = line + text.count("\n", counted, start), start
        if _HOLDS_MESSAGES.search(found):
            yield f"line {line}", found
        else:
            yield from ((f"line {line}, {key}", inner) for key, inner in _in_members(found))


def _in_members(text: str) -> Iterator[tuple[str, str]]:
    """Strings of a JSON document, or of JSON Lines, that hold an object. A request and the answer that an object holds
    beside it, as the inputs and outputs of a traced span, are one document."""
    whole = read_json(text)
    values = [whole] if whole is not None else [read_json(line) for line in text.splitlines()]
    for number, value in enumerate(values, 1):
        held = [(key, spelled, read_json(spelled)) for key, inner in _strings(value) for spelled in _spelled(inner)]
        answers = {key.rpartition(".")[0]: inner for key, inner, value in held if _is_answer(value)}
        for key, inner, value in held:
            where = f"{f'line {number}, ' if len(values) > 1 else ''}{key}"
            answer = answers.get(key.rpartition(".")[0])
            if isinstance(value, dict) and "messages" in value and answer:
                yield where, f'{{"request": {inner}, "response": {answer}}}'
            elif isinstance(value, dict) and inner not in answers.values():
                yield where, inner


def _spelled(text: str) -> Iterator[str]:
    """The objects in a string: the whole of it, or what it says behind other words, as the line of a log."""
    if text.lstrip()[:1] == "{" and read_json(text) is not None:
        yield text
    elif _NAMES_MESSAGES.search(text):
        yield from (found for _, found in values_in(text) if _HOLDS_MESSAGES.search(found))


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


def _is_log(head: str) -> bool:
    first = next((line for line in head.splitlines() if line.strip()), "")
    return _LOG_PREFIX.match(first) is not None


def _has_members(head: str) -> bool:
    """The only messages in sight are in objects that strings spell; lists in strings are read where they are."""
    begins = head.lstrip()[:1] in ("{", "[")
    in_strings = _OBJECT_IN_STRING.search(head) and not _LIST_IN_STRING.search(head) and '\\"role\\"' in head
    return bool(begins and in_strings) and not _PLAIN_ROLE.search(head)


def _is_other_text(head: str) -> bool:
    is_json = head.lstrip()[:1] in ("{", "[")
    is_stream = _SERVER_SENT.match(head) is not None and '"messages"' not in head
    return not is_json and not is_stream and _NAMES_MESSAGES.search(head) is not None and not _CHAT.search(head)


Documents = Callable[[str], Iterator[tuple[str, str]]]

_KINDS: tuple[tuple[str, Callable[[str], bool], Documents], ...] = (
    ("JSON inside a string", lambda head: head.lstrip()[:1] == '"', _in_string),
    ("JSON inside a string", lambda head: _ESCAPED.match(head) is not None, _in_string),
    ("JSON inside strings", lambda head: _LIST_OF_STRINGS.match(head) is not None, _in_strings),
    ("a cURL command", lambda head: shell.CURL.search(head) is not None and not _CHAT.search(head), _in_curl),
    ("a PowerShell command", lambda head: shell.POWERSHELL.search(head) is not None and not _CHAT.search(head), _in_powershell),
    ("Python's repr", lambda head: PRINTED.match(head) is not None, _in_repr),
    ("a log", _is_log, _in_text),
    ("a table with a column of JSON", lambda head: head.lstrip()[:1] not in ("{", "[", "<"), _in_table),
    ("JSON with the request inside a string", _has_members, _in_members),
    ("text with JSON in it", _is_other_text, _in_text),
)
"""What a file may be, in the order in which it is looked at."""
