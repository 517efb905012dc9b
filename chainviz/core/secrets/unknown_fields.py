"""Members of a message's source that none of its parts was read from, such as `toolUseResult` of a Claude Code line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chainviz.core.chain.messages import Fragment, Message
from chainviz.core.secrets.part_texts import texts_of

BLOCKS = frozenset(("content", "parts"))
"""Lists whose items are told apart where a unit gives several messages."""


@dataclass(frozen=True, slots=True)
class SourceField:
    pointer: str
    """JSON pointer in the unit."""
    text: str
    """With its key, which rules look at too."""


def fields(message: Message) -> Iterator[SourceField]:
    """In the order of the source; none where it is no JSON."""
    known = [text for part in message.parts for _, text in texts_of(part)]
    known += [getattr(part, name, "") for part in message.parts for name in ("id", "call_id", "name", "signature")]
    whole = "\n".join(known)
    for fragment in message.source:
        if fragment.blocks and fragment.blocks[0] != 0:
            continue
        try:
            unit = json.loads(fragment.text)
        except (ValueError, RecursionError):
            continue
        for pointer, key, leaf in _leaves(unit, fragment):
            text = leaf if isinstance(leaf, str) else str(leaf)
            if text not in whole:
                yield SourceField(pointer, f'"{key}":"{text}"')


def _leaves(unit: Any, fragment: Fragment) -> Iterator[tuple[str, str, str | int | float]]:
    """Texts and numbers, each with its pointer and the key it stands under."""
    waiting: list[tuple[str, str, Any]] = [("", "", unit)]
    while waiting:
        pointer, key, value = waiting.pop()
        if isinstance(value, dict):
            inside = [(f"{pointer}/{_escaped(name)}", name, each) for name, each in value.items()]
            waiting += reversed(inside)
        elif isinstance(value, list):
            waiting += [
                (f"{pointer}/{i}", key, value[i])
                for i in reversed(range(len(value)))
                if key not in BLOCKS or fragment.blocks is None or i in fragment.blocks
            ]
        elif value is not None and not isinstance(value, bool):
            yield pointer, key, value


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
