"""The kinds of text in which JSON is embedded: how to recognise each, and how to read the documents in it."""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from chainviz.core.documents.wrapped.values import PRINTED, from_repr, inside, read_json, value_at, values_in

MOST = 1 << 26
"""The most bytes of a file that are searched."""
HOLDS_MESSAGES = re.compile(
    r'"(?:messages|contents|conversations|input)"\s*:\s*[\["]|\[\s*\{\s*"(?:role|type|from|parts|content|kind|message)"\s*:'
)
_NAMES_MESSAGES = re.compile(r"[\"'](?:messages|contents|conversations|input|role)\\*[\"']\s*:|\b(?:Human|AI)Message\(")
"""The same in any spelling."""
_ESCAPED = re.compile(r'\s*[\[{](?:\s|\\n)*(?:\{(?:\s|\\n)*)?\\"')
_LIST_OF_STRINGS = re.compile(r'\s*\[\s*"\s*\{(?:\s|\\[nrt])*\\"')
_PLAIN_ROLE = re.compile(r'(?<!\\)"(?:(?:[\w.]+\.)?role|ai\.prompt)"\s*:')
"""A role that is a member, or an attribute of a span that a format reads: `llm.input_messages.0.message.role`, `ai.prompt`."""
_OBJECT_IN_STRING = re.compile(r'\{(?:\s|\\[nrt])*\\"')
_LIST_IN_STRING = re.compile(r':\s*"(?:\s|\\[nrt])*\[(?:\s|\\[nrt])*\{(?:\s|\\[nrt])*\\"')
_CHAT = re.compile(
    r"^(?:#+ +|\*\*)?(?:user|human|assistant|ai|system|question|thought|action|observation)\b\W{0,3}(?:[: ]|$)|^# aider chat",
    re.MULTILINE | re.IGNORECASE,
)
"""A line of a chat in plain text, which may mention JSON."""
_LOG_PREFIX = re.compile(
    r"(?!\s*[{\[]\s*[\"{])\W{0,2}(?:\d{4}-\d\d-\d\d|\d\d:\d\d|[A-Z][a-z]{2} +\d|DEBUG|INFO|WARN|ERROR|TRACE)|[\w.\-]+\[\d+\]:"
    r"|[\w.\-]+ +\| ",
    re.IGNORECASE,
)
_MESSAGE_LINE = re.compile(r"[^{\"\w\n]{0,20}\w[^{\"\n]*(?<![\[,\s])\s+(?=\{\s*[\"']role[\"']\s*:)")
"""The text before a message on its line: a time, a level, a number."""
_NAMES_LIST = re.compile(r"[\"'](?:messages|contents|conversations)\\*[\"']\s*:")
_SIDE = re.compile(r"(?:^|\.)(?:request(?:\.postData)?|response(?:\.content)?)$")
"""The end of the path to the body of a request or of its answer, in the object that contains both."""
_SERVER_SENT = re.compile(r"\s*(?:event|data|id|retry)?:")
"""The chunks of an answer, which formats join; a list of messages in a single event is extracted."""


def _in_string(text: str) -> Iterator[tuple[str, str]]:
    """Read a document, or lines, that are JSON strings; the quotation marks may be missing."""
    text = text.strip()
    whole = read_json(text) if text.startswith('"') else read_json(f'"{text}"'.replace("\r", "").replace("\n", "\\n"))
    values = [whole] if whole is not None else [read_json(line) for line in text.splitlines()]
    for number, value in enumerate(values, 1):
        spelled = inside(value)
        if spelled is not None:
            yield f"string {number}", spelled


def _in_strings(text: str) -> Iterator[tuple[str, str]]:
    """Read a list with one message in each string, as caches store them."""
    values = read_json(text)
    messages = [inside(value) for value in values] if isinstance(values, list) else []
    if messages and None not in messages:
        yield "strings", f"[{','.join(filter(None, messages))}]"


def _in_curl(text: str) -> Iterator[tuple[str, str]]:
    yield from (("body", body) for body in dict.fromkeys(bodies(text)))


def _in_powershell(text: str) -> Iterator[tuple[str, str]]:
    yield from (("body", body) for body in dict.fromkeys(powershell_bodies(text)))


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
    """Yield values between other words, each with the line in which it begins."""
    line, counted = 1, 0
    for start, found in values_in(text):
        line, counted = line + text.count("\n", counted, start), start
        if HOLDS_MESSAGES.search(found):
            yield f"line {line}", _undoubled(text, start, found)
        else:
            yield from ((f"line {line}, {key}", inner) for key, inner in in_members(found))


def _undoubled(text: str, start: int, found: str) -> str:
    """Undo the doubling of single quotes inside strings of SQL and PowerShell."""
    is_quoted = text[start - 1 : start] == "'" and text.startswith(f"{found}'", start)
    return found.replace("''", "'") if is_quoted else found


def _in_lines(text: str) -> Iterator[tuple[str, str]]:
    """Read one message a line, after a prefix; other lines are skipped."""
    prefixes = ((line, _MESSAGE_LINE.match(line)) for line in text.splitlines())
    messages = [value_at(line, prefix.end()) for line, prefix in prefixes if prefix]
    if messages and None not in messages:
        yield "lines", f"[{','.join(filter(None, messages))}]"


def in_members(text: str) -> Iterator[tuple[str, str]]:
    """Yield strings of a JSON document, or of JSON Lines, that contain an object. A request and the answer beside it in
    one object, such as the inputs and outputs of a traced span or an entry of a browser's HAR file, are one document."""
    whole = read_json(text)
    values = [whole] if whole is not None else [read_json(line) for line in text.splitlines()]
    for number, value in enumerate(values, 1):
        held = [(key, spelled, read_json(spelled)) for key, inner in _strings(value) for spelled in _spelled(inner)]
        answers = {_home(key): inner for key, inner, value in held if _is_answer(value)}
        for key, inner, value in held:
            where = f"{f'line {number}, ' if len(values) > 1 else ''}{key}"
            answer = answers.get(_home(key))
            if isinstance(value, dict) and "messages" in value and answer:
                yield where, f'{{"request": {inner}, "response": {answer}}}'
            elif isinstance(value, dict) and inner not in answers.values():
                yield where, inner


def _home(key: str) -> str:
    """Return the key of the object that contains both a request and its answer."""
    return _SIDE.sub("", key.rpartition(".")[0])


def _spelled(text: str) -> Iterator[str]:
    """Yield the objects in a string: the whole string, or objects after other words, as in the line of a log."""
    if text.lstrip()[:1] == "{" and read_json(text) is not None:
        yield text
    elif _NAMES_MESSAGES.search(text):
        yield from (found for _, found in values_in(text) if HOLDS_MESSAGES.search(found))


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


def _is_log_of_messages(head: str) -> bool:
    has_message = any(map(_MESSAGE_LINE.match, head.splitlines()))
    return has_message and not (_NAMES_LIST.search(head) or _CHAT.search(head))


def _has_members(head: str) -> bool:
    """Return True if all messages are in objects inside strings; lists in strings are read in place."""
    begins = head.lstrip()[:1] in ("{", "[")
    in_strings = _OBJECT_IN_STRING.search(head) and not _LIST_IN_STRING.search(head) and '\\"role\\"' in head
    return bool(begins and in_strings) and not _PLAIN_ROLE.search(head)


def _is_other_text(head: str) -> bool:
    is_json = head.lstrip()[:1] in ("{", "[")
    is_stream = _SERVER_SENT.match(head) is not None and '"messages"' not in head
    return not is_json and not is_stream and _NAMES_MESSAGES.search(head) is not None and not _CHAT.search(head)


Documents = Callable[[str], Iterator[tuple[str, str]]]
Kind = tuple[str, Callable[[str], bool], Documents]

# Commands in the spelling of shells of Unix and Windows and of the developer tools of browsers.


CURL = re.compile(r"^[ \t]*(?:[$>%#][ \t]+)?(?:(?:time|sudo|[\w.]+=\S*)[ \t]+)*curl(?:\.exe)?[ \t]", re.MULTILINE)
_DATA = re.compile(r"(--data(?:-raw|-binary|-ascii)?|--json|-d)(?:=|(?=[\[{]))?(.*)", re.DOTALL)
_ANSI_C = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_KEPT = re.compile(r"\\([$`])")
POWERSHELL = re.compile(r"\bInvoke-(?:WebRequest|RestMethod)\b", re.IGNORECASE)
_POWERSHELL_STRING = re.compile(r'"(\s*[\[{](?:[^"`]|`.|"")*)"', re.DOTALL)
_POWERSHELL_ESCAPE = re.compile(r'`(?:u\{([0-9a-fA-F]{1,5})\}|(.))|""', re.DOTALL)
_CARET = re.compile(r"\^(\r?\n(?:\r?\n)?|.)", re.DOTALL)


def bodies(text: str) -> Iterator[str]:
    for command in _commands(text):
        try:
            words = shlex.split(command)
        except ValueError:
            continue
        for word, following in pairwise([*words, ""]):
            flag = _DATA.fullmatch(word)
            body = _inside(flag[2] or following) if flag else None
            if body is not None:
                yield body


def _inside(word: str) -> str | None:
    """Return the text in double quotes, in which shells of Unix escape `$` and the grave accent with a backslash, which
    JSON never does."""
    return inside(word) or inside(_KEPT.sub(r"\1", word))


def powershell_bodies(text: str) -> Iterator[str]:
    for found in _POWERSHELL_STRING.finditer(text):
        body = inside(_POWERSHELL_ESCAPE.sub(_plain, found[1]))
        if body is not None:
            yield body


def _is_powershell(head: str) -> bool:
    return "invoke-" in head.lower() and POWERSHELL.search(head) is not None


def _plain(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return _ESCAPES.get(escape[2], escape[2]) if escape[2] else '"'


def _commands(text: str) -> Iterator[str]:
    starts = [found.end() for found in CURL.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        command = text[start:end]
        if re.search(r"\^\r?\n|\^\"", command):
            yield _CARET.sub(lambda found: " " if found[1][0] in "\r\n" else found[1], command)
        plain = command.replace("\\\r\n", " ").replace("\\\n", " ")
        yield _ANSI_C.sub(lambda found: shlex.quote(_unescaped(found[1])), plain)


def _unescaped(text: str) -> str:
    """Return the text of a $'…' string of a shell. Browsers write each half of a surrogate pair as an escape."""
    found = _ESCAPE.sub(lambda each: chr(int(each[1], 16)) if each[1] else _ESCAPES.get(each[2], each[2]), text)
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


KINDS: tuple[Kind, ...] = (
    ("JSON inside a string", lambda head: head.lstrip()[:1] == '"', _in_string),
    ("JSON inside a string", lambda head: _ESCAPED.match(head) is not None, _in_string),
    ("JSON inside strings", lambda head: _LIST_OF_STRINGS.match(head) is not None, _in_strings),
    ("a cURL command", lambda head: "curl" in head and CURL.search(head) is not None and not _CHAT.search(head), _in_curl),
    ("a PowerShell command", lambda head: _is_powershell(head) and not _CHAT.search(head), _in_powershell),
    ("Python's repr", lambda head: PRINTED.match(head) is not None, _in_repr),
    ("a log with a message a line", _is_log_of_messages, _in_lines),
    ("a log", _is_log, _in_text),
    ("a table with a column of JSON", lambda head: head.lstrip()[:1] not in ("{", "[", "<"), _in_table),
    ("JSON with the request inside a string", _has_members, in_members),
    ("text with JSON in it", _is_other_text, _in_text),
)
"""The possible kinds of a file, in the order in which they are tried."""

STREAMED = "a log with streamed answers"
kinds_of_formats: tuple[Kind, ...] = ()
"""Kinds that only the formats can recognise. Formats add them, and they are tried first."""
