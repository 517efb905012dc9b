"""Fields of messages that a conversion leaves out: those that their own format would not write."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Message
from chainviz.core.formats.contract import Format, Style
from chainviz.core.formats.conversion import without_source
from chainviz.core.secrets.unknown_fields import fields

MOST_NAMED = 8
Keys = tuple[str, ...]


class FieldsLeftOut:
    """Counts the fields of messages that hold no part and that their format does not write."""

    def __init__(self, format: Format) -> None:
        self._format = format
        self._own: set[Keys] = set()
        self._found: Counter[Keys] = Counter()

    def add(self, message: Message) -> None:
        if not message.source or not self._format.writes:
            return
        written = self._format.write(without_source(message), Style(near=message.source[0].text))
        for fragment in written:
            self._own.update(_keys_in(fragment.text))
        pointers = {field.pointer for field in fields(message, self._format.blocks_at)}
        self._found.update({_keys(pointer) for pointer in pointers})

    def sentences(self) -> Iterator[str]:
        names: Counter[str] = Counter()
        for keys, count in self._found.items():
            unknown = next((end for end in range(1, len(keys) + 1) if keys[:end] not in self._own), 0)
            if unknown:
                names[".".join(keys[:unknown])] += count
        if names:
            yield f"Fields of messages are left out: {_named([name for name, _ in names.most_common()])}."


def _keys(pointer: str) -> Keys:
    return tuple(step for step in pointer.split("/")[1:] if not step.isdecimal())


def _keys_in(text: str) -> Iterator[Keys]:
    try:
        waiting: list[tuple[Keys, Any]] = [((), json.loads(text))]
    except (ValueError, RecursionError):
        return
    while waiting:
        keys, value = waiting.pop()
        yield keys
        if isinstance(value, dict):
            waiting += [((*keys, key), each) for key, each in value.items()]
        elif isinstance(value, list):
            waiting += [(keys, each) for each in value]


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(name[:60] for name in names[:MOST_NAMED]) + more
