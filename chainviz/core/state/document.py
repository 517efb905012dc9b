"""A conversation state and its JSON: the messages as they were stored, byte for byte."""

from __future__ import annotations

import json
from dataclasses import dataclass

from chainviz.core.documents.json_scan import to_bytes

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


def write_state(state: State) -> bytes:
    """The document in the reference's member order; the messages keep their own white space."""
    members = {
        "version": str(VERSION),
        "provider": json.dumps(state.provider),
        "processed_length": str(state.processed_length),
        "messages": f"[{','.join(state.messages)}]",
        **dict(state.others),
    }
    return to_bytes("{" + ",".join(f"{json.dumps(key)}:{text}" for key, text in members.items()) + "}")
