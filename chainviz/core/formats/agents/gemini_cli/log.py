"""The log of a Gemini CLI session, applied as the program applies it when it resumes (its chatRecordingService.ts).

A record with an id that is there already takes the place of the other one. `{"$set": {"messages": [...]}}` takes the place of
all before it. `{"$rewindTo": id}` removes the message with the id and all that follow; an unknown id removes all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from chainviz.core.dialects.blocks.block_units import value_at
from chainviz.core.documents.assemble import ASIDE
from chainviz.core.documents.units import Pointer, Unit

LIST: Pointer = ("$set", "messages")


def messages_of(value: Any) -> list[Any]:
    """The messages of a record: those that it sets, or the record itself."""
    found = value_at(value, LIST)
    return found if type(found) is list else [value]


@dataclass(frozen=True, slots=True)
class Entry:
    """A message of the session as it now is."""

    unit: Unit
    place: int
    """Its place among the messages of its record."""
    older: tuple[Entry, ...] = ()
    """What it takes the place of: without it, that would count again."""

    @property
    def value(self) -> dict[str, Any]:
        found: dict[str, Any] = messages_of(self.unit.value)[self.place]
        return found


class Log:
    """Takes the records in file order, and returns those of which no message counts (any longer)."""

    def __init__(self, is_message: Callable[[object], bool]) -> None:
        self._is_message = is_message
        self._entries: dict[str, Entry] = {}
        self._live: dict[int, set[int]] = {}
        """Places of the messages that count, and of those that they take the place of, by the ordinals of their records."""

    def add(self, unit: Unit) -> Iterator[Unit]:
        value = unit.value if type(unit.value) is dict else {}
        if type(value.get("$rewindTo")) is str:
            yield from self._rewind(value["$rewindTo"])
            yield unit
            return
        items = messages_of(value)
        if type(value_at(value, LIST)) is list:
            yield from self._remove(list(self._entries))
        places = [place for place, item in enumerate(items) if self._is_message(item)]
        if not places:
            yield unit
            return
        self._live[unit.ordinal] = set(places)
        for place in places:
            before = self._entries.get(items[place]["id"])
            older = (replace(before, older=()), *before.older) if before else ()
            self._entries[items[place]["id"]] = Entry(unit, place, older)

    @property
    def entries(self) -> list[Entry]:
        """In file order: the program writes only its last message anew, so that it is the order in which they are sent."""
        return sorted(self._entries.values(), key=lambda entry: (entry.unit.ordinal, entry.place))

    def blocks(self, entry: Entry, *, is_half: bool = False) -> tuple[int, ...]:
        """The place of a message in its record; with it go those behind it that do not count, and for the first one those before."""
        if is_half:
            return (~entry.place,)
        live = self._live[entry.unit.ordinal]
        start = entry.place if entry.place != min(live) else -1
        end = min((place for place in live if place > entry.place), default=len(messages_of(entry.unit.value)))
        return (entry.place, *(place + ASIDE for place in range(start + 1, end) if place != entry.place))

    def _rewind(self, id: str) -> Iterator[Unit]:
        ids = list(self._entries)
        yield from self._remove(ids[ids.index(id) :] if id in self._entries else ids)

    def _remove(self, ids: list[str]) -> Iterator[Unit]:
        for id in ids:
            yield from self._bury(self._entries.pop(id))

    def _bury(self, entry: Entry) -> Iterator[Unit]:
        for each in (entry, *entry.older):
            live = self._live[each.unit.ordinal]
            live.discard(each.place)
            if not live:
                yield each.unit
