"""Traces of calls by Copilot Chat of VS Code (`agent-traces.db`): a row for each span. A document is a trace in OTLP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainviz.core.databases.contract import Database, Look, Row, encoded, seconds, text_of

_ID = "COALESCE(conversation_id, chat_session_id, trace_id)"
_MILLISECOND = 1_000_000
"""In nanoseconds."""


class CopilotTraces(Database):
    agent, label, letters = "copilot-traces", "VS Code Copilot traces", "VS"
    needs = {
        "spans": ("span_id", "trace_id", "parent_span_id", "name", "start_time_ms", "end_time_ms", "conversation_id", "chat_session_id"),
        "span_attributes": ("span_id", "key", "value"),
    }

    def rows(self, look: Look) -> Iterator[Row]:
        query = f"""SELECT {_ID} id, min(start_time_ms) first, max(end_time_ms) last, max(response_model) model FROM spans GROUP BY 1"""
        sizes = {row["id"]: row["n"] for row in look.select(f"SELECT {_ID} id, sum(length(value)) n {_JOINED} GROUP BY 1")}
        for row in look.select(query):
            yield {
                "id": row["id"],
                "model": text_of(row["model"]),
                "created": seconds(row["first"]),
                "updated": seconds(row["last"]),
                "size": sizes.get(row["id"]) or 0,
            }

    def document(self, look: Look, id: str) -> bytes | None:
        attributes: dict[str, list[Any]] = {}
        for row in look.select(f"SELECT spans.span_id id, key, value {_JOINED} WHERE {_ID} = ? ORDER BY key", id):
            attributes.setdefault(row["id"], []).append({"key": row["key"], "value": {"stringValue": text_of(row["value"])}})
        rows = look.select(f"SELECT * FROM spans WHERE {_ID} = ? ORDER BY start_time_ms, span_id", id)
        spans = [
            {
                "traceId": row["trace_id"],
                "spanId": row["span_id"],
                "parentSpanId": row["parent_span_id"] or "",
                "name": row["name"],
                "startTimeUnixNano": _nanoseconds(row["start_time_ms"]),
                "endTimeUnixNano": _nanoseconds(row["end_time_ms"]),
                "attributes": attributes.get(row["span_id"], []),
            }
            for row in rows
        ]
        return encoded({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}) if spans else None


_JOINED = "FROM span_attributes JOIN spans ON spans.span_id = span_attributes.span_id"


def _nanoseconds(milliseconds: object) -> str:
    return str(milliseconds * _MILLISECOND) if isinstance(milliseconds, int) else "0"
