"""Chains of every format for tests, and their way out again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from chainviz import Chain, load
from chainviz.core.chain.messages import Message
from chainviz.core.documents.source import open_source
from chainviz.core.formats import FORMATS
from chainviz.core.load import LoadedChain, export_chain, load_file, restyle
from tests.shared_folder import SAMPLES

NEUTRAL = json.dumps(
    [
        {"role": "system", "parts": [{"type": "text", "text": "Be brief."}]},
        {"role": "human", "parts": [{"type": "text", "text": "hé"}, {"type": "image_url", "url": "http://x/y.png"}]},
        {"role": "ai", "parts": [
            {"type": "text", "text": "look", "reasoning": {"content": "hm", "signature": "s=="}, "odd": [1.50, 1e400]},
            {"type": "tool_call", "id": "c1", "name": "ls", "arguments": "{ }", "extra": None},
            {"type": "tool_call", "id": "c2", "call_type": "", "no_function": True},
        ]},
        {"role": "tool", "parts": [{"type": "tool_response", "tool_call_id": "c1", "name": "ls", "content": "a\nb"}]},
        {"role": "ai", "parts": [{"type": "cache_control"}, {"type": "binary", "mime": "x/y", "data_b64": "AAE="}]},
    ],
    indent=1, ensure_ascii=False,
)  # fmt: skip


WITHOUT_CHAIN = ("langfuse/broken_error.json",)
"""Samples in which no message can be read: the only list is cut off."""


def sample_files(*, writes: bool = True) -> list[Path]:
    """The samples of every format that is written, or of those that are read only."""
    names = {format.name for format in FORMATS if format.writes == writes}
    named = (path for path in SAMPLES.glob("*/*") if path.parent.name in names)
    return sorted(path for path in named if f"{path.parent.name}/{path.name}" not in WITHOUT_CHAIN)


@cache
def sample_chains() -> list[tuple[Path, int, Chain]]:
    """Each chain of each sample, with its file and its index in the file."""
    paths = [*sample_files(), *sample_files(writes=False)]
    return [(path, index, chain) for path in paths for index, chain in enumerate(load(path))]


def read_only_documents() -> Iterator[tuple[str, bytes]]:
    for path in sample_files(writes=False):
        yield f"{path.parent.name}/{path.name}", path.read_bytes()


def exported(original: bytes, chain: LoadedChain, messages: tuple[Message, ...] | None = None) -> bytes:
    with open_source(original) as source:
        return export_chain(chain.messages if messages is None else messages, chain.envelope, chain.format, source.read)


def edited(original: bytes, chain: LoadedChain, index: int, message: Message) -> Any:
    """Return the JSON of a document after an edit of one message."""
    styled = restyle(chain.messages, index, message, chain.format, chain.envelope)
    return json.loads(exported(original, chain, (*chain.messages[:index], styled, *chain.messages[index + 1 :])))


def all_documents() -> Iterator[tuple[str, bytes]]:
    for path in sample_files():
        yield f"{path.parent.name}/{path.name}", path.read_bytes()
    yield "neutral", NEUTRAL.encode()


@lru_cache(maxsize=1)
def chains() -> list[tuple[str, bytes, LoadedChain]]:
    return [(name, content, chain) for name, content in all_documents() for chain in load_file(content)]


def differing(before: Any, after: Any, at: tuple[Any, ...] = ()) -> set[tuple[Any, ...]]:
    """The pointers at which two JSON values differ; a list or object that gained or lost members differs as a whole."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return {p for key in before for p in differing(before[key], after[key], (*at, key))}
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return {p for i, (b, a) in enumerate(zip(before, after, strict=True)) for p in differing(b, a, (*at, i))}
    return set() if json.dumps(before) == json.dumps(after) else {at}


def values(document: bytes) -> list[Any]:
    """The JSON values of a document or of its lines."""
    text = document.decode()
    try:
        return [json.loads(text)]
    except ValueError:
        return [_line(line) for line in text.splitlines() if line.strip()]


def _line(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line
