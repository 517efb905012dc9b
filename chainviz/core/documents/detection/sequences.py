"""Which message lists of a document make up one chain, and which bytes are that chain's own document.

A format names the members that belong together (`Format.sequences`): a request's messages and the answer, or the
three attributes of an OpenTelemetry span.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from chainviz.core.chain.unread import Unread
from chainviz.core.documents.detection.find_lists import Frame, Place, Step
from chainviz.core.documents.detection.recognition import Keys
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, ListSpan, Pointer, Span, Tree


@dataclass(frozen=True, slots=True)
class Group:
    """The places of one chain, in chain order."""

    places: tuple[Place, ...]
    holder: Frame | None = None
    """The object whose members they are; None for one place that belongs to no sequence."""
    depth: int = 0
    """How many steps of the pointers lead to the holder."""
    is_tree: bool = False
    """They are nodes of a tree, which the chain is named after."""
    is_choice: bool = False
    """The last one is one of several answers, which the chain is named after."""
    left_out: frozenset[int] = frozenset()
    """Where messages begin that are of another answer."""
    unread: tuple[Unread, ...] = ()
    """Nodes of a tree that are not read."""

    @property
    def span(self) -> Span:
        spans = [place.spelled for place in self.places]
        return Span(min(span.start for span in spans), max(span.end for span in spans))

    def is_choice_of(self, other: Group) -> bool:
        """Whether it is another answer to the same request."""
        return self.holder is not None and self.holder is other.holder and (self.is_choice or other.is_choice)

    def found(self, region: Span, inside: Pointer) -> FoundList:
        """As a list to be read, its sample still empty."""
        first = self.places[0]
        if self.is_tree:
            steps = len(first.pointer) - self.depth - 1
            first, inside = replace(first, pointer=first.pointer[:-steps]), inside[:-steps]
        elif len(self.places) == 1 and first.string is None and not first.is_text:
            return FoundList(first.pointer, "", region, first.start, first.end, inside, single=first.single)
        order = sorted(self.places, key=lambda place: place.spelled.start)
        name = first.keys[-1] if first.keys and not self.is_tree else ""
        lists = tuple(
            ListSpan(place.start, place.end, order.index(place), place.single, place.string) for place in self.places
        )
        pointer = self.places[-1].pointer if self.is_choice else first.pointer
        span = self.span
        found = FoundList(pointer, "", region, span.start, span.end, inside, lists=lists, key=name, left_out=self.left_out)
        return replace(found, unread=self.unread)


def trees(source: Source, places: Sequence[Place], kinds: Sequence[Tree]) -> tuple[list[Group], list[Place]]:
    """The chains whose messages are nodes of a tree, and the places that belong to none. Nodes of other branches stay where
    they are."""
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
        unread = _unread_nodes(kind, value, [id for id in ids if id not in members])
        groups.append(Group(tuple(path), frame, depth, is_tree=True, unread=unread))
    return groups, left


def _unread_nodes(kind: Tree, value: Any, ids: Sequence[str]) -> tuple[Unread, ...]:
    """The nodes of the chain that hold something, and no message that a format knows."""
    for key in kind.keys:
        value = value.get(key) if isinstance(value, dict) else None
    nodes = [value.get(id) for id in ids] if isinstance(value, dict) else []
    held = [node.values() if kind.member else (node,) for node in nodes if isinstance(node, dict)]
    count = sum(any(isinstance(each, dict) and each for each in values) for values in held)
    return (Unread("record", "", count),) if count else ()


def _is_node(keys: Keys, kind: Tree) -> bool:
    """Whether the keys lead to a node of a tree, or to the member of a node that is a message."""
    node = keys[:-1] if kind.member else keys
    return node[-1 - len(kind.keys) : -1] == kind.keys and (not kind.member or keys[-1] == kind.member)


def _value(source: Source, frame: Frame) -> dict[str, Any]:
    try:
        value = json.loads(source.text(frame.start, frame.end), strict=False)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def grouped(places: Sequence[Place], sequences: Sequence[tuple[Keys, ...]]) -> list[Group]:
    """The places as chains, in file order. Of two sequences that claim a place the one with more members has it."""
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
    for members in sorted(claims.values(), key=len, reverse=True):
        free = [claim for _, claim in sorted(members.items()) if id(claim.place) not in taken]
        if len(free) > 1 or (free and free[0].place.string is not None):
            groups.append(Group(tuple(claim.place for claim in free), free[0].step.holder, free[0].step.depth))
            taken.update(id(claim.place) for claim in free)
    groups += [Group((place,)) for place in places if id(place) not in taken]
    return sorted(groups, key=lambda group: group.span.start)


def with_choices(groups: Sequence[Group]) -> list[Group]:
    """The groups where each of several answers to one request (`n` > 1) is a chain with the request before it."""
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
        request = next((each for each in siblings if len(each.places) > 1), None)
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
    """Several single messages in one list of the object that holds a list."""
    return next((own for (_, frame), own in answers.items() if frame == id(holder) and len(own) > 1), [])


@dataclass(frozen=True, slots=True)
class _Claim:
    """A place as a member of a sequence, and the step of the sequence's holder."""

    place: Place
    step: Step
