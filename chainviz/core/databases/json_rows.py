"""Databases that keep a session as one document: Zed, Kiro CLI and Open WebUI."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

from chainviz.core.databases.contract import Database
from chainviz.core.databases.goose import moment
from chainviz.core.databases.sqlite_reader import Look, Row, decoded, encoded, seconds, text_of
from chainviz.core.errors import DocumentError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_MOST = 1_000_000_000
"""Bytes of a thread after decompression."""


class Zed(Database):
    agent, label = "zed", "Zed"
    formats = ("zed",)
    needs = {"threads": ("id", "summary", "updated_at", "data_type", "data")}

    def rows(self, look: Look) -> Iterator[Row]:
        sizes = look.sizes("threads", "id", "data")
        for row in look.rows_of("threads", "id summary updated_at created_at parent_id folder_paths"):
            yield {
                "id": row["id"],
                "title": text_of(row["summary"]),
                "project": text_of(row["folder_paths"]).partition("\n")[0],
                "created": moment(row["created_at"]),
                "updated": moment(row["updated_at"]),
                "size": sizes.get(row["id"], 0),
                "parent": text_of(row["parent_id"]),
            }

    def document(self, look: Look, id: str) -> bytes | None:
        row = next(look.select("SELECT data_type, data FROM threads WHERE id = ?", id), None)
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


class KiroCLI(Database):
    agent, label, letters = "kiro-cli", "Kiro CLI", "Kr"
    formats = ("kiro_conversation",)
    needs = {"conversations_v2": ("key", "conversation_id", "value")}

    def rows(self, look: Look) -> Iterator[Row]:
        sizes = look.sizes("conversations_v2", "conversation_id", "value")
        for row in look.rows_of("conversations_v2", "key conversation_id created_at updated_at"):
            yield {
                "id": row["conversation_id"],
                "project": text_of(row["key"]),
                "created": seconds(row["created_at"]),
                "updated": seconds(row["updated_at"]),
                "size": sizes.get(row["conversation_id"], 0),
            }

    def document(self, look: Look, id: str) -> bytes | None:
        row = next(look.select("SELECT value FROM conversations_v2 WHERE conversation_id = ?", id), None)
        return None if row is None else encoded(decoded(row["value"]))


class OpenWebUI(Database):
    agent, label, letters = "open-webui", "Open WebUI", "OW"
    needs = {"chat": ("id", "user_id", "title", "chat", "created_at")}

    def rows(self, look: Look) -> Iterator[Row]:
        sizes = look.sizes("chat", "id", "chat")
        for row in look.rows_of("chat", "id title created_at updated_at"):
            yield {
                "id": row["id"],
                "title": text_of(row["title"]),
                "created": seconds(row["created_at"]),
                "updated": seconds(row["updated_at"]),
                "size": sizes.get(row["id"], 0),
            }

    def document(self, look: Look, id: str) -> bytes | None:
        row = next(look.rows_of("chat", "id user_id title chat created_at updated_at", "WHERE id = ?", id), None)
        return None if row is None else encoded({**row, "chat": decoded(row["chat"])})
