"""What the JSON of a block may be, written as data, and where a value differs from it.

A form is a type (`str`, `int`, `dict` …) or an instance of a class below. A member that no form names is not wrong: nobody
here knows it, so that a verdict cannot say that it is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from chainviz.core.chain.part_types import PART_TYPES
from chainviz.core.documents.units import Pointer
from chainviz.core.providers.contract import NOT_UNDERSTOOD
from chainviz.core.providers.rules.rule import Rule
from chainviz.core.providers.wire.message import Fault, kind_name

LONGEST = 40
"""Characters of a name or a word that are quoted."""


class Misfit(NamedTuple):
    """Where a value differs from its form."""

    place: Pointer
    how: Literal["missing", "wrong", "unknown"]
    """`unknown` is a member or a type that nobody here knows, so that nobody can tell whether it is wrong."""
    what: str
    """Noun phrases, to be put behind “a block with”."""


class Shape(Protocol):
    @property
    def json(self) -> type:
        """The type of JSON that it is."""
        ...

    def inside(self, value: Any, place: Pointer, name: str) -> Iterator[Misfit]:
        """`value` is of the type `json`; `name`: the member that holds it; `place`: where that lies."""
        ...


Form: TypeAlias = type | Shape


def misfits(value: Any, form: Form, place: Pointer = (), name: str = "") -> Iterator[Misfit]:
    """`name`: the member that holds the value; `place`: where that lies."""
    if not _is_of(value, form):
        yield Misfit(place, "wrong", f"{kind_name(value)} as “{name[:LONGEST]}”")
    elif not isinstance(form, type):
        yield from form.inside(value, place, name)


def faults_of(found: Iterable[Misfit], missing: Rule, wrong: Rule, block: str) -> Iterator[Fault]:
    """The same in the words of an API; `block`: what holds the values, such as “an image block”."""
    for place, how, what in found:
        rule = {"missing": missing, "wrong": wrong, "unknown": NOT_UNDERSTOOD}[how]
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
    """A text that the pattern matches as a whole; `what` says what such a text is."""

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
    """An object. Null stands for a member that is left out, unless it is needed."""

    needed: Mapping[str, Form] = field(default_factory=dict)
    optional: Mapping[str, Form] = field(default_factory=dict)
    some: tuple[str, ...] = ()
    """Optional members of which it has at least one."""
    json: type = dict

    def beside(self, more: Mapping[str, Form]) -> Fields:
        """The same with more optional members."""
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
    """An object whose `type` says which members it has."""

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
