"""Devin CLI: `sessions.db`, with messages in a tree of rows. A session's document has those on the way to its current message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chainviz.core.databases.contract import Database
from chainviz.core.databases.sqlite_reader import Look, Row, decoded, encoded, seconds, text_of, without_none

_SESSION = "id title working_directory model created_at last_activity_at main_chain_id"


class Devin(Database):
    agent, label = "devin", "Devin CLI"
    formats = ("devin",)
    needs = {"sessions": ("id", "working_directory", "created_at"), "message_nodes": ("session_id", "node_id", "chat_message")}

    def rows(self, look: Look) -> Iterator[Row]:
        counts, sizes = look.counts("message_nodes", "session_id"), look.sizes("message_nodes", "session_id", "chat_message")
        for row in look.rows_of("sessions", _SESSION):
            yield {
                "id": row["id"],
                "title": text_of(row["title"]),
                "project": text_of(row["working_directory"]),
                "model": text_of(row["model"]),
                "created": seconds(row["created_at"]),
                "updated": seconds(row["last_activity_at"]) or seconds(row["created_at"]),
                "messages": counts.get(row["id"], 0),
                "size": sizes.get(row["id"], 0),
            }

    def document(self, look: Look, id: str) -> bytes | None:
        session = next(look.rows_of("sessions", _SESSION, "WHERE id = ?", id), None)
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
