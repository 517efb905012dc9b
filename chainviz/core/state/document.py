"""A conversation state and its JSON: the messages as they were stored, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chainviz.core.documents.json.scan import to_bytes

VERSION = 1
"""The version this program reads and writes (seed 3, Version Field)."""


@dataclass(frozen=True, slots=True)
class State:
    provider: str
    """The state works with this provider only (seed 3, Provider Field)."""
    messages: tuple[str, ...] = ()
    """The JSON text of each message."""
    processed_length: int = 0
    """How many messages the model has seen. A document may say more than there are messages."""
    others: tuple[tuple[str, str], ...] = ()
    """Members of the document that seed 3 does not know: key and JSON text."""

    @property
    def seen(self) -> int:
        """How many of the messages the model has seen."""
        return max(0, min(self.processed_length, len(self.messages)))


def members_beside(texts: Iterable[str]) -> dict[str, Any]:
    """The members of a document beside its messages, from the texts before and behind them; {} where they are no object."""
    try:
        found = json.loads("".join(texts))
    except (ValueError, RecursionError):
        return {}
    return {key: value for key, value in found.items() if key != "messages"} if isinstance(found, dict) else {}


def unknown_members(members: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Those that seed 3 does not know: key and JSON text."""
    known = ("version", "provider", "processed_length", "messages")
    return tuple((key, json.dumps(value)) for key, value in members.items() if key not in known)


def write_state(state: State) -> bytes:
    """The document in the reference's member order; the messages keep their own white space."""
    return b"".join(state_document(state, state.messages))


def state_document(state: State, messages: Iterable[str]) -> Iterator[bytes]:
    """The same while the texts of the messages are read; those of `state` are not looked at."""
    head = {
        "version": str(VERSION),
        "provider": json.dumps(state.provider),
        "processed_length": str(state.processed_length),
    }
    yield to_bytes("{" + "".join(f"{_member(key, text)}," for key, text in head.items()) + '"messages":[')
    for number, text in enumerate(messages):
        yield to_bytes(f",{text}" if number else text)
    yield to_bytes("]" + "".join(f",{_member(key, text)}" for key, text in state.others) + "}")


def _member(key: str, text: str) -> str:
    return f"{json.dumps(key)}:{text}"
