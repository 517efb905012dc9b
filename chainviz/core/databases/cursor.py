"""Cursor: `state.vscdb` of the program and of each workspace, and the chats of its command line.

Newer versions keep a conversation as a row `composerData:ID` and its messages ("bubbles") as rows of their own; older ones keep
the whole of it in `composer.composerData`, and before that in tabs. Documents of all three have the bubbles in `conversation`.

A chat of the command line (`~/.cursor/chats/…/store.db`) is a database with blobs under the hash of their content. The newest root
blob, in the wire format of Protocol Buffers, lists the blobs of the messages, which are JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from chainviz.core.databases.contract import Database, Look, Row, decoded, encoded, seconds, text_of

_COMPOSERS, _TABS = "composer.composerData", "workbench.panel.aichat.view.aichat.chatdata"


class Cursor(Database):
    agent, label = "cursor", "Cursor"
    needs = {"ItemTable": ("key", "value")}

    def rows(self, look: Look) -> Iterator[Row]:
        for id, value in self._conversations(look):
            headers = value.get("fullConversationHeadersOnly")
            messages = headers if isinstance(headers, list) else value["conversation"]
            yield {
                "id": id,
                "title": text_of(value.get("name")),
                "created": seconds(value.get("createdAt")),
                "updated": seconds(value.get("lastUpdatedAt")) or seconds(value.get("createdAt")),
                "messages": len(messages),
            }

    def document(self, look: Look, id: str) -> bytes | None:
        value = next((value for each, value in self._conversations(look) if each == id), None)
        if value is None:
            return None
        headers = value.get("fullConversationHeadersOnly")
        if isinstance(headers, list) and headers:
            value = {**value, "conversation": list(_bubbles(look, id, headers))}
        return encoded(value)

    def _conversations(self, look: Look) -> Iterator[tuple[str, dict[str, Any]]]:
        if {"key", "value"} <= look.tables.get("cursorDiskKV", frozenset()):
            for row in look.select("SELECT key, value FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;'"):
                value = decoded(row["value"])
                if isinstance(value, dict) and (value.get("fullConversationHeadersOnly") or value.get("conversation")):
                    yield row["key"].removeprefix("composerData:"), {"conversation": [], **value}
        for row in look.select("SELECT key, value FROM ItemTable WHERE key IN (?, ?)", _COMPOSERS, _TABS):
            value = decoded(row["value"])
            for item in _objects(value, "allComposers"):
                if item.get("conversation"):
                    yield text_of(item.get("composerId")), item
            for item in _objects(value, "tabs"):
                named = {"composerId": item.get("tabId"), "name": item.get("chatTitle"), "lastUpdatedAt": item.get("lastSendTime")}
                yield text_of(item.get("tabId")), {**named, "conversation": _objects(item, "bubbles")}


def _objects(value: Any, key: str) -> list[dict[str, Any]]:
    items = value.get(key) if isinstance(value, dict) else None
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _bubbles(look: Look, id: str, headers: list[Any]) -> Iterator[dict[str, Any]]:
    begin = f"bubbleId:{id}:"
    rows = look.select("SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ?", begin, f"bubbleId:{id};")
    bubbles = {row["key"].removeprefix(begin): decoded(row["value"]) for row in rows}
    for header in headers:
        own = header.get("bubbleId") if isinstance(header, dict) else None
        bubble = bubbles.get(own) if isinstance(own, str) else None
        yield {"bubbleId": own, "type": header.get("type"), **bubble} if isinstance(bubble, dict) else dict(header or {})


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
