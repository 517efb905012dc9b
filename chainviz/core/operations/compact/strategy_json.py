"""A strategy as JSON and back: `{"type": "split", "trigger": {…}, "strategy": {…}}`, each member a field of its compactor.

Every error names its place in the JSON, such as `compactors[1].trigger`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from types import NoneType
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

from chainviz.core.errors import OptionsError
from chainviz.core.operations.compact.compactors import COMPACTORS
from chainviz.core.operations.compact.compactors.contract import Compactor, Titled, Trigger

Registry = Sequence[type[Trigger]]
MOST_DEPTH = 32


def parse_strategy(given: str | Mapping[str, Any], registry: Registry = COMPACTORS) -> Compactor:
    """OptionsError, in one sentence with the place, where it is none."""
    value = _load(given) if isinstance(given, str) else given
    return cast(Compactor, _Parser(registry).node(value, "", Compactor))


def print_strategy(compactor: Trigger, indent: int | None = None) -> str:
    """The JSON that `parse_strategy` reads again; fields that have their default are left out."""
    return json.dumps(as_value(compactor), indent=indent, ensure_ascii=False)


def as_value(node: Trigger) -> dict[str, Any]:
    """A compactor or trigger as a JSON value."""
    value: dict[str, Any] = {"type": node.type}
    for name, kind in kinds_of(type(node)).items():
        found = getattr(node, name)
        if is_open(kind):
            value |= found
        elif isinstance(found, tuple):
            value[name] = [as_value(item) for item in found]
        elif isinstance(found, Trigger):
            value[name] = as_value(found)
        elif found != defaults_of(type(node)).get(name, MISSING):
            value[name] = found
    return value


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise OptionsError(f"The strategy is not JSON: {error.msg} at {place}.") from None
    except (ValueError, RecursionError):
        raise OptionsError("The strategy is not JSON: it is nested too deeply or contains a huge number.") from None


def kinds_of(node: type[Trigger]) -> dict[str, Any]:
    """The type of each field."""
    hints = get_type_hints(node)
    return {one.name: hints[one.name] for one in _fields(node)}


def titles_of(node: type[Trigger]) -> dict[str, Titled]:
    """What a form calls each field."""
    hints = get_type_hints(node, include_extras=True)
    return {one.name: next(iter(getattr(hints[one.name], "__metadata__", ())), Titled(one.name)) for one in _fields(node)}


def defaults_of(node: type[Trigger]) -> dict[str, Any]:
    return {one.name: one.default for one in _fields(node) if one.default is not MISSING}


def _fields(node: type[Trigger]) -> tuple[Field[Any], ...]:
    return fields(cast(Any, node))


def is_open(kind: Any) -> bool:
    """A field that takes every member without a field of its own."""
    return get_origin(kind) is Mapping


class _Parser:
    def __init__(self, registry: Registry) -> None:
        self._types = {each.type: each for each in registry}

    def node(self, value: Any, place: str, wanted: type) -> Trigger:
        """The compactor or trigger that an object describes."""
        where = place or "The strategy"
        if not isinstance(value, Mapping):
            raise OptionsError(f"{where} must be an object with a type.")
        if place.count(".") >= MOST_DEPTH:
            raise OptionsError(f"{place[:80]}… is nested too deeply.")
        found = self._types.get(value["type"]) if isinstance(value.get("type"), str) else None
        if found is None or not issubclass(found, wanted):
            names = ", ".join(name for name, each in self._types.items() if issubclass(each, wanted))
            said = f"no type “{str(value['type'])[:40]}”" if "type" in value else "no type"
            what = "compactor" if wanted is Compactor else "trigger"
            raise OptionsError(f"{where}: there is {said} for a {what}; choose {names}.")
        return found(**self._members(found, value, place))

    def _members(self, found: type[Trigger], value: Mapping[str, Any], place: str) -> dict[str, Any]:
        kinds = kinds_of(found)
        where = place or "The strategy"
        members: dict[str, Any] = {}
        rest = {name: item for name, item in value.items() if name != "type" and name not in kinds}
        for name, kind in kinds.items():
            if is_open(kind):
                members[name], rest = rest, {}
            elif name in value:
                members[name] = self._member(value[name], kind, f"{place}.{name}" if place else name)
            elif name not in defaults_of(found):
                raise OptionsError(f"{where}: {found.type} needs “{name}”.")
        if rest:
            has = f"it has {', '.join(kinds)}" if kinds else "it takes no members"
            raise OptionsError(f"{where}: {found.type} has no “{next(iter(rest))[:40]}”; {has}.")
        return members

    def _member(self, value: Any, kind: Any, place: str) -> Any:
        if kind is int:
            return _checked(value, place, "a whole number", lambda: type(value) is int)
        if get_origin(kind) is tuple:
            items = _checked(value, place, "a list", lambda: isinstance(value, list))
            return tuple(self.node(item, f"{place}[{i}]", get_args(kind)[0]) for i, item in enumerate(items))
        if isinstance(kind, type) and issubclass(kind, Trigger):
            return self.node(value, place, kind)
        words = words_of(kind)
        return _checked(value, place, " or ".join(words), lambda: isinstance(value, str) and value in words)


def words_of(kind: Any) -> tuple[str, ...]:
    """Of a Literal, optional or not."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return next(words_of(each) for each in get_args(kind) if each is not NoneType)


def _checked(value: Any, place: str, wanted: str, is_right: Callable[[], bool]) -> Any:
    if not is_right():
        raise OptionsError(f"{place} must be {wanted}.")
    return value
