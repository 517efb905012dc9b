"""The log of a Gemini CLI session, applied as the program applies it when it resumes (its chatRecordingService.ts).

A record with an id that is there already takes the place of the other one. `{"$set": {"messages": [...]}}` takes the place of
all before it. `{"$rewindTo": id}` removes the message with the id and all that follow; an unknown id removes all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chainviz.core.chain.messages import Fragment
from chainviz.core.dialects.leaf import set_at, without
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.assemble import ASIDE, place_of, with_items
from chainviz.core.documents.json.edit import dump, load_array, parse, quote, raw_at
from chainviz.core.documents.units import Pointer, Unit
from chainviz.core.documents.written_lists import uuid_of
from chainviz.core.formats.blocks import value_at
from chainviz.core.formats.vendors.google.read import is_response, member

LIST: Pointer = ("$set", "messages")


def messages_of(value: Any) -> list[Any]:
    """Return the messages of a record: those that it sets, or the record itself."""
    found = value_at(value, LIST)
    return found if type(found) is list else [value]


@dataclass(frozen=True, slots=True)
class Entry:
    """A message of the session in its latest state."""

    unit: Unit
    place: int
    """Its index among the messages of its record."""
    older: tuple[Entry, ...] = ()
    """The entries that it replaces; if it is removed, they have to be removed too."""

    @property
    def value(self) -> dict[str, Any]:
        found: dict[str, Any] = messages_of(self.unit.value)[self.place]
        return found


class Log:
    """Reads the records in file order, and returns those without a message that (still) counts."""

    def __init__(self, is_message: Callable[[object], bool]) -> None:
        self._is_message = is_message
        self._entries: dict[str, Entry] = {}
        self._live: dict[int, set[int]] = {}
        """By record ordinal: the places of the messages that count and of those that they replace."""

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
        """Return the entries in file order, which is the order in which they are sent: the program rewrites only its
        last message."""
        return sorted(self._entries.values(), key=lambda entry: (entry.unit.ordinal, entry.place))

    def blocks(self, entry: Entry, *, is_half: bool = False) -> tuple[int, ...]:
        """Return the place of a message in its record, with the places after it that do not count and, for the first
        message, those before it."""
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


# A record is put together again from the messages that own it: results go into the calls that they answer.


_OF_RESULT = ("result", "resultDisplay", "status")


@dataclass(slots=True)
class _Row:
    text: str
    """A message; the calls of a message of the model may still contain their old results."""
    results: list[str] = field(default_factory=list)
    """Messages with the results of its calls."""
    is_aside: bool = False


def takes(group: Sequence[Fragment], fragment: Fragment) -> bool:
    """Return True if a new message is written into the record before it: into a list that is set, or into the calls
    that it answers."""
    if raw_at(group[0].text, LIST) is not None:
        return True
    is_half = bool(fragment.blocks) and fragment.blocks[0] < 0  # type: ignore[index]
    return is_half and set(_results(fragment.text)) <= set(_calls(parse(group[0].text)))


def joined(fragments: Sequence[Fragment]) -> str:
    """Return the record of these fragments."""
    first = fragments[0].text
    rows: list[_Row] = []
    for index, text in _elements(fragments):
        home = _home(rows, text) if index < 0 else None
        if home is not None:
            home.results.append(text)
        else:
            own = _alone(text) if index < 0 else text
            rows.append(_Row(own, [own] if index < 0 else [], index >= ASIDE))
    made = [row.text if row.is_aside else _with_results(row.text, row.results) for row in rows]
    if made == _list(first):
        return first
    return with_items(first, LIST, made) if raw_at(first, LIST) is not None else made[0]


def _elements(fragments: Sequence[Fragment]) -> list[tuple[int, str]]:
    """Return the messages of the fragments with their indexes, in their old order if nothing changed."""
    found = []
    for fragment in fragments:
        elements = _list(fragment.text)
        indexes = range(len(elements)) if fragment.blocks is None else fragment.blocks
        found += [(index, elements[place_of(index)]) for index in indexes]
    if len({fragment.text for fragment in fragments}) == 1:
        found.sort(key=lambda each: (place_of(each[0]), each[0] < 0))
    return found


def _list(text: str) -> list[str]:
    raw = raw_at(text, LIST)
    if raw is None:
        return [text]
    array = load_array(raw)
    return [array.raw(place) for place in range(len(array))]


def _home(rows: Sequence[_Row], result: str) -> _Row | None:
    """Return the message that the results belong to: the one that contained them, else the last one with one of their
    calls."""
    same = next((row for row in rows if row.text == result), None)
    ids = set(_results(result))
    return same or next((row for row in reversed(rows) if ids & set(_calls(parse(row.text)))), None)


def _calls(value: Any) -> list[str]:
    return [string_of(call, "id") for call in objects_of(value, "toolCalls")]


def _results(text: str) -> dict[str, dict[str, str]]:
    """Return the results of a message, each as members of its call in JSON text, by the ids of the calls."""
    value = parse(text)
    found: dict[str, dict[str, str]] = {}
    for place, call in enumerate(objects_of(value, "toolCalls")):
        if call.get("result"):
            raws = {key: raw_at(text, ("toolCalls", place, key)) for key in _OF_RESULT}
            found[string_of(call, "id")] = {key: raw for key, raw in raws.items() if raw is not None}
    for place, item in enumerate(value["content"] if type(value.get("content")) is list else ()):
        if value.get("type") != "gemini" and is_response(item):
            is_error = "error" in (value_at(item, ("functionResponse", "response")) or {})
            members = {"result": f"[{raw_at(text, ('content', place))}]", "status": quote("error" if is_error else "success")}
            found[string_of(member(item, "functionResponse"), "id")] = members
    return found


def _with_results(text: str, messages: Sequence[str]) -> str:
    value = parse(text)
    if value.get("type") != "gemini":
        return text if messages or not _results(text) else _without_responses(text)
    results = {id: members for each in messages for id, members in _results(each).items()}
    if messages == [text] and not _calls(value):
        return text
    for place, call in enumerate(objects_of(value, "toolCalls")):
        members = results.get(string_of(call, "id"), {})
        for key in _OF_RESULT if members or call.get("result") else ():
            at = ("toolCalls", place, key)
            if key in members:
                text = set_at(text, at, members[key]) if raw_at(text, at) != members[key] else text
            elif key != "status":
                text = without(text, at)
    return text


def _without_responses(text: str) -> str:
    """Return a user's message without its removed results."""
    content = load_array(raw_at(text, ("content",)) or "[]")
    kept = [place for place, item in enumerate(parse(str(content))) if not is_response(item)]
    content.rebuild(kept)
    return set_at(text, ("content",), str(content))


def _alone(text: str) -> str:
    """Return the results of a model's message without it, as a user's message with an id of its own; any other message unchanged."""
    value = parse(text)
    if value.get("type") != "gemini":
        return text
    head = {"id": quote(uuid_of(text)), **({"timestamp": dump(value["timestamp"])} if "timestamp" in value else {})}
    items = [_response(call) for call in objects_of(value, "toolCalls") if call.get("result")]
    members = {**head, "type": '"user"', "content": f"[{','.join(items)}]"}
    return "{" + ",".join(f"{quote(key)}:{raw}" for key, raw in members.items()) + "}"


def _response(call: dict[str, Any]) -> str:
    """Return the result of a call as a part of its own."""
    items = call["result"] if type(call["result"]) is list else []
    found = next((member(item, "functionResponse") for item in items if is_response(item)), None)
    word = "error" if call.get("status") == "error" else "output"
    response = found["response"] if found and "response" in found else {word: call["result"]}
    return dump({"functionResponse": {"id": string_of(call, "id"), "name": string_of(call, "name"), "response": response}})
