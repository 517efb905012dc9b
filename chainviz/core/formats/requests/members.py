"""The JSON object of a request, member by member: taken out of one that is read, put into one that is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
Place = tuple[str, ...]
"""The keys that lead to a member."""
NUMBER = (int, float)


class Members:
    """A request that is read. Its object loses each member that is taken; those that stay are no settings."""

    def __init__(self, value: dict[str, Any], at: str = "") -> None:
        self._value = value
        self._at = at
        """What the names of places begin with."""
        self.opened: set[int] = set()
        """Identities of the objects inside the request from which a member was taken."""
        self.lost: list[str] = []
        """The places of values that were taken and not understood."""
        self.places: dict[str, str] = {}
        """Where the settings were that were taken, by the names of their fields."""

    def read(self, place: Place, kind: type[T] | tuple[type[T], ...], setting: str, read: Callable[[Any], R | None]) -> R | None:
        """Returns what `read` makes of the value at a place, and removes the value; it is lost where that is None."""
        value = self.take(place, kind, setting)
        if value is None:
            return None
        found = read(value)
        if found is None:
            self.lost.append(self.name(place))
        return found

    def take(self, place: Place, kind: type[T] | tuple[type[T], ...], setting: str = "") -> T | None:
        """Returns the value at a place and removes it; None, and nothing is removed, where it is of another kind."""
        holders = [self._value]
        for key in place[:-1]:
            inner = holders[-1].get(key)
            if not isinstance(inner, dict):
                return None
            holders.append(inner)
        found = holders[-1].get(place[-1])
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(found, kinds) or (isinstance(found, bool) and bool not in kinds):
            return None
        del holders[-1][place[-1]]
        self.opened.update(map(id, holders[1:]))
        if setting:
            self.places[setting] = self.name(place)
        return found

    def name(self, place: Place) -> str:
        return self._at + ".".join(place)


def put(value: dict[str, Any], place: Place, item: Any) -> None:
    """Sets the member at a place, with the objects that lead to it."""
    for key in place[:-1]:
        value = value.setdefault(key, {})
    value[place[-1]] = item
