"""Formats in which a message is one whole unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from chainviz.core.chain.messages import Fragment, Message
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Unit

Make = Callable[[Any, str, tuple[Fragment, ...]], Message]
"""A message from a unit's value, its text and the source."""


def has_role(value: Any) -> bool:
    return type(value) is dict and type(value.get("role")) is str


def read_units(units: Iterable[Unit], make: Make, is_message: Callable[[Any], bool] = has_role) -> Iterator[Message | Unit]:
    for unit in units:
        yield make(unit.value, unit.text, (unit.fragment(),)) if is_message(unit.value) else unit


def read_again(source: tuple[Fragment, ...], make: Make) -> Message:
    return make(parse(source[0].text), source[0].text, source)
