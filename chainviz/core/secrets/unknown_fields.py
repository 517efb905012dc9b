"""Members of a message's source that none of its parts was read from, such as `toolUseResult` of a Claude Code line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chainviz.core.chain.messages import Fragment, Message
from chainviz.core.documents.units import Pointer
from chainviz.core.secrets.part_texts import texts_of

SHORT = 200
"""Characters up to which a member that a part says among other words is a field of its own: a password that the text repeats."""


class _Members(list[tuple[str, Any]]):
    """The members of an object, also those whose name comes again later: they leave with the file too."""


@dataclass(frozen=True, slots=True)
class SourceField:
    pointer: str
    """JSON pointer in the unit."""
    text: str
    """With its key, which rules look at too."""


def fields(message: Message, blocks_at: Pointer) -> Iterator[SourceField]:
    """In the order of the source; none where it is no JSON. `blocks_at`: where a unit of the message's format lists the
    blocks that tell apart the messages it gives. Members beside them are those of its first message."""
    texts = [text for part in message.parts for _, text in texts_of(part)]
    texts += [getattr(part, name, "") for part in message.parts for name in ("signature",)]
    known, whole = set(texts), "\n".join(texts)
    for fragment in message.source:
        try:
            unit = json.loads(fragment.text, object_pairs_hook=_Members)
        except (ValueError, RecursionError):
            continue
        is_later = (fragment.blocks or (0,))[0] != 0
        for pointer, key, leaf in _leaves(unit, fragment, blocks_at):
            text = leaf if isinstance(leaf, str) else str(leaf)
            is_known = text in known or (len(text) > SHORT and text in whole)
            if not is_known and not (is_later and pointer[: len(blocks_at)] != blocks_at):
                yield SourceField("".join(f"/{_escaped(str(step))}" for step in pointer), f'"{key}":"{text}"')


def _leaves(unit: Any, fragment: Fragment, blocks_at: Pointer) -> Iterator[tuple[Pointer, str, str | int | float]]:
    """Texts and numbers of the message, each with its pointer and its key."""
    waiting: list[tuple[Pointer, str, Any]] = [((), "", unit)]
    while waiting:
        pointer, key, value = waiting.pop()
        if isinstance(value, _Members):
            waiting += [((*pointer, name), name, each) for name, each in reversed(value)]
        elif isinstance(value, list):
            own = list(range(len(value)))
            if fragment.blocks is not None and pointer == blocks_at:
                own = [place for place in own if place in fragment.blocks]
            waiting += [((*pointer, i), key, value[i]) for i in reversed(own)]
        elif value is not None and not isinstance(value, bool):
            yield pointer, key, value


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
