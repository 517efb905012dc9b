"""Read title, working folder, model and time from the beginning of a session file. Knows no format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chainviz.core.databases.contract import seconds, title_in
from chainviz.core.documents.json.edit import decode
from chainviz.core.usage.document_usage import members_set, request_title

HEAD = 1 << 16
"""The number of bytes that are read."""
_PROJECTS = ("cwd", "workingDirectory", "working_dir", "workdir", "work_dir", "workspaceDirectory", "projectDir", "directory", "workspace")
_MODELS = ("model", "modelId", "modelID", "model_id", "selectedModel", "currentModel")
_TITLES = ("customTitle", "aiTitle", "title", "sessionTitle")
_TIMES = ("timestamp", "created_at", "createdAt", "startTime", "created", "creationDate", "time", "ts")
_PEOPLE = ("user", "human", "USER_EXPLICIT")
_INSIDE = ("payload", "message", "data", "info", "context", "meta", "metadata", "event")
"""Members in which records store their content."""
_LISTS = ("messages", "history", "requests", "v")
"""Members with lists of records."""


@dataclass(frozen=True, slots=True)
class Head:
    title: str = ""
    project: str = ""
    model: str = ""
    created: float | None = None


def read_head(content: bytes) -> Head:
    records = list(_records(content.decode("utf-8", "replace")))
    # Codex records how its model is to summarize as `summary`
    summaries = [record for record in records if record.get("type") == "summary"]
    title = _first(records, _TITLES) or _first(summaries, ("summary",)) or next(filter(None, map(_request, records)), "")
    created = next((time for record in records for key in _TIMES if (time := time_of(record.get(key)))), None)
    return Head(title_in(title), _first(records, _PROJECTS), _first(records, _MODELS), created)


def _records(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a document, or of the lines of a log or of a list that goes on behind the text, and the objects one level
    down."""
    whole = decode(text, strict=True)
    values = [whole] if whole is not None else [decode(line.strip().rstrip(","), strict=True) for line in text.split("\n")]
    for value in values:
        for record in value if isinstance(value, list) else [value]:
            if isinstance(record, dict):
                record = members_set(record)
                yield record
                inner = [record.get(key) for key in _INSIDE]
                lists = [record[key] for key in _LISTS if isinstance(record.get(key), list)]
                yield from (each for each in [*inner, *(item for items in lists for item in items)] if isinstance(each, dict))


def _first(records: list[dict[str, Any]], keys: tuple[str, ...]) -> str:
    """Return the first text under one of these keys, the first key's where a record has several."""
    found = (record[key] for key in keys for record in records if isinstance(record.get(key), str) and record[key].strip())
    return next(found, "")


def _request(record: dict[str, Any]) -> str:
    """Return the request of a person in a record; "" if the record is not a person's."""
    words = (record.get("role"), record.get("type"), record.get("source"), record.get("kind"))
    is_asked = any(isinstance(word, str) and (word in _PEOPLE or word.startswith("user")) for word in words)
    is_chat = "requestId" in record and "type" not in record  # a request in VS Code
    if "synthetic_reason" in record or not (is_asked or is_chat):
        return ""
    inner = (record.get(key) for key in ("message", "data"))
    content: Any = next((each for each in inner if isinstance(each, dict | str)), record)
    if isinstance(content, dict):
        content = content.get("content") or content.get("parts") or content.get("text")
    return request_title(_text(content))


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(filter(None, map(_text, content)))
    if isinstance(content, dict):
        return _text(content.get("text"))
    return content if isinstance(content, str) else ""


def time_of(value: Any) -> float | None:
    """Return a time in seconds since 1970, from a number or ISO 8601."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError):
            return None
    return seconds(value)
