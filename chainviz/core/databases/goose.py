"""goose 1.10 and later: `sessions.db`. A session's document is what `goose session export --format json` writes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from chainviz.core.databases.contract import Look, Row, decoded, encoded, seconds, text_of, without_none
from chainviz.core.databases.message_rows import MessageRows, as_json

_SESSION = (
    "id name description working_dir session_type created_at updated_at total_tokens input_tokens output_tokens provider_name "
    "model_config_json"
)
_MESSAGE = "id message_id role content_json created_timestamp metadata_json"


class Goose(MessageRows):
    order, id_column, list_key = "created_timestamp, id", "message_id", "conversation"
    members = frozenset(("id", "role", "created", "content", "metadata"))
    agent, label = "goose", "goose"
    formats = ("goose",)
    needs = {"sessions": ("id", "working_dir", "created_at"), "messages": ("session_id", "role", "content_json", "created_timestamp")}

    def rows(self, look: Look) -> Iterator[Row]:
        counts, sizes = look.counts("messages", "session_id"), look.sizes("messages", "session_id", "content_json")
        for row in look.rows_of("sessions", _SESSION):
            model = decoded(row["model_config_json"])
            yield {
                "id": str(row["id"]),
                "title": text_of(row["name"]) or text_of(row["description"]),
                "project": text_of(row["working_dir"]),
                "model": text_of(model.get("model_name")) if isinstance(model, dict) else "",
                "created": moment(row["created_at"]),
                "updated": moment(row["updated_at"]),
                "messages": counts.get(row["id"], 0),
                "size": sizes.get(row["id"], 0),
            }

    def document(self, look: Look, id: str) -> bytes | None:
        session = next(look.rows_of("sessions", _SESSION, "WHERE id = ?", id), None)
        if session is None:
            return None
        messages = [
            without_none(
                {
                    "id": row["message_id"] or None,
                    "role": row["role"],
                    "created": row["created_timestamp"],
                    "content": decoded(row["content_json"]),
                    "metadata": decoded(row["metadata_json"]),
                }
            )
            for row in look.rows_of("messages", _MESSAGE, f"WHERE session_id = ? ORDER BY {self.order}", id)
        ]
        model = decoded(session.pop("model_config_json"))
        return encoded({**without_none(session), **({"model_config": model} if model else {}), "conversation": messages})

    def columns(self, message: Row) -> Row:
        return {
            "message_id": message.get("id"),
            "role": message.get("role"),
            "created_timestamp": message.get("created"),
            "content_json": as_json(message.get("content")),
            "metadata_json": as_json(message.get("metadata")),
        }


def moment(value: object) -> float | None:
    """Return a time of SQLite or of ISO 8601, both UTC where they name no zone, or a number, in seconds since 1970."""
    if not isinstance(value, str):
        return seconds(value)
    try:
        found = datetime.fromisoformat(value)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
