"""Hermes Agent: `state.db`. A session's document has the messages beside the system prompt, as its files of sessions have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainviz.core.databases.message_rows import MessageRows, as_json
from chainviz.core.databases.sqlite_reader import Look, Row, decoded, encoded, seconds, text_of, without_none

_SESSION = "id source model parent_session_id started_at ended_at title cwd system_prompt message_count"
_MESSAGE = (
    "role content tool_call_id tool_calls tool_name timestamp finish_reason reasoning reasoning_content reasoning_details "
    "codex_reasoning_items codex_message_items"
)
_JSON = ("tool_calls", "reasoning_details", "codex_reasoning_items", "codex_message_items")
_MARKED = "\0json:"
"""The mark before a content that is a list of blocks."""


class Hermes(MessageRows):
    order, id_column = "timestamp, rowid", ""
    members = frozenset((*_MESSAGE.split(), "name"))
    agent, label = "hermes", "Hermes Agent"
    formats = ("hermes",)
    needs = {"sessions": ("id", "source", "started_at"), "messages": ("session_id", "role", "content", "tool_call_id", "tool_calls")}

    def rows(self, look: Look) -> Iterator[Row]:
        counts, sizes = look.counts("messages", "session_id"), look.sizes("messages", "session_id", "content")
        for row in look.rows_of("sessions", _SESSION):
            yield {
                "id": row["id"],
                "title": text_of(row["title"]),
                "project": text_of(row["cwd"]),
                "model": text_of(row["model"]),
                "created": seconds(row["started_at"]),
                "updated": seconds(row["ended_at"]) or seconds(row["started_at"]),
                "messages": counts.get(row["id"], 0),
                "size": sizes.get(row["id"], 0),
                "parent": text_of(row["parent_session_id"]),
            }

    def document(self, look: Look, id: str) -> bytes | None:
        session = next(look.rows_of("sessions", _SESSION, "WHERE id = ?", id), None)
        if session is None:
            return None
        rows = [_message(row) for row in self.rows_of_messages(look, id)]
        beside = {key: session[key] for key in ("model", "title", "started_at", "system_prompt")}
        head = {"session_id": id, "platform": session["source"], **beside}
        return encoded({**without_none(head), "messages": rows})

    def columns(self, message: Row) -> Row:
        content = message.get("content")
        marked = content if isinstance(content, str | None) else f"{_MARKED}{as_json(content)}"
        values = {name: message.get(name) for name in _MESSAGE.split()}
        values["tool_name"] = values["tool_name"] or message.get("name")
        return {**values, **{name: as_json(values[name]) for name in _JSON}, "content": marked}


def _message(found: Row) -> dict[str, Any]:
    row = {name: found.get(name) for name in _MESSAGE.split()}
    content = row["content"]
    if isinstance(content, str) and content.startswith(_MARKED):
        content = decoded(content.removeprefix(_MARKED))
    values = {**row, **{key: decoded(row[key]) for key in _JSON}}
    return {**without_none({**values, "content": None}), "content": content}
