"""Changes of an agent's settings: shown as a difference, written beside backups, and taken out to the byte.

A value is added to the text of a JSON file, with comments or without, so that every other byte stays as it was.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import unified_diff
from pathlib import Path
from typing import Any

from chainviz.api.writing import write_out
from chainviz.core.backup_names import BACKUP, STAMP
from chainviz.core.errors import DocumentError, Refused
from chainviz.locations import data_folder


@dataclass(frozen=True, slots=True)
class FileChange:
    path: Path
    before: bytes | None
    """The old content, or None for a file that did not exist."""
    after: bytes | None
    """The new content, or None for a file that is to be deleted."""
    pieces: tuple[str, ...] = ()
    """The texts that are added."""

    def difference(self) -> Iterator[str]:
        """Yield the lines of a unified difference."""
        (old, before), (new, after) = (self._side(content) for content in (self.before, self.after))
        yield from unified_diff(old, new, before, after, lineterm="")

    def _side(self, content: bytes | None) -> tuple[list[str], str]:
        """Return the lines of a file, and its name in a difference."""
        return (content or b"").decode("utf-8", "replace").splitlines(), "/dev/null" if content is None else str(self.path)


def read_settings(path: Path) -> bytes | None:
    """Return the content of a settings file, or None if there is none. Raises DocumentError if it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DocumentError(f"{path} cannot be read: {error.strerror or error}.") from None


def write_changes(agent: str, changes: Sequence[FileChange]) -> list[str]:
    """Write the files and the receipt; return a sentence for each file. Raises Refused if a file changed meanwhile."""
    receipt = _receipt(agent)
    if receipt.exists():
        raise Refused(f"chainviz is already in the settings of {agent}; remove it first: chainviz integrate {agent} --remove")
    for each in changes:
        if read_settings(each.path) != each.before:
            raise Refused(f"{each.path} changed meanwhile; nothing was written. Try again.")
    _write(receipt, json.dumps([_row(each) for each in changes], indent=1).encode())
    return [_written(each) for each in changes]


def _written(change: FileChange) -> str:
    if change.before is None:
        _write(change.path, change.after)
        return f"{change.path}: created"
    backup = change.path.with_name(f"{change.path.name}{BACKUP}{datetime.now().strftime(STAMP)}")
    _write(backup, change.before)
    _write(change.path, change.after)
    return f"{change.path}: changed; the backup is {backup}"


def _write(path: Path, content: bytes | None) -> None:
    try:
        if content is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write_out(str(path), iter([content]))
    except OSError as error:
        raise DocumentError(f"{path} cannot be written: {error.strerror or error}.") from None


def removal(agent: str) -> tuple[list[FileChange], list[str]]:
    """Return the changes that take out what was added, and a sentence for each file where that is not possible.

    A file that is as it was written becomes what it was before; from one that changed since, the added texts are cut.
    Raises Refused if nothing was added.
    """
    changes, left = list[FileChange](), list[str]()
    for each in _added(agent):
        now = read_settings(each.path)
        if now is None:
            continue
        if now == each.after:
            changes.append(FileChange(each.path, now, each.before))
            continue
        without = _without(now.decode("utf-8", "surrogateescape"), each.pieces)
        if without is None:
            left.append(f"{each.path} was changed where chainviz is; take it out by hand.")
        else:
            changes.append(FileChange(each.path, now, without.encode("utf-8", "surrogateescape")))
    return changes, left


def _without(text: str, pieces: Sequence[str]) -> str | None:
    """Cut the pieces, the last one first, since one may lie inside another. Return None if one is not there exactly once."""
    for piece in reversed(pieces):
        if text.count(piece) != 1:
            return None
        text = text.replace(piece, "")
    return text


def write_removal(agent: str, changes: Sequence[FileChange]) -> list[str]:
    """Write the files as they are without chainviz, delete those that it created, and forget the receipt."""
    for each in changes:
        _write(each.path, each.after)
    _receipt(agent).unlink(missing_ok=True)
    return [f"{each.path}: {'deleted' if each.after is None else 'chainviz removed'}" for each in changes]


def _receipt(agent: str) -> Path:
    return data_folder() / "integrations" / f"{agent}.json"


def _row(change: FileChange) -> dict[str, object]:
    contents = {"before": change.before, "after": change.after}
    encoded = {name: None if content is None else b64encode(content).decode() for name, content in contents.items()}
    return {"path": str(change.path), **encoded, "pieces": list(change.pieces)}


def _added(agent: str) -> list[FileChange]:
    try:
        rows = json.loads(_receipt(agent).read_bytes())
    except FileNotFoundError:
        raise Refused(f"chainviz is not in the settings of {agent}.") from None
    return [FileChange(Path(row["path"]), _decoded(row["before"]), _decoded(row["after"]), tuple(row["pieces"])) for row in rows]


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)


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
