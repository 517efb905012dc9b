"""Crush: `.crush/crush.db` of a project, with a row for each session and message. A session's document has the rows as they are."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.core.databases.message_rows import MessageRows, as_json
from chainviz.core.databases.sqlite_reader import Look, Row, decoded, encoded, seconds, text_of, without_none

_SESSION = "id parent_session_id title message_count prompt_tokens completion_tokens cost summary_message_id created_at updated_at"
_MESSAGE = "id session_id role parts model provider is_summary_message created_at updated_at finished_at"


class Crush(MessageRows):
    order = "created_at, rowid"
    members = frozenset(_MESSAGE.split())
    agent, label = "crush", "Crush"
    formats = ("crush",)
    needs = {"sessions": ("id", "title", "message_count", "created_at"), "messages": ("id", "session_id", "role", "parts")}

    def rows(self, look: Look) -> Iterator[Row]:
        counts, sizes = look.counts("messages", "session_id"), look.sizes("messages", "session_id", "parts")
        answers = look.rows_of("messages", "session_id model", "ORDER BY created_at")
        models = {row["session_id"]: row["model"] for row in answers if row["model"]}
        for row in look.rows_of("sessions", _SESSION):
            yield {
                "id": row["id"],
                "title": text_of(row["title"]),
                "model": text_of(models.get(row["id"])),
                "created": seconds(row["created_at"]),
                "updated": seconds(row["updated_at"]),
                "messages": counts.get(row["id"], 0),
                "size": sizes.get(row["id"], 0),
                "parent": text_of(row["parent_session_id"]),
            }

    def document(self, look: Look, id: str) -> bytes | None:
        session = next(look.rows_of("sessions", _SESSION, "WHERE id = ?", id), None)
        if session is None:
            return None
        messages = look.rows_of("messages", _MESSAGE, f"WHERE session_id = ? ORDER BY {self.order}", id)
        rows = [without_none({**row, "parts": decoded(row["parts"])}) for row in messages]
        return encoded({"session": without_none(session), "messages": rows})

    def columns(self, message: Row) -> Row:
        return {**{name: message.get(name) for name in _MESSAGE.split()}, "parts": as_json(message.get("parts"))}
