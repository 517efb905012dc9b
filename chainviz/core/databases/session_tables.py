"""Databases with a row for each session and message: Crush, Devin CLI and Hermes Agent.

A session's document has the rows of `.crush/crush.db` as they are; those of Devin's `sessions.db` on the way to its current message;
and those of Hermes's `state.db` beside the system prompt, as its files of sessions have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.databases.contract import Database, Look, Row, decoded, encoded, seconds, text_of, without_none
from chainviz.core.databases.message_rows import MessageRows, as_json

_CRUSH_SESSION = "id parent_session_id title message_count prompt_tokens completion_tokens cost summary_message_id created_at updated_at"
_CRUSH_MESSAGE = "id session_id role parts model provider is_summary_message created_at updated_at finished_at"


def _with_totals(look: Look, columns: str, table: str, content: str) -> Iterator[Row]:
    """Yield the rows of the table of sessions, each with the number of its messages and the size of their content in bytes."""
    counts, sizes = look.counts(table, "session_id"), look.sizes(table, "session_id", content)
    for row in look.rows_of("sessions", columns):
        yield {**row, "messages": counts.get(row["id"], 0), "size": sizes.get(row["id"], 0)}


def _row(found: Row, texts: Row, began: object, ended: object) -> Row:
    """Return the row of a session for lists, with its texts and times as the database has them."""
    times = {"created": seconds(began), "updated": seconds(ended) or seconds(began)}
    return {**{name: found[name] for name in ("id", "messages", "size")}, **{name: text_of(text) for name, text in texts.items()}, **times}


class Crush(MessageRows):
    order = "created_at, rowid"
    members = frozenset(_CRUSH_MESSAGE.split())
    agent, label = "crush", "Crush"
    formats = ("crush",)
    needs = {"sessions": ("id", "title", "message_count", "created_at"), "messages": ("id", "session_id", "role", "parts")}

    def rows(self, look: Look) -> Iterator[Row]:
        answers = look.rows_of("messages", "session_id model", "ORDER BY created_at")
        models = {row["session_id"]: row["model"] for row in answers if row["model"]}
        for row in _with_totals(look, _CRUSH_SESSION, "messages", "parts"):
            texts = {"title": row["title"], "model": models.get(row["id"]), "parent": row["parent_session_id"]}
            yield _row(row, texts, row["created_at"], row["updated_at"])

    def document(self, look: Look, id: str) -> bytes | None:
        session = next(look.rows_of("sessions", _CRUSH_SESSION, "WHERE id = ?", id), None)
        if session is None:
            return None
        messages = look.rows_of("messages", _CRUSH_MESSAGE, f"WHERE session_id = ? ORDER BY {self.order}", id)
        rows = [without_none({**row, "parts": decoded(row["parts"])}) for row in messages]
        return encoded({"session": without_none(session), "messages": rows})

    def columns(self, message: Row) -> Row:
        return {**{name: message.get(name) for name in _CRUSH_MESSAGE.split()}, "parts": as_json(message.get("parts"))}


_DEVIN_SESSION = "id title working_directory model created_at last_activity_at main_chain_id"


class Devin(Database):
    agent, label = "devin", "Devin CLI"
    formats = ("devin",)
    needs = {"sessions": ("id", "working_directory", "created_at"), "message_nodes": ("session_id", "node_id", "chat_message")}

    def rows(self, look: Look) -> Iterator[Row]:
        for row in _with_totals(look, _DEVIN_SESSION, "message_nodes", "chat_message"):
            texts = {"title": row["title"], "project": row["working_directory"], "model": row["model"]}
            yield _row(row, texts, row["created_at"], row["last_activity_at"])

    def document(self, look: Look, id: str) -> bytes | None:
        session = next(look.rows_of("sessions", _DEVIN_SESSION, "WHERE id = ?", id), None)
        if session is None:
            return None
        columns = "node_id parent_node_id chat_message"
        nodes = list(look.rows_of("message_nodes", columns, "WHERE session_id = ? ORDER BY created_at, rowid", id))
        messages = [decoded(node["chat_message"]) for node in _path(nodes, session["main_chain_id"])]
        return encoded({"main_chain_id": None, **without_none(session), "messages": messages})


def _path(nodes: Sequence[Row], last: object) -> Sequence[Row]:
    """Return the nodes from the root to the last one; all of them where the links do not lead there."""
    by_id = {node["node_id"]: node for node in nodes}
    path: dict[object, Row] = {}
    at = last
    while at is not None:
        if at not in by_id or at in path:
            return nodes
        path[at] = by_id[at]
        at = by_id[at]["parent_node_id"]
    return [*reversed(path.values())] or nodes


_HERMES_SESSION = "id source model parent_session_id started_at ended_at title cwd system_prompt message_count"
_HERMES_MESSAGE = (
    "role content tool_call_id tool_calls tool_name timestamp finish_reason reasoning reasoning_content reasoning_details "
    "codex_reasoning_items codex_message_items"
)
_JSON = ("tool_calls", "reasoning_details", "codex_reasoning_items", "codex_message_items")
_MARKED = "\0json:"
"""The mark before a content that is a list of blocks."""


class Hermes(MessageRows):
    order, id_column = "timestamp, rowid", ""
    members = frozenset((*_HERMES_MESSAGE.split(), "name"))
    agent, label = "hermes", "Hermes Agent"
    formats = ("hermes",)
    needs = {"sessions": ("id", "source", "started_at"), "messages": ("session_id", "role", "content", "tool_call_id", "tool_calls")}

    def rows(self, look: Look) -> Iterator[Row]:
        for row in _with_totals(look, _HERMES_SESSION, "messages", "content"):
            texts = {"title": row["title"], "project": row["cwd"], "model": row["model"], "parent": row["parent_session_id"]}
            yield _row(row, texts, row["started_at"], row["ended_at"])

    def document(self, look: Look, id: str) -> bytes | None:
        session = next(look.rows_of("sessions", _HERMES_SESSION, "WHERE id = ?", id), None)
        if session is None:
            return None
        rows = [_message(row) for row in self.rows_of_messages(look, id)]
        beside = {key: session[key] for key in ("model", "title", "started_at", "system_prompt")}
        head = {"session_id": id, "platform": session["source"], **beside}
        return encoded({**without_none(head), "messages": rows})

    def columns(self, message: Row) -> Row:
        content = message.get("content")
        marked = content if isinstance(content, str | None) else f"{_MARKED}{as_json(content)}"
        values = {name: message.get(name) for name in _HERMES_MESSAGE.split()}
        values["tool_name"] = values["tool_name"] or message.get("name")
        return {**values, **{name: as_json(values[name]) for name in _JSON}, "content": marked}


def _message(found: Row) -> dict[str, Any]:
    row = {name: found.get(name) for name in _HERMES_MESSAGE.split()}
    content = row["content"]
    if isinstance(content, str) and content.startswith(_MARKED):
        content = decoded(content.removeprefix(_MARKED))
    values = {**row, **{key: decoded(row[key]) for key in _JSON}}
    return {**without_none({**values, "content": None}), "content": content}
