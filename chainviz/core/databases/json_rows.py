"""Databases that keep a session as one document, in a row: Zed, Kiro CLI, Open WebUI and Forge."""

from __future__ import annotations

import io
import json
import sqlite3
import sys
from collections.abc import Iterator, Mapping

from chainviz.core.databases.contract import Database, Look, Row, decoded, encoded, text_of
from chainviz.core.databases.goose import moment
from chainviz.core.databases.message_rows import as_json
from chainviz.core.errors import DocumentError, Refused

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_MOST = 1_000_000_000
"""The largest thread in bytes, after decompression."""


class JSONRows(Database):
    table: str
    content: str
    """The column with the document."""
    columns: Mapping[str, str]
    """The columns of the facts that `rows` yields; `id` is one of them."""

    def rows(self, look: Look) -> Iterator[Row]:
        sizes = look.sizes(self.table, self.columns["id"], self.content)
        for row in look.rows_of(self.table, " ".join(self.columns.values())):
            facts = {fact: row[column] for fact, column in self.columns.items()}
            times = {fact: moment(facts.get(fact)) for fact in ("created", "updated")}
            texts = {fact: text_of(value).partition("\n")[0] for fact, value in facts.items() if fact not in times}
            yield {**texts, **times, "size": sizes.get(facts["id"], 0)}

    def row(self, look: Look, id: str) -> Row | None:
        """Return the row of a session, all its columns."""
        return next(look.select(f'SELECT * FROM "{self.table}" WHERE "{self.columns["id"]}" = ?', id), None)

    def document(self, look: Look, id: str) -> bytes | None:
        row = self.row(look, id)
        return None if row is None else encoded(decoded(row[self.content]))

    def write(self, connection: sqlite3.Connection, id: str, old: bytes, new: bytes) -> None:
        query = f'UPDATE "{self.table}" SET "{self.content}" = ? WHERE "{self.columns["id"]}" = ?'
        connection.execute(query, (as_json(json.loads(new)), id))
        if json.loads(self.document(Look(connection), id) or b"null") != json.loads(new):
            raise Refused(f"The session {id} would not read back as it was fixed; nothing is changed.")


class Zed(JSONRows):
    agent, label = "zed", "Zed"
    formats = ("zed",)
    needs = {"threads": ("id", "summary", "updated_at", "data_type", "data")}
    table, content = "threads", "data"
    columns = {
        "id": "id", "title": "summary", "project": "folder_paths", "created": "created_at", "updated": "updated_at", "parent": "parent_id"
    }  # fmt: skip

    def document(self, look: Look, id: str) -> bytes | None:
        row = self.row(look, id)
        if row is None:
            return None
        data = row["data"].encode("utf-8", "surrogateescape") if isinstance(row["data"], str) else row["data"] or b""
        if row["data_type"] != "zstd":
            return bytes(data)
        try:
            content = zstd.ZstdFile(io.BytesIO(data)).read(_MOST + 1)
        except (zstd.ZstdError, EOFError):
            raise DocumentError(f"The thread {id} is compressed and damaged.") from None
        if len(content) > _MOST:
            raise DocumentError(f"The thread {id} is larger than {_MOST // 1_000_000:,} MB.")
        return content


class KiroCLI(JSONRows):
    agent, label, letters = "kiro-cli", "Kiro CLI", "Kr"
    formats = ("kiro_conversation",)
    needs = {"conversations_v2": ("key", "conversation_id", "value")}
    table, content = "conversations_v2", "value"
    columns = {"id": "conversation_id", "project": "key", "created": "created_at", "updated": "updated_at"}


class OpenWebUI(JSONRows):
    agent, label, letters = "open-webui", "Open WebUI", "OW"
    needs = {"chat": ("id", "user_id", "title", "chat", "created_at")}
    table, content = "chat", "chat"
    columns = {"id": "id", "title": "title", "created": "created_at", "updated": "updated_at"}

    def document(self, look: Look, id: str) -> bytes | None:
        row = next(look.rows_of("chat", "id user_id title chat created_at updated_at", "WHERE id = ?", id), None)
        return None if row is None else encoded({**row, "chat": decoded(row["chat"])})


class Forge(JSONRows):
    agent, label = "forge", "Forge"
    formats = ("forge",)
    writes = True
    own_tables = (("conversations", "conversation_id"),)
    needs = {"conversations": ("conversation_id", "title", "context", "created_at")}
    table, content = "conversations", "context"
    columns = {"id": "conversation_id", "title": "title", "created": "created_at", "updated": "updated_at"}
