"""The JSON of messages as an API takes it: forms of blocks as values, and where the source of a message differs from them.

A form is a type (`str`, `int`, `dict` …) or an instance of a class below. A member that no form names is not wrong: nobody here
knows it, so the chain is not fully checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from chainviz.core.chain.messages import PART_TYPES, Message
from chainviz.core.documents.json.edit import value_of
from chainviz.core.documents.units import Pointer
from chainviz.core.providers.contract import UNKNOWN_MEMBER, WireFault
from chainviz.core.providers.rules import Rule

Fault = tuple[Rule, Pointer, str]
"""A broken rule, the pointer into the message's JSON, and what the message does."""

NAMES = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list", dict: "an object"}


def sent_value(message: Message) -> Any:
    """Return the decoded first unit of a message; None if no document contains it yet, or one that is not JSON, such as
    a recorded stream."""
    try:
        return value_of(message.source[0]) if message.source else None
    except (ValueError, RecursionError):
        return None


def kind_name(value: Any) -> str:
    return NAMES.get(type(value), "a value")


def in_blocks(message: Message, faults: Iterable[Fault], key: str) -> Iterator[WireFault]:
    """Yield the faults of a unit whose list under `key` has a block for each part, without those of blocks that belong
    to another message of the unit."""
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
    """Yield members that chainviz does not know."""
    for key in value.keys() - known:
        yield UNKNOWN_MEMBER, (*place, key), f"has the field “{key[:40]}”, which is not checked"


LONGEST = 40
"""The most characters of a name or a word that are quoted."""


class Misfit(NamedTuple):
    """A difference between a value and its form."""

    place: Pointer
    how: Literal["missing", "wrong", "unknown"]
    """The kind of fault. `unknown` is a member or a type that chainviz does not know, so it may be valid."""
    what: str
    """A noun phrase that follows “a block with”."""


class Shape(Protocol):
    @property
    def json(self) -> type:
        """The type of JSON that it is."""
        ...

    def inside(self, value: Any, place: Pointer, name: str) -> Iterator[Misfit]:
        """Yield what is wrong inside a value. `value` is of the type `json`; `name`: its member; `place`: the pointer to it."""
        ...


Form: TypeAlias = type | Shape


def misfits(value: Any, form: Form, place: Pointer = (), name: str = "") -> Iterator[Misfit]:
    """Yield what is wrong with a value. `name`: the member of the value; `place`: the pointer to it."""
    if not _is_of(value, form):
        yield Misfit(place, "wrong", f"{kind_name(value)} as “{name[:LONGEST]}”")
    elif not isinstance(form, type):
        yield from form.inside(value, place, name)


def faults_of(found: Iterable[Misfit], missing: Rule, wrong: Rule, block: str) -> Iterator[Fault]:
    """Return the differences as faults in the words of an API; `block` names the holder, such as “an image block”."""
    for place, how, what in found:
        rule = {"missing": missing, "wrong": wrong, "unknown": UNKNOWN_MEMBER}[how]
        yield rule, place, f"holds {block} with {what}{', which is not checked' if how == 'unknown' else ''}"


@dataclass(frozen=True, slots=True)
class Words:
    """One of these texts."""

    words: tuple[str, ...]
    json: type = str

    def inside(self, value: str, place: Pointer, name: str) -> Iterator[Misfit]:
        if value not in self.words:
            yield Misfit(place, "wrong", f"“{value[:LONGEST]}” as “{name[:LONGEST]}”")


@dataclass(frozen=True, slots=True)
class Spelled:
    """A text that the pattern matches as a whole; `what` describes such a text."""

    pattern: re.Pattern[str]
    what: str
    json: type = str

    def inside(self, value: str, place: Pointer, name: str) -> Iterator[Misfit]:
        if not self.pattern.fullmatch(value):
            yield Misfit(place, "wrong", f"a text that is no {self.what} as “{name[:LONGEST]}”")


ADDRESS = Spelled(re.compile(r"(?:https?://|data:)[^\s].*", re.IGNORECASE | re.DOTALL), "address of the web or of data")
BASE64 = Spelled(re.compile(r"[A-Za-z0-9+/_-][A-Za-z0-9+/_\s-]*(?:={1,2}\s*)?"), "base64")


@dataclass(frozen=True, slots=True)
class Each:
    """A list of which each element has the form."""

    form: Form
    json: type = list

    def inside(self, value: list[Any], place: Pointer, name: str) -> Iterator[Misfit]:
        for index, each in enumerate(value):
            yield from misfits(each, self.form, (*place, index), f"{name}[{index}]")


@dataclass(frozen=True, slots=True)
class Fields:
    """An object. Null means that a member is left out, unless the member is needed."""

    needed: Mapping[str, Form] = field(default_factory=dict)
    optional: Mapping[str, Form] = field(default_factory=dict)
    some: tuple[str, ...] = ()
    """Optional members, of which it must have at least one."""
    json: type = dict

    def beside(self, more: Mapping[str, Form]) -> Fields:
        """Return the form with more optional members."""
        return Fields(self.needed, {**self.optional, **more}, self.some)

    def inside(self, value: dict[str, Any], place: Pointer, name: str) -> Iterator[Misfit]:
        for key, form in self.needed.items():
            if key in value:
                yield from misfits(value[key], form, (*place, key), key)
            else:
                yield Misfit(place, "missing", f"no “{key}”")
        if self.some and all(value.get(key) is None for key in self.some):
            yield Misfit(place, "missing", f"none of {', '.join(f'“{key}”' for key in self.some)}")
        for key, form in self.optional.items():
            if value.get(key) is not None:
                yield from misfits(value[key], form, (*place, key), key)
        for key in value:
            if key not in self.needed and key not in self.optional:
                yield Misfit((*place, key), "unknown", f"the field “{key[:LONGEST]}”")


@dataclass(frozen=True, slots=True)
class OneOf:
    """An object with exactly one of these members."""

    members: Mapping[str, Form]
    json: type = dict

    def inside(self, value: dict[str, Any], place: Pointer, name: str) -> Iterator[Misfit]:
        chosen = [key for key in value if key in self.members]
        if len(chosen) > 1 or not value:
            yield Misfit(place, "wrong", f"{len(chosen)} contents in “{name[:LONGEST]}”")
        else:
            yield from Fields({key: self.members[key] for key in chosen}).inside(value, place, name)


@dataclass(frozen=True, slots=True)
class Kinds:
    """An object whose `type` decides which members it has."""

    forms: Mapping[str, Fields]
    json: type = dict

    def inside(self, value: dict[str, Any], place: Pointer, name: str) -> Iterator[Misfit]:
        kind = value.get("type")
        if not isinstance(kind, str):
            yield Misfit(place, "missing", f"no “type” in “{name[:LONGEST]}”")
        elif kind not in self.forms:
            how: Literal["wrong", "unknown"] = "wrong" if kind in PART_TYPES else "unknown"
            yield Misfit(place, how, f"“{name[:LONGEST]}” of the type “{kind[:LONGEST]}”")
        else:
            yield from self.forms[kind].beside({"type": str}).inside(value, place, name)


@dataclass(frozen=True, slots=True)
class TextOr:
    """A text, or a value of another form."""

    other: Shape
    json: type = object

    def inside(self, value: Any, place: Pointer, name: str) -> Iterator[Misfit]:
        if not isinstance(value, str):
            yield from misfits(value, self.other, place, name)


def _is_of(value: Any, form: Form) -> bool:
    type_ = form if isinstance(form, type) else form.json
    return isinstance(value, type_) and not (type_ is int and isinstance(value, bool))
