"""Messages that own several units, each of which is one part or a few of it: writing changed parts into their units.

Kept parts stay in their units. A new part joins the unit before it where that takes it, else it gets a unit of its own.
Parts that swap their order take their units with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from chainviz.core.chain.messages import NEW, TOOL, Fragment, Message, Part, Text, ToolResult
from chainviz.core.dialects.patching import matched

Claimed = tuple[Part, int | None]
"""A part and the place of the old part it was, None for a new one."""


@dataclass(frozen=True, slots=True)
class UnitWriter:
    """How one format writes a unit of a message."""

    patched: Callable[[str, Sequence[Part], Sequence[Claimed]], str | None]
    """The unit's text with its parts changed; None where they cannot be written into it."""
    new: Callable[[Sequence[Part]], list[str]]
    """The texts of new units."""
    takes: Callable[[str, Part], bool]
    """Whether a new part may join the unit."""


@dataclass(slots=True)
class _Group:
    unit: int | None
    """Index of the fragment; None: a unit that does not exist yet."""
    parts: list[Claimed]


def patched_units(
    source: Sequence[Fragment], owned: Sequence[Sequence[Part]], parts: Sequence[Part], writer: UnitWriter
) -> tuple[Fragment, ...]:
    """The fragments of a message whose parts are now `parts`; `owned` are the old parts of each fragment."""
    result: list[Fragment] = []
    placed: set[int] = set()
    highest = NEW
    for group in _groups(source, owned, parts, writer):
        unit = group.unit if group.unit not in placed else None
        if unit is None:
            result += [Fragment(NEW, "", text) for text in writer.new([part for part, _ in group.parts])]
            continue
        placed.add(unit)
        # a unit without parts keeps its place before the next one
        for at in (*[at for at in range(unit) if not owned[at] and at not in placed], unit):
            fragment = source[at] if at != unit else _patched(source[at], owned[at], group.parts, writer)
            placed.add(at)
            stays = fragment.ordinal > highest
            highest = max(highest, fragment.ordinal)
            result.append(fragment if stays else Fragment(NEW, "", fragment.text))
    return tuple(result) + tuple(source[at] for at in range(len(source)) if not owned[at] and at not in placed)


def _groups(
    source: Sequence[Fragment], owned: Sequence[Sequence[Part]], parts: Sequence[Part], writer: UnitWriter
) -> list[_Group]:
    """The parts in runs that share a unit."""
    homes = [(unit, place) for unit, held in enumerate(owned) for place in range(len(held))]
    groups: list[_Group] = []
    for part, claim in zip(parts, matched([part for held in owned for part in held], parts), strict=True):
        last = groups[-1] if groups else None
        if claim is not None:
            unit, place = homes[claim]
            if last is None or last.unit != unit:
                groups.append(_Group(unit, []))
            groups[-1].parts.append((part, place))
        elif last is not None and (last.unit is None or writer.takes(source[last.unit].text, part)):
            last.parts.append((part, None))
        else:
            groups.append(_Group(None, [(part, None)]))
    return groups


def _patched(fragment: Fragment, old: Sequence[Part], new: Sequence[Claimed], writer: UnitWriter) -> Fragment:
    if list(new) == [(part, place) for place, part in enumerate(old)]:
        return fragment
    text = writer.patched(fragment.text, old, new)
    if text is None:
        text = writer.new([part for part, _ in new])[0]
    return fragment if text == fragment.text else Fragment(fragment.ordinal, fragment.lead, text)


def one_result_each(message: Message) -> tuple[Part, ...]:
    """Of a tool message only results have items: its other texts join the first."""
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    if message.role != TOOL or not texts:
        return message.parts
    first = results[0] if results else ToolResult("", "", "")
    content = "\n".join(filter(None, [first.content, *texts]))
    return (replace(first, content=content), *results[1:])
