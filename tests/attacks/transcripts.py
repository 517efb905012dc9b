"""Transcripts that hold hostile strings in every place that a format has for text."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from tests.core.formats.chains import sample_files

STRUCTURE = {"type", "role", "object", "kind", "format", "version", "event", "block_type", "_type", "part_kind", "@type"}
"""Keys whose values say how a document is read."""
DOCUMENTS = [path for path in sample_files() if path.suffix in (".json", ".jsonl") and path.name.startswith("ok_")]

USUAL = [path for path in DOCUMENTS if path.parent.name in ("anthropic", "openai_chat") and path.name == "ok_request.json"]
PICTURE = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEA/pnsWgAAAABJRU5ErkJggg=="


def whole(strings: Sequence[str]) -> bytes:
    """Our own format, which has every kind of part: each string in every part, field, key and role."""
    messages = list(_messages(strings))
    around = {string: string for string in strings}
    return json.dumps({"messages": messages, "metadata": around, "session": list(strings), **around}).encode()


def _messages(strings: Sequence[str]) -> Iterator[dict[str, Any]]:
    yield {"role": "system", "parts": [_text(each) for each in strings]}
    picture = {"type": "image_url", "url": PICTURE}
    yield {"role": "human", "parts": [_text(strings[0]), picture, *(part for each in strings for part in _media(each))]}
    yield {"role": "ai", "parts": [part for each in strings for part in _spoken(each)]}
    for few in (strings[start : start + 8] for start in range(0, len(strings), 8)):
        yield {"role": "ai", "parts": [part for each in few for part in _calls(each)]}
        yield from (message for each in few for message in _results(each))
    yield from ({"role": each, "parts": [_text(each)]} for each in strings)
    for each in strings:
        yield {"role": "human", "parts": [_text(each)], each: each}
        yield {"role": "ai", "parts": [_text(f"Thought: {each}\nAction: tool\nAction Input: {each}\nFinal Answer: {each}")]}
    yield {"role": "human", "parts": [_text("\n".join(f"password={each}\ntoken: ghp_{'aB3dE5fG7h' * 4}{each}" for each in strings))]}
    yield {"role": "ai", "parts": [_text(f"**summarized content:**\n{' '.join(strings)}")]}
    yield {"role": "human", "parts": [_text("And what is open?")]}
    yield {"role": "ai", "parts": [{"type": "tool_call", "id": "open", "name": strings[0], "arguments": "{}"}]}
    yield {"role": "human", "parts": [_text("Hello?")]}
    yield {"role": "tool", "parts": [{"type": "tool_response", "tool_call_id": strings[-1], "name": strings[0], "content": "late"}]}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _media(text: str) -> Iterator[dict[str, Any]]:
    yield {"type": "image_url", "url": text, "detail": text}
    yield {"type": "binary", "mime": text, "data_b64": base64.b64encode(text.encode("utf-8", "replace")).decode()}
    yield {"type": text, text: [text]}


def _spoken(text: str) -> Iterator[dict[str, Any]]:
    yield {"type": "text", "text": text, "reasoning": {"content": text, "signature": text}, "cache_control": text}
    yield {"type": "thinking", "text": text, "signature": text}


def _calls(text: str) -> Iterator[dict[str, Any]]:
    yield {"type": "tool_call", "id": text, "name": text, "arguments": text}
    yield {"type": "tool_call", "id": f"{text} 2", "name": text, "arguments": json.dumps({text: [text, {"html": text}]})}


def _results(text: str) -> Iterator[dict[str, Any]]:
    media = [{"type": "image_url", "url": text}, {"type": "binary", "mime": text, "data_b64": "AAAA"}]
    answer = {"type": "tool_response", "tool_call_id": text, "name": text, "content": text}
    yield {"role": "tool", "parts": [{**answer, "is_error": True, "media": media}]}
    nested = json.dumps({"content": json.dumps({text: text})})
    yield {"role": "tool", "parts": [{**answer, "tool_call_id": f"{text} 2", "content": nested}]}


def keyed(strings: Sequence[str]) -> bytes:
    """Chains below keys, which their pointers name."""
    return json.dumps({each: {"messages": [{"role": "user", "content": each}]} for each in strings}).encode()


def grafted(file: Path, strings: Sequence[str]) -> bytes:
    """A sample of another format with a string behind every text that it holds; equal texts stay equal, as ids must."""
    text = file.read_text("utf-8-sig")
    lines = [line for line in text.splitlines() if line.strip()] if file.suffix == ".jsonl" else [text]
    return "\n".join(json.dumps(_grafted(json.loads(line), "", strings)) for line in lines).encode()


def _grafted(value: Any, key: str, strings: Sequence[str]) -> Any:
    if isinstance(value, list):
        return [_grafted(each, key, strings) for each in value]
    if isinstance(value, dict):
        more = strings[len(value) % len(strings)]
        return {name: _grafted(each, name, strings) for name, each in value.items()} | {more: more}
    if not isinstance(value, str) or key in STRUCTURE or _is_time(value):
        return value
    return value + strings[crc32(value.encode("utf-8", "replace")) % len(strings)]


def _is_time(text: str) -> bool:
    return text[:4].isdigit() and "T" in text[:12]
