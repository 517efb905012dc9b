"""The stream of Ollama: answers of a few characters, the last of which is `done`. `/api/generate` has a text for a message."""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.dialects.members import string_of
from chainviz.core.dialects.streams.chunks import Chunk, Chunks, Joined, append_text, list_at, object_at
from chainviz.core.documents.json.edit import dump


def _join(chunks: Sequence[Chunk]) -> Joined:
    message: Chunk = {"role": "assistant", "content": ""}
    reason = ""
    for chunk in chunks:
        said = object_at(chunk, "message") or {"content": chunk.get("response"), "thinking": chunk.get("thinking")}
        append_text(message, "content", said.get("content"))
        append_text(message, "thinking", said.get("thinking") or None)
        if list_at(said, "tool_calls"):
            message["tool_calls"] = [*list_at(message, "tool_calls"), *list_at(said, "tool_calls")]
        reason = string_of(chunk, "done_reason") or reason
    return Joined((dump(message),), "" if reason == "stop" else reason)


def _is_chunk(chunk: Chunk) -> bool:
    has_text = type(chunk.get("message")) is dict or type(chunk.get("response")) is str
    return has_text and type(chunk.get("done")) is bool and type(chunk.get("model")) is str


OLLAMA = Chunks(is_chunk=_is_chunk, joined=_join, is_whole=lambda chunk: chunk.get("done") is True)
