"""Chats of Cursor's command line (`~/.cursor/chats/…/store.db`): a database for each, with blobs under the hash of their content.

The newest root blob, in the wire format of Protocol Buffers, lists the blobs of the messages, which are JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from chainviz.core.databases.contract import Database
from chainviz.core.databases.sqlite_reader import Look, Row, decoded, encoded, seconds, text_of

_MESSAGES, _FOLDER = 1, 9
"""The fields of a root blob with the hash of a message, and with the address of the project's folder."""
_BYTES = 2
"""The wire type of a field with a length."""
_LONGEST = 10
"""Bytes of a number."""
_FIXED = {1: 8, 5: 4}
"""The bytes of fields with a fixed length, by wire type."""


class CursorChat(Database):
    agent, label, letters = "cursor-cli", "Cursor CLI", "Cu"
    needs = {"meta": ("key", "value"), "blobs": ("id", "data")}

    def rows(self, look: Look) -> Iterator[Row]:
        head = _head(look)
        fields = _root(look, head)
        folder = next((value.decode("utf-8", "replace") for field, value in fields if field == _FOLDER), "")
        yield {
            "id": text_of(head.get("agentId")),
            "title": text_of(head.get("name")),
            "project": folder.removeprefix("file://"),
            "model": text_of(head.get("lastUsedModel")),
            "created": seconds(head.get("createdAt")),
            "updated": seconds(head.get("createdAt")),
            "messages": sum(field == _MESSAGES for field, _ in fields),
            "size": next(look.select("SELECT sum(length(data)) n FROM blobs"))["n"] or 0,
        }

    def document(self, look: Look, id: str) -> bytes | None:
        head = _head(look)
        if text_of(head.get("agentId")) != id:
            return None
        named = [value.hex() for field, value in _root(look, head) if field == _MESSAGES]
        found = (_blob(look, each) for each in named)
        messages = [message for blob in found if isinstance(message := decoded(blob), dict)]
        return encoded({**head, "messages": messages})


def _head(look: Look) -> dict[str, Any]:
    """Return the facts of the chat, which the table keeps as JSON in hexadecimal digits."""
    row = next(look.select("SELECT value FROM meta WHERE key = '0'"), None)
    try:
        head = json.loads(bytes.fromhex(row["value"])) if row else {}
    except (ValueError, TypeError, RecursionError):
        return {}
    return head if isinstance(head, dict) else {}


def _root(look: Look, head: dict[str, Any]) -> list[tuple[int, bytes]]:
    return list(_fields(_blob(look, text_of(head.get("latestRootBlobId")))))


def _blob(look: Look, id: str) -> bytes:
    row = next(look.select("SELECT data FROM blobs WHERE id = ?", id), None)
    data = row["data"] if row else b""
    return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data or b"")


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the number and content of the fields that have a length, until the data is not in the wire format."""
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        kind = key & 7
        if kind == _BYTES:
            length, at = _number(data, at)
            yield key >> 3, data[at : at + length]
            at += length
        elif kind == 0:
            at = _number(data, at)[1]
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            return


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, the lowest first and at most ten of them, and the place behind it."""
    number = 0
    for place, byte in enumerate(data[at : at + _LONGEST]):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return number, at + place + 1
    return 0, len(data)
