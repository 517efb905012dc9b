"""Cursor: `state.vscdb` of the program and of each workspace.

Newer versions keep a conversation as a row `composerData:ID` and its messages ("bubbles") as rows of their own; older ones keep
the whole of it in `composer.composerData`, and before that in tabs. Documents of all three have the bubbles in `conversation`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainviz.core.databases.contract import Database
from chainviz.core.databases.sqlite_reader import Look, Row, decoded, encoded, seconds, text_of

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
