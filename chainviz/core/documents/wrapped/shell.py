"""The body that a cURL or PowerShell command sends, as shells of Unix and Windows and developer tools of browsers write it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise

from chainviz.core.documents.wrapped.values import inside

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
    """In double quotes, shells of Unix keep `$` and the grave accent with a backslash, which JSON never has before them."""
    return inside(word) or inside(_KEPT.sub(r"\1", word))


def powershell_bodies(text: str) -> Iterator[str]:
    for found in _POWERSHELL_STRING.finditer(text):
        body = inside(_POWERSHELL_ESCAPE.sub(_plain, found[1]))
        if body is not None:
            yield body


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
    """The text of a $'…' of a shell; browsers write each half of a surrogate pair as an escape."""
    found = _ESCAPE.sub(lambda each: chr(int(each[1], 16)) if each[1] else _ESCAPES.get(each[2], each[2]), text)
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
