"""A strategy as a form: one group of fields a node, named by the node's place in the strategy's JSON.

The fields of `compactors[0].trigger` are called `type@compactors[0].trigger`, `n@compactors[0].trigger`. A strategy under
construction is a JSON value that may lack members; `parse_strategy` says what is missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from chainviz.core.operations.compact import COMPACTORS, USUAL_LIMITS
from chainviz.core.operations.compact.contract import REDUCTIONS, Compactor, Trigger
from chainviz.core.operations.compact.strategy import defaults_of, is_open, kinds_of, titles_of, words_of

Value = dict[str, Any]
TYPES: dict[str, type[Trigger]] = {each.type: each for each in COMPACTORS}
MOST_NODES = 200
_STEP = re.compile(r"(\w+)(?:\[(\d+)\])?")
_NUMBER = re.compile(r"-?\d{1,12}")


@dataclass(frozen=True, slots=True)
class FormField:
    """A member of a compactor that a person types or chooses."""

    name: str
    """The name of the field in the form."""
    title: str
    unit: str
    value: str
    choices: tuple[tuple[str, str], ...] = ()
    is_long: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of the registry, as a menu shows it."""

    type: str
    label: str
    hint: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A field of a node that contains other nodes."""

    place: str
    title: str
    is_list: bool
    is_trigger: bool
    """True if the node there only decides when to compact."""
    choices: tuple[Kind, ...]
    """The kinds of nodes that are allowed there."""
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    place: str
    type: str
    label: str
    hint: str
    said: str
    """Its numbers as text."""
    fields: tuple[FormField, ...]
    slots: tuple[Slot, ...]
    number: int | None = None
    """The index in a list of nodes, from 0, or None outside a list."""
    is_last: bool = True
    is_compactor: bool = True

    @property
    def dom_id(self) -> str:
        return "node-" + re.sub(r"[^\w]+", "-", self.place or "root").rstrip("-")


def read_tree(form: Mapping[str, Any]) -> Value | None:
    """Read the strategy that a form describes; None if it has no node."""
    return _read(form, "", [MOST_NODES])


def _read(form: Mapping[str, Any], place: str, left: list[int]) -> Value | None:
    kind = TYPES.get(form.get(f"type@{place}", ""))
    left[0] -= 1
    if kind is None or left[0] < 0:
        return None
    value: Value = {"type": kind.type}
    for name, wanted in kinds_of(kind).items():
        inner = f"{place}.{name}" if place else name
        if get_origin(wanted) is tuple:
            value[name] = list(_read_list(form, inner, left))
        elif isinstance(wanted, type) and issubclass(wanted, Trigger):
            node = _read(form, inner, left)
            value |= {name: node} if node else {}
        else:
            value |= _member(name, wanted, str(form.get(f"{name}@{place}", "")).strip())
    return value


def _read_list(form: Mapping[str, Any], place: str, left: list[int]) -> Iterator[Value]:
    number = 0
    while (node := _read(form, f"{place}[{number}]", left)) is not None:
        yield node
        number += 1


def _member(name: str, wanted: Any, text: str) -> Value:
    """Read a field. An empty one means the default; text that is not a number is kept, and refused later."""
    if not text:
        return {}
    if is_open(wanted):
        try:
            found = json.loads(text)
        except ValueError:
            return {name: text}
        return found if isinstance(found, dict) else {name: text}
    if wanted is int:
        number = re.sub(r"[,\s]", "", text)
        return {name: int(number) if _NUMBER.fullmatch(number) else text}
    return {name: text}


def edited(value: Value | None, act: str, window: int = 0) -> Value | None:
    """Return the strategy after a button of the form: `add:PLACE:TYPE`, `remove:PLACE`, `up:PLACE`, `down:PLACE`,
    `wrap:PLACE:TYPE`."""
    word, _, rest = act.partition(":")
    place, _, kind = rest.partition(":")
    if word == "add" and kind in TYPES:
        return new_node(kind, window) if not place else _put(value, place, new_node(kind, window))
    if word == "wrap" and kind in TYPES:
        return _wrapped(value, place, kind)
    if word == "remove":
        return _without(value, place)
    if word in ("up", "down"):
        return _moved(value, place, -1 if word == "up" else 1)
    return value


USUAL_NUMBERS = {**USUAL_LIMITS, "n": 20}
"""The initial values of a new node."""
SHARE = 80
"""The initial token limit in percent of the context window, if the window is known."""


def new_node(kind: str, window: int = 0) -> Value:
    """Return a new node. `window` is the context window of the recorded model in tokens, or 0 if it is not known."""
    usual = USUAL_NUMBERS | ({"max_tokens": window * SHARE // 100} if window else {})
    kinds, defaults = kinds_of(TYPES[kind]), defaults_of(TYPES[kind])
    numbers = {name: usual.get(name, 0) for name, wanted in kinds.items() if wanted is int and name not in defaults}
    lists: Value = {name: [] for name, wanted in kinds.items() if get_origin(wanted) is tuple}
    return {"type": kind, **numbers, **lists}


def usual_tree(window: int) -> Value:
    """Return the initial strategy of the page: fit the window of the recorded model, or off if the window is not known."""
    return fitting(window, SHARE)


def fitting(window: int, percent: int) -> Value:
    """Return a strategy that compacts above a part of the window."""
    return {"type": "composite", "compactors": [{"type": "token_limit", "max_tokens": window * percent // 100}]}


@dataclass(frozen=True, slots=True)
class Way:
    """A strategy that a person chooses by what it does."""

    label: str
    hint: str
    tree: Value


def ways_for(window: int, model: str) -> tuple[Way, ...]:
    """`model` is a sentence about the model that writes summaries; "" if there is none."""
    limits = (
        Way("Fit the window", f"Above {SHARE}% of it, the oldest turns are removed.", fitting(window, SHARE)),
        Way("Leave room to work", "Above half of the window, the oldest turns are removed.", fitting(window, 50)),
    )
    by_model = (
        Way("Fold tool exchanges with a model", model, {"type": "fold_tools", "writer": "model"}),
        Way("Summarize with a model", model, {"type": "summarize", "writer": "model"}),
    )
    return (
        *(limits if window else ()),
        Way("Fold tool exchanges", "Requests and answers stay; calls with their results become extracts.", {"type": "fold_tools"}),
        Way("Summarize old turns", "Older turns become extracts.", {"type": "summarize"}),
        *(by_model if model else ()),
    )


def _put(value: Value | None, place: str, node: Value) -> Value | None:
    """Put a node into a member with a single node, or at the end of a list."""
    parent, name = _owner(value, place)
    if parent is not None:
        kind = kinds_of(TYPES[parent["type"]]).get(name)
        parent[name] = [*parent.get(name, []), node] if get_origin(kind) is tuple else node
    return value


def _wrapped(value: Value | None, place: str, kind: str) -> Value | None:
    """Put the node into a new one, as the first member that accepts it."""
    node = _at(value, place)
    if node is None:
        return value
    outer = new_node(kind)
    for name, wanted in kinds_of(TYPES[kind]).items():
        if wanted is Compactor:
            outer[name] = node
            break
        if get_origin(wanted) is tuple:
            outer[name] = [node]
            break
    return _replaced(value, place, [outer])


def _without(value: Value | None, place: str) -> Value | None:
    return _replaced(value, place, [])


def _moved(value: Value | None, place: str, by: int) -> Value | None:
    items, number = _list_at(value, place)
    if items is not None and 0 <= number + by < len(items):
        items[number], items[number + by] = items[number + by], items[number]
    return value


def _replaced(value: Value | None, place: str, nodes: Sequence[Value]) -> Value | None:
    if not place:
        return nodes[0] if nodes else None
    items, number = _list_at(value, place)
    if items is not None:
        items[number : number + 1] = nodes
        return value
    parent, name = _owner(value, place)
    if parent is not None:
        parent.pop(name, None)
        parent |= {name: nodes[0]} if nodes else {}
    return value


def _at(value: Any, place: str) -> Value | None:
    for name, number in _STEP.findall(place):
        value = value.get(name) if isinstance(value, dict) else None
        if number:
            value = value[int(number)] if isinstance(value, list) and int(number) < len(value) else None
    return value if isinstance(value, dict) else None


def _owner(value: Value | None, place: str) -> tuple[Value | None, str]:
    """Return the node that contains a place, and the member's name."""
    above, _, name = place.rpartition(".")
    return _at(value, above), name


def _list_at(value: Value | None, place: str) -> tuple[list[Value] | None, int]:
    """Return the list that contains the node at a place, and its index there."""
    found = re.fullmatch(r"(.*?)(\w+)\[(\d+)\]", place)
    if not found:
        return None, 0
    parent = _at(value, found[1].rstrip("."))
    items = parent.get(found[2]) if parent else None
    number = int(found[3])
    return (items, number) if isinstance(items, list) and number < len(items) else (None, 0)


def node_of(value: Value, place: str = "", number: int | None = None, *, is_last: bool = True) -> Node:
    """Return a strategy in the form for a page."""
    kind = TYPES[value["type"]]
    titles = titles_of(kind)
    fields: list[FormField] = []
    slots: list[Slot] = []
    for name, wanted in kinds_of(kind).items():
        inner = f"{place}.{name}" if place else name
        if get_origin(wanted) is tuple:
            slots.append(_list_slot(value.get(name, []), inner, titles[name].title, get_args(wanted)[0]))
        elif isinstance(wanted, type) and issubclass(wanted, Trigger):
            nodes = (node_of(value[name], inner),) if name in value else ()
            slots.append(Slot(inner, titles[name].title, False, wanted is Trigger, kinds_for(wanted), nodes))
        else:
            fields.append(_field(value, name, wanted, f"{name}@{place}", kind))
    said = ", ".join(filter(None, map(_field_text, fields))) or kind.hint
    is_compactor = issubclass(kind, Compactor)
    return Node(place, kind.type, kind.label, kind.hint, said, tuple(fields), tuple(slots), number, is_last, is_compactor)


def _list_slot(items: list[Value], place: str, title: str, wanted: type[Trigger]) -> Slot:
    last = len(items) - 1
    nodes = tuple(node_of(item, f"{place}[{at}]", at, is_last=at == last) for at, item in enumerate(items))
    return Slot(place, title, True, wanted is Trigger, kinds_for(wanted), nodes)


def kinds_for(wanted: type) -> tuple[Kind, ...]:
    return tuple(Kind(each.type, each.label, each.hint) for each in COMPACTORS if issubclass(each, wanted))


def _field(value: Value, name: str, wanted: Any, field_name: str, kind: type[Trigger]) -> FormField:
    titled = titles_of(kind)[name]
    if is_open(wanted):
        rest = {key: item for key, item in value.items() if key != "type"}
        text = rest[name] if isinstance(rest.get(name), str) else json.dumps(rest, ensure_ascii=False) if rest else ""
        return FormField(field_name, titled.title, titled.unit, text, is_long=True)
    given = value.get(name)
    shown = "" if given is None else f"{given:,}" if isinstance(given, int) else str(given)
    if wanted is int:
        return FormField(field_name, titled.title, titled.unit, "" if given == defaults_of(kind).get(name, 0.5) else shown)
    choices = tuple((word, REDUCTIONS.get(word, word.replace("_", " "))) for word in words_of(wanted))
    return FormField(field_name, titled.title, titled.unit, shown, choices)


def _field_text(field: FormField) -> str:
    if field.is_long or field.choices or not field.value:
        return ""
    return f"{field.title.lower()} {field.value} {field.unit}"
