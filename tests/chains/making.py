"""Chains in the library, made from messages without uploading a file."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from chainviz.accounts.models import local_member
from chainviz.chains.models import Chain
from chainviz.chains.uploads.imports import import_offer
from chainviz.core.documents.source import open_source
from chainviz.core.formats.offers import offers_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Version


def make_chain(messages: list[dict[str, Any]], name: str = "story.json") -> Chain:
    return make_chain_of(json.dumps({"messages": messages}).encode(), name)


def make_chain_of(content: bytes, name: str = "story.json") -> Chain:
    with NamedTemporaryFile(suffix=Path(name).suffix) as file:
        file.write(content)
        file.flush()
        with open_source(file.name) as source:
            offer = offers_of(source)[0]
            return import_offer(local_member(), source, offer, file_name=name)


def newest(chain: Chain) -> StoredChain:
    """Return the newest version as the store has it."""
    return StoredChain(Version.objects.filter(history=chain.history).latest("number").snapshot)


def human(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def ai(text: str | None = None, *calls: tuple[str, str, Any]) -> dict[str, Any]:
    """`calls`: (id, name, arguments)."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": _text(arguments)}} for id, name, arguments in calls
        ]
    return message


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def result(id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


STORY = [
    {"role": "system", "content": "You help in a workshop."},
    human("Which drill fits **this** wall?"),
    ai("I look it up.", ("c1", "find_tool", {"wall": "brick", "depth": 8}), ("c2", "price", {"id": 4})),
    result("c1", '{"name": "hammer drill", "stock": [1, 2]}'),
    result("c2", "12.50"),
    ai("A *hammer* drill."),
    human("And for glass?"),
    ai(None, ("c3", "find_tool", {"wall": "glass"})),
    human("Hello?"),
    ai("Sorry, I was busy."),
]
"""Two valid sections, and between them a call that was never answered."""


def long_story(sections: int, pairs: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for s in range(1, sections + 1):
        messages.append(human(f"Task number {s}"))
        for p in range(1, pairs + 1):
            messages += [ai(None, (f"c{s}.{p}", "read_file", {"path": f"src/{s}/{p}.py"})), result(f"c{s}.{p}", f"text {s}-{p}\n" * 5)]
    return messages
