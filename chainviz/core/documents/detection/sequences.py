"""Decide which message lists of a document form one chain, and which part of the file is that chain's own document.

A format declares the members that belong together (`Format.sequences`), such as a request's messages and the answer, or three
attributes of an OpenTelemetry span.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from chainviz.core.chain.surroundings import Unread
from chainviz.core.documents.detection.find_lists import Frame, Place, Step
from chainviz.core.documents.detection.recognition import Keys
from chainviz.core.documents.json.edit import decode
from chainviz.core.documents.json.scan import byte_length
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, ListSpan, Pointer, Span, Tree


@dataclass(frozen=True, slots=True)
class Group:
    """The places of one chain, in chain order."""

    places: tuple[Place, ...]
    holder: Frame | None = None
    """The object with all places as its members; None for one place that belongs to no sequence."""
    depth: int = 0
    """The number of pointer steps to the holder."""
    is_tree: bool = False
    """The places are nodes of a tree, which gives the chain its name."""
    is_choice: bool = False
    """The last place is one of several answers, which gives the chain its name."""
    left_out: frozenset[int] = frozenset()
    """Offsets of messages that belong to another answer."""
    unread: tuple[Unread, ...] = ()
    """Nodes of the tree, or the answer of a sequence, that were not read."""

    @property
    def span(self) -> Span:
        spans = [place.spelled for place in self.places]
        return Span(min(span.start for span in spans), max(span.end for span in spans))

    def holds(self, other: Group) -> bool:
        """Return True if another group is inside the object that contains this one."""
        return self.holder is not None and self.holder.start <= other.span.start < self.holder.end

    def is_choice_of(self, other: Group) -> bool:
        """Return True if two groups are answers to the same request."""
        return self.holder is not None and self.holder is other.holder and (self.is_choice or other.is_choice)

    def as_list(self, region: Span, inside: Pointer) -> FoundList:
        """Return the group as a list to read, with an empty sample."""
        first = self.places[0]
        if self.is_tree:
            steps = len(first.pointer) - self.depth - 1
            first, inside = replace(first, pointer=first.pointer[:-steps]), inside[:-steps]
        elif len(self.places) == 1 and first.string is None and not first.is_text:
            return FoundList(first.pointer, "", region, first.start, first.end, inside, single=first.single, unread=self.unread)
        order = sorted(self.places, key=lambda place: place.spelled.start)
        name = first.keys[-1] if first.keys and not self.is_tree else ""
        lists = tuple(ListSpan(place.start, place.end, order.index(place), place.single, place.string) for place in self.places)
        pointer = self.places[-1].pointer if self.is_choice else first.pointer
        span = self.span
        found = FoundList(pointer, "", region, span.start, span.end, inside, lists=lists, key=name, left_out=self.left_out)
        return replace(found, unread=self.unread)


def trees(source: Source, places: Sequence[Place], kinds: Sequence[Tree]) -> tuple[list[Group], list[Place]]:
    """Return the chains whose messages are nodes of a tree, and the places outside any tree. Nodes of other branches are carried."""
    nodes: dict[int, tuple[Tree, Frame, int, dict[str, Place]]] = {}
    left: list[Place] = []
    for place in places:
        kind = next((kind for kind in kinds if place.single and _is_node(place.keys, kind)), None)
        if kind is None:
            left.append(place)
            continue
        node = -2 if kind.member else -1
        holder = place.steps[node - len(kind.keys)]
        own = nodes.setdefault(id(holder.holder), (kind, holder.holder, holder.depth, {}))
        own[3][place.steps[node].key] = place
    copies = {(id(frame), kind.copy) for kind, frame, _, _ in nodes.values()}
    left = [place for place in left if not place.steps or (id(place.steps[-1].holder), place.keys[-1]) not in copies]
    groups = []
    for kind, frame, depth, members in nodes.values():
        value = _value(source, frame)
        ids = kind.path(value)
        path = [members[id] for id in ids if id in members] or list(members.values())
        unread = _unread_nodes(kind, value, [id for id in ids if id not in members]) or _lost_beginning(kind, value, ids)
        groups.append(Group(tuple(path), frame, depth, is_tree=True, unread=unread))
    return groups, left


def _nodes(kind: Tree, value: Any) -> dict[str, Any]:
    for key in kind.keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _lost_beginning(kind: Tree, value: Any, ids: Sequence[str]) -> tuple[Unread, ...]:
    """Return a note that the beginning of the chain is missing, if its first node follows an absent node or does not name one."""
    nodes = _nodes(kind, value)
    first = nodes.get(ids[0]) if ids else None
    is_lost = isinstance(first, dict) and len(nodes) > 1 and (first.get(kind.parent) or kind.parent not in first)
    return (Unread("record", "", 1),) if is_lost else ()


def _unread_nodes(kind: Tree, value: Any, ids: Sequence[str]) -> tuple[Unread, ...]:
    """Return the nodes of the chain with content that is no message of a known format."""
    nodes = [_nodes(kind, value).get(id) for id in ids]
    held = [node.values() if kind.member else (node,) for node in nodes if isinstance(node, dict)]
    count = sum(any(isinstance(each, dict) and each for each in values) for values in held)
    return (Unread("record", "", count),) if count else ()


def _is_node(keys: Keys, kind: Tree) -> bool:
    """Return True if the keys lead to a node of a tree, or to the message in a node."""
    node = keys[:-1] if kind.member else keys
    return node[-1 - len(kind.keys) : -1] == kind.keys and (not kind.member or keys[-1] == kind.member)


def _value(source: Source, frame: Frame) -> dict[str, Any]:
    try:
        value = json.loads(source.text(frame.start, frame.end), strict=False)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def grouped(source: Source, places: Sequence[Place], sequences: Sequence[tuple[Keys, ...]]) -> list[Group]:
    """Group places into chains, in file order. If two sequences claim a place, the one with more members gets it."""
    claims: dict[tuple[int, int], dict[int, _Claim]] = {}
    for place in places:
        path = place.keys
        for number, sequence in enumerate(sequences):
            for member, keys in enumerate(sequence):
                if path[-len(keys) :] == keys:
                    step = place.steps[-len(keys)]
                    claims.setdefault((number, id(step.holder)), {}).setdefault(member, _Claim(place, step))
    groups: list[Group] = []
    taken: set[int] = set()
    unanswered: dict[int, tuple[Unread, ...]] = {}
    read = {(id(step.holder), step.key) for place in places for step in place.steps}
    for (number, holder), members in sorted(claims.items(), key=lambda claim: len(claim[1]), reverse=True):
        free = [claim for _, claim in sorted(members.items()) if id(claim.place) not in taken]
        if not free:
            continue
        first, answer = free[0], sequences[number][-1][0]
        unread = () if (holder, answer) in read else _unread_answer(source, first.step.holder, answer)
        if len(free) > 1 or first.place.string is not None:
            groups.append(Group(tuple(claim.place for claim in free), first.step.holder, first.step.depth, unread=unread))
            taken.update(id(claim.place) for claim in free)
        else:
            unanswered[id(first.place)] = unread
    groups += [Group((place,), unread=unanswered.get(id(place), ())) for place in places if id(place) not in taken]
    return sorted(groups, key=lambda group: group.span.start)


def _unread_answer(source: Source, holder: Frame, key: str) -> tuple[Unread, ...]:
    """Return the member that should hold the answer to a list of messages, if it holds something that is no message."""
    value = _value(source, holder).get(key) if holder.end - holder.start < LONGEST else None
    return (Unread("list", key, 1),) if isinstance(value, dict | list | str) and value else ()


def with_choices(groups: Sequence[Group]) -> list[Group]:
    """Return the groups, with a chain for each of several answers to one request (`n` > 1), preceded by the request."""
    answers: dict[tuple[Keys, int], list[Group]] = {}
    for group in groups:
        last = group.places[-1]
        if last.single and len(last.steps) > 1:
            answers.setdefault((last.keys, id(last.steps[-2].holder)), []).append(group)
    several = {id(each): own for own in answers.values() if len(own) > 1 for each in own}
    if not several:
        return list(groups)
    found = []
    for group in groups:
        first = group.places[0]
        siblings = several.get(id(group), [])
        request = next((each for each in siblings if len(each.places) > 1 and each.holds(group)), None)
        if request is not None and group is not request:
            found.append(replace(request, places=(*request.places[:-1], *group.places), is_choice=True))
            continue
        beside = [] if first.single or not first.steps else _answers_beside(first.steps[-1].holder, answers)
        if len(group.places) == 1 and beside:
            step = first.steps[-1]
            made = (Group((first, *each.places), step.holder, step.depth, is_choice=True) for each in beside)
            found += made
        else:
            found.append(group)
    return found


def _answers_beside(holder: Frame, answers: dict[tuple[Keys, int], list[Group]]) -> list[Group]:
    """Return the answers of an object that has several single messages in one list beside its message list."""
    return next((own for (_, frame), own in answers.items() if frame == id(holder) and len(own) > 1), [])


def _is_answer(group: Group) -> bool:
    """Return True for a single message that a model may have given, but not for the expected answer of a data set."""
    place = group.places[0]
    return len(group.places) == 1 and place.single and not group.is_tree and not any(step.key in WANTED for step in place.steps)


WANTED = frozenset(("expected", "expected_output", "reference", "ideal", "target", "gold", "ground_truth"))
"""Names of the member with the expected answer in data sets, which belongs to no chain."""


def with_answers(groups: Sequence[Group]) -> list[Group]:
    """Return the groups, with each single answer appended to the nearest list of its object, whatever their names."""
    lists: dict[int, list[tuple[Group, Step]]] = defaultdict(list)
    for group in groups:
        if len(group.places) == 1 and not group.places[0].single:
            for step in group.places[0].steps:
                lists[id(step.holder)].append((group, step))
    answers: dict[int, list[Group]] = defaultdict(list)
    holders: dict[int, Step] = {}
    for answer in groups:
        frames = (id(step.holder) for step in reversed(answer.places[0].steps)) if _is_answer(answer) else ()
        near = next((lists[frame] for frame in frames if frame in lists), [])
        if len(near) == 1:
            answers[id(near[0][0])].append(answer)
            holders[id(near[0][0])] = near[0][1]
    only = {place: found[0] for place, found in answers.items() if len(found) == 1}
    gone = set(map(id, only.values()))
    return [
        Group((*group.places, *only[id(group)].places), holders[id(group)].holder, holders[id(group)].depth) if id(group) in only else group
        for group in groups
        if id(group) not in gone
    ]


@dataclass(frozen=True, slots=True)
class _Claim:
    """A place that is a member of a sequence, and the step to it from the holder of the sequence."""

    place: Place
    step: Step


# Logs contain an answer twice: where it was logged, and in the list of the next request. It counts once, in the list. Other answers to
# the same request follow the messages before it.


LONGEST = 1 << 20
"""The longest answer, in bytes, that is compared."""
SPARE = 1 << 12
"""The other spelling of a message may have this many bytes more than twice its length."""
MOST_TRIED = 1000
_SAME = ("role", "content", "tool_calls", "function_call", "parts")


def without_repeated(source: Source, groups: Sequence[Group]) -> list[Group]:
    starts = [_repeated_at(source, group) for group in groups]
    of_request = {id(group.places[0]): start for group, start in zip(groups, starts, strict=True) if start is not None}
    return [
        group if id(group.places[0]) not in of_request
        else replace(group, left_out=frozenset((of_request[id(group.places[0])],))) if start is None
        else replace(group, places=group.places[:-1], is_choice=False)
        for group, start in zip(groups, starts, strict=True)
    ]  # fmt: skip


def _repeated_at(source: Source, group: Group) -> int | None:
    """Return the position of the last message of the request if it repeats the group's answer, else None."""
    first, last = group.places[0], group.places[-1]
    is_answered = last.single and not (first.single or first.string or last.string)
    if not is_answered or last.end - last.start > LONGEST:
        return None
    answer = _spoken(decode(source.text(last.start, last.end)))
    found = _last_message(source, first, 2 * (last.end - last.start) + SPARE) if answer else None
    return found[1] if found and _spoken(found[0]) == answer else None


def _last_message(source: Source, place: Place, room: int) -> tuple[dict[str, Any], int] | None:
    """Return the last element of a list and its offset; None if it is longer than `room` bytes."""
    start = max(place.start, place.end - room)
    text = source.text(start, place.end)
    end = len(text.rstrip())
    for at in islice((at for at, mark in enumerate(text) if mark == "{"), MOST_TRIED):
        try:
            value, stop = json.JSONDecoder(strict=False).raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if stop == end:
            return value, start + byte_length(text[:at])
    return None


def _spoken(value: Any) -> dict[str, Any] | None:
    """Return the members that make two messages the same; None for an empty message."""
    told = {key: value[key] for key in _SAME if value.get(key)} if isinstance(value, dict) else {}
    return told if len(told) > 1 else None


# A log of requests repeats a growing chain in every request. Chains are compared by a key for each of their beginnings, so that no
# chain is in memory as a whole.


Beginnings = Sequence[int]
"""A key for the first message, for the first two messages, and so on. Equal keys mean equal messages up to that point."""


def beginnings(messages: Iterable[Hashable]) -> Iterator[int]:
    key = 0
    for message in messages:
        key = hash((key, message))
        yield key


def final_states(chains: Sequence[Beginnings]) -> list[int]:
    """Return, for each chain, the index of the longest chain that begins with it, which may be itself; the first, if several are equal. A
    chain without messages maps to itself."""
    longest: dict[int, int] = {}
    for place, keys in enumerate(chains):
        for key in keys:
            if key not in longest or len(chains[longest[key]]) < len(keys):
                longest[key] = place
    return [longest[keys[-1]] if keys else place for place, keys in enumerate(chains)]


def earlier_states(finals: Sequence[int], lengths: Sequence[int | None]) -> list[tuple[int, ...]]:
    """Return, for each chain, the indexes of its earlier states, shortest first; only the first of several with equal length. `lengths` are
    numbers of messages, None for a chain that cannot be read."""
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for place, (final, length) in enumerate(zip(finals, lengths, strict=True)):
        if length is not None and length != lengths[final]:
            found[final].setdefault(length, place)
    return [tuple(found[place][length] for length in sorted(found[place])) for place in range(len(finals))]
