"""The JSON of a message as its source spells it: what a provider's check of the wire form looks at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from chainviz.core.chain.messages import Message
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Pointer
from chainviz.core.providers.contract import NOT_UNDERSTOOD, WireFault
from chainviz.core.providers.rules.rule import Rule

Fault = tuple[Rule, Pointer, str]
"""A broken rule, where in the message's JSON, and what the message does."""

NAMES = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}


def sent_value(message: Message) -> Any:
    """The decoded first unit of a message; None where no document holds it yet, or one that is not JSON, as a recorded stream."""
    with suppress(ValueError, RecursionError):
        return parse(message.source[0].text) if message.source else None
    return None


def kind_name(value: Any) -> str:
    return NAMES.get(type(value), "a value")


def in_blocks(message: Message, faults: Iterable[Fault], key: str) -> Iterator[WireFault]:
    """The faults of a unit whose list under `key` holds a block for each part; those of blocks that another message of
    the unit owns are left to it."""
    blocks = message.source[0].blocks
    for rule, place, what in faults:
        index = place[1] if len(place) > 1 and place[0] == key else None
        if blocks is None:
            part = index if isinstance(index, int) and index < len(message.parts) else None
            yield WireFault("", part, what, rule=rule)
        elif index in blocks:
            yield WireFault("", blocks.index(index), what, rule=rule)
        elif index is None and 0 in blocks:
            yield WireFault("", None, what, rule=rule)


def unknown_members(value: Mapping[str, Any], known: Iterable[str], place: Pointer = ()) -> Iterator[Fault]:
    """Members that nobody here understands."""
    for key in value.keys() - known:
        yield NOT_UNDERSTOOD, (*place, key), f"has the field “{key[:40]}”, which is not checked"
