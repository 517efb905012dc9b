"""A value added to the text of a JSON file, with comments or without, so that every other byte stays as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from chainviz.core.errors import Refused

_TOKEN = re.compile(r'\s+|//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"/]+', re.DOTALL)
_INDENT = re.compile(r"\{\s*?\n([ \t]+)")


@dataclass(frozen=True, slots=True)
class Insertion:
    offset: int
    text: str

    def into(self, text: str) -> str:
        return text[: self.offset] + self.text + text[self.offset :]


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    end: int


def insertion(text: str, path: Sequence[str], value: Any) -> Insertion:
    """Return where and what to insert so that `path` has the value. A value that is a list of one element becomes the first
    element where there is a list already.

    Raises Refused if the text is not JSON, or the path already leads to something that is no list.
    """
    tokens = _Tokens(text)
    opening, left = tokens.descend(path)
    indent = found[1] if (found := _INDENT.search(text)) else "  "
    depth = len(path) - len(left) + 1
    is_list = opening.text == "["
    if not left and not is_list:
        raise Refused(f"{'.'.join(path)} is already set.")
    inner = value[0] if is_list else value
    for key in reversed(left[1:]):
        inner = {key: inner}
    body = json.dumps(inner, indent=indent, ensure_ascii=False).replace("\n", f"\n{indent * depth}")
    member = body if is_list else f"{json.dumps(left[0])}: {body}"
    is_empty = tokens.is_empty_after(opening)
    end = f"\n{indent * (depth - 1)}" if is_empty else ","
    return Insertion(opening.end, f"\n{indent * depth}{member}{end}")


class _Tokens:
    """The tokens of a JSON text, read from the first to the last."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._all = list(_significant(text))
        self._at = 0

    def descend(self, path: Sequence[str]) -> tuple[_Token, list[str]]:
        """Go to the value at a path, or as far as it exists. Return the bracket that opens it, and the keys that are left."""
        opening = self._next()
        if opening.text != "{":
            raise Refused("The file does not contain a JSON object.")
        left = list(path)
        while left and opening.text == "{" and self._find_member(left[0]):
            opening = self._next()
            left.pop(0)
            if opening.text not in ("{", "["):
                raise Refused(f"{'.'.join(path)} is neither an object nor a list.")
        if left and opening.text == "[":
            raise Refused(f"{'.'.join(path)} is a list.")
        return opening, left

    def is_empty_after(self, opening: _Token) -> bool:
        place = next(i for i, token in enumerate(self._all) if token.end == opening.end)
        return self._all[place + 1].text in ("}", "]")

    def _find_member(self, key: str) -> bool:
        """Move past the colon of a member of the last opened object; stay in place if there is none."""
        start = self._at
        while self._peek().text != "}":
            name = self._next().text
            if self._next().text != ":" or not name.startswith('"'):
                raise Refused("The file is not valid JSON.")
            if json.loads(name) == key:
                return True
            self._skip_value()
            if self._peek().text == ",":
                self._next()
        self._at = start
        return False

    def _skip_value(self) -> None:
        depth = 0
        while True:
            text = self._next().text
            depth += (text in "{[") - (text in "}]")
            if depth == 0:
                return

    def _peek(self) -> _Token:
        if self._at >= len(self._all):
            raise Refused("The file is not valid JSON: it ends too early.")
        return self._all[self._at]

    def _next(self) -> _Token:
        token = self._peek()
        self._at += 1
        return token


def _significant(text: str) -> Iterator[_Token]:
    """Yield tokens without white space and comments."""
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise Refused("The file is not valid JSON.")
        if not found[0].isspace() and not found[0].startswith(("//", "/*")):
            yield _Token(found[0], found.end())
        at = found.end()
