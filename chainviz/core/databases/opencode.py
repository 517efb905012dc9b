"""opencode 1.2 and later, and programs made from it: one database, with a row for each session, message and part.

Ids are columns, not in the JSON; `opencode export` puts them behind the other members.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.databases.contract import Database, Look, Row, decoded, encoded, seconds, text_of, whole, without_none
from chainviz.core.errors import Refused

_SESSION = (
    "id slug project_id workspace_id directory path parent_id title agent model version summary_additions summary_deletions "
    "summary_files summary_diffs share_url revert cost tokens_input tokens_output tokens_reasoning tokens_cache_read tokens_cache_write "
    "permission metadata time_created time_updated time_compacting time_archived"
)


class Opencode(Database):
    writes = True
    own_tables = (("message", "session_id"), ("part", "session_id"))
    needs = {
        "session": ("id", "directory", "title", "time_created", "time_updated"),
        "message": ("id", "session_id", "time_created", "data"),
        "part": ("id", "message_id", "session_id", "data"),
    }

    def __init__(self, agent: str, label: str, *, letters: str = "", formats: Sequence[str] = ()) -> None:
        self.agent, self.label, self.letters, self.formats = agent, label, letters, formats

    def rows(self, look: Look) -> Iterator[Row]:
        messages, sizes = look.counts("message", "session_id"), look.sizes("part", "session_id", "data")
        models = {row["session_id"]: _model(decoded(row["data"])) for row in look.select(_LAST_MESSAGES)}
        for row in look.rows_of("session", _SESSION):
            id = row["id"]
            yield {
                "id": id,
                "title": text_of(row["title"]),
                "project": text_of(row["directory"]),
                "model": models.get(id, ""),
                "created": seconds(row["time_created"]),
                "updated": seconds(row["time_updated"]),
                "messages": messages.get(id, 0),
                "size": sizes.get(id, 0),
                "parent": text_of(row["parent_id"]),
            }

    def document(self, look: Look, id: str) -> bytes | None:
        session = next(look.rows_of("session", _SESSION, "WHERE id = ?", id), None)
        return None if session is None else encoded({"info": _info(session), "messages": list(_messages(look, id))})

    def without_damage(self, document: bytes) -> tuple[bytes, tuple[str, ...]]:
        """Remove parts whose JSON is cut off, since opencode could not open the session. Returns a warning for each."""
        value = json.loads(document)
        lost = [part["id"] for message in value["messages"] for part in message["parts"] if _UNREADABLE in part]
        if not lost:
            return document, ()
        for message in value["messages"]:
            message["parts"] = [part for part in message["parts"] if part["id"] not in lost]
        return encoded(value), tuple(f"The part {id} is not valid JSON and is removed." for id in lost)

    def write(self, connection: sqlite3.Connection, id: str, old: bytes, new: bytes) -> None:
        before, after = json.loads(old), json.loads(new)
        if before["info"] != after["info"]:
            raise Refused("Only messages are written into the database of an agent, and what is beside them changed.")
        was = _rows_in(before["messages"])
        messages = _order(after["messages"], {*was["message"], *was["part"]})
        now = _rows_in(messages)
        for table in ("part", "message"):
            gone = was[table].keys() - now[table].keys()
            connection.executemany(f"DELETE FROM {table} WHERE id = ? AND session_id = ?", [(row, id) for row in gone])
        times = {message["info"]["id"]: message["info"]["time"]["created"] for message in messages}
        parents = {part["id"]: message["info"]["id"] for message in messages for part in message["parts"]}
        changed = {table: [row for row, value in now[table].items() if was[table].get(row) != value] for table in now}
        for row in changed["message"]:
            connection.execute(_MESSAGE, (row, id, times[row], times[row], _compact(now["message"][row])))
        for row in changed["part"]:
            time = times[parents[row]]
            connection.execute(_PART, (row, parents[row], id, time, time, _compact(now["part"][row])))
        self._check(Look(connection), id, messages)

    def _check(self, look: Look, id: str, messages: Sequence[Row]) -> None:
        """Raise Refused if the database does not give back what was written into it."""
        written = self.document(look, id)
        if written is None or json.loads(written)["messages"] != json.loads(encoded(messages)):
            raise Refused(f"The session {id} would not read back as it was fixed; nothing is changed.")


_UNREADABLE = "unreadable"
"""The member of a part or message that contains the text of a row that is not JSON."""
_WRITE = "ON CONFLICT (id) DO UPDATE SET data = excluded.data"
_MESSAGE = f"INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?) {_WRITE}"
_PART = f"INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?, ?) {_WRITE}"
_LAST_MESSAGES = """SELECT session_id, data FROM message m WHERE id = (
    SELECT id FROM message WHERE session_id = m.session_id ORDER BY time_created DESC, id DESC LIMIT 1)"""


def _model(message: Any) -> str:
    if not isinstance(message, dict):
        return ""
    named = message if "modelID" in message else message.get("model")
    return text_of(named.get("modelID")) if isinstance(named, dict) else ""


def _messages(look: Look, id: str) -> Iterator[Row]:
    parts: dict[str, list[Any]] = {}
    for row in look.select("SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id", id):
        own = {"id": row["id"], "sessionID": id, "messageID": row["message_id"]}
        parts.setdefault(row["message_id"], []).append(_with_ids(row["data"], own))
    for row in look.select("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", id):
        yield {"info": _with_ids(row["data"], {"id": row["id"], "sessionID": id}), "parts": parts.pop(row["id"], [])}


def _with_ids(data: object, ids: Row) -> Row:
    value = decoded(data)
    return {**value, **ids} if isinstance(value, dict) else {**ids, _UNREADABLE: value}


def _info(row: Row) -> Row:
    """Return what opencode tells of a session, in its order."""
    tokens = {name: row[f"tokens_{name}"] for name in ("input", "output", "reasoning")}
    cache = {name: row[f"tokens_cache_{name}"] for name in ("read", "write")}
    summary = {name: row[f"summary_{name}"] for name in ("additions", "deletions", "files")}
    has_summary = any(value is not None for value in summary.values())
    time = {name: row[f"time_{name}"] for name in ("created", "updated", "compacting", "archived")}
    return without_none({
        "id": row["id"], "slug": row["slug"], "projectID": row["project_id"], "workspaceID": row["workspace_id"],
        "directory": row["directory"], "path": row["path"], "parentID": row["parent_id"], "title": row["title"], "agent": row["agent"],
        "model": decoded(row["model"]), "version": row["version"],
        "summary": without_none({**summary, "diffs": decoded(row["summary_diffs"])}) if has_summary else None,
        "share": {"url": row["share_url"]} if row["share_url"] else None,
        "revert": decoded(row["revert"]), "cost": whole(row["cost"]),
        "tokens": {**tokens, "cache": cache} if tokens["input"] is not None else None,
        "permission": decoded(row["permission"]), "metadata": decoded(row["metadata"]), "time": without_none(time),
    })  # fmt: skip


def _order(messages: Sequence[Row], known: Container[str]) -> list[Row]:
    """Return the messages with ids and times for the new ones that put them where they are: opencode sorts messages by their time
    and id, and parts by their id."""
    found: list[Row] = []
    latest, created = "msg", 0
    for message in messages:
        info = dict(message["info"])
        if info["id"] not in known:
            info |= {"id": f"{latest}0", "time": {**info.get("time", {}), "created": created or info["time"]["created"]}}
        latest, created = info["id"], info["time"]["created"]
        last, parts = "prt", []
        for part in message["parts"]:
            last = part["id"] if part["id"] in known else f"{last if last != 'prt' else 'prt' + latest[3:]}0"
            parts.append({**part, "id": last, "messageID": latest, "sessionID": info["sessionID"]})
        found.append({"info": info, "parts": parts})
    return found


def _rows_in(messages: Iterable[Row]) -> dict[str, dict[str, Row]]:
    """Return the rows of messages and of parts by their ids, each without the members that are columns."""
    found: dict[str, dict[str, Row]] = {"message": {}, "part": {}}
    for message in messages:
        info = message["info"]
        found["message"][info["id"]] = {key: value for key, value in info.items() if key not in ("id", "sessionID")}
        for part in message["parts"]:
            found["part"][part["id"]] = {key: value for key, value in part.items() if key not in ("id", "sessionID", "messageID")}
    return found


def _compact(value: Row) -> str:
    return encoded(value, None).decode().rstrip("\n")
