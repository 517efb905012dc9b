"""Parts that know where in their unit each of their values lies, so that a change is written into exactly those leaves.

A format locates its parts; reading again, patching, adding and removing parts then need no code of its own. Elements of a
list that no part was read from stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

from chainviz.core.chain.messages import Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import Speller, is_json, matched
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.units import Pointer

Spell = Callable[[Any, str, Speller], str | None]
"""Returns the new JSON text from the new value, the present JSON text ("" for none) and the unit's speller, or None if
the element cannot contain the value."""


def as_string(value: Any, raw: str, speller: Speller) -> str:
    return speller.quote(value)


def as_json(value: Any, raw: str, speller: Speller) -> str:
    """Return arguments for a format that requires an object. A text that is not an object is put into one."""
    if is_json(value):
        return str(value)
    return speller.object({"_raw": speller.quote(value)}) if value.strip() else "{}"


def as_either(value: Any, raw: str, speller: Speller) -> str:
    """Return a string if the leaf is a string, else the JSON value that the text represents, if it is JSON."""
    return speller.quote(value) if raw.startswith('"') or not is_json(value) else str(value)


def as_flag(value: Any, raw: str, speller: Speller) -> str:
    return "true" if value else "false"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value of the unit that a field of the part was read from, or that repeats it."""

    field: str
    at: Pointer
    spell: Spell = as_string


@dataclass(frozen=True, slots=True)
class Located:
    part: Part
    place: Pointer
    """The element or member that is removed with the part."""
    leaves: tuple[Leaf, ...] = ()
    copies: tuple[Pointer, ...] = ()
    """Elements of other lists that repeat the part and are removed with it."""


@dataclass(frozen=True, slots=True)
class Host:
    """The unit that a new part joins."""

    value: Any
    role: Role


class Elements(Protocol):
    """The functions with which a format writes new parts."""

    def home(self, part: Part, host: Host) -> Pointer:
        """Return the list of the unit that a new part is added to."""

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        """Return the part as JSON elements; empty if it has no place."""


@dataclass(frozen=True, slots=True)
class Writer:
    """The functions and values that are needed to write into the units of a format."""

    format: Elements
    role: Role
    speller: Speller

    def home(self, part: Part, text: str) -> Pointer:
        return self.format.home(part, Host(json_edit.parse(text), self.role))

    def elements(self, part: Part, text: str) -> list[str]:
        return self.format.elements(part, Host(json_edit.parse(text), self.role), self.speller)


def numbered(located: Sequence[Located], first: int = 0) -> list[Located]:
    """Return the located parts with origins counted from `first`."""
    return [replace(each, part=replace(each.part, origin=first + place)) for place, each in enumerate(located)]


def patched(text: str, old: Sequence[Located], new: Sequence[Part], writer: Writer) -> str:
    """Return the unit's text with `new` as its parts; `old` are its current parts."""
    old = numbered(old)
    if len(old) == 1 and not old[0].place and isinstance(old[0].part, ToolResult):
        new = [replace(one_result(new, old[0].part), origin=0)]
    new = [each for part in new for each in spread(part)]
    claims = matched([each.part for each in old], new)
    for part, claim in zip(new, claims, strict=True):
        if claim is not None and part != old[claim].part:
            text = _changed(text, old[claim], part, writer)
    if claims == list(range(len(old))):
        return text
    return _rearranged(text, old, list(zip(new, claims, strict=True)), writer)


def set_at(text: str, at: Pointer, new: str) -> str:
    """Return `text` with another value at `at`. Missing members on the way are added."""
    if json_edit.raw_at(text, at) is not None:
        return json_edit.replace_at(text, at, new)
    raw = json_edit.raw_at(text, at[:-1])
    holder = json_edit.load_object(raw if raw is not None and raw.startswith("{") else "{}")
    holder.set(str(at[-1]), new)
    return set_at(text, at[:-1], str(holder))


def without(text: str, at: Pointer) -> str:
    """Return `text` without the member at `at`."""
    raw = json_edit.raw_at(text, at[:-1])
    if raw is None:
        return text
    holder = json_edit.load_object(raw)
    holder.remove(str(at[-1]))
    return json_edit.replace_at(text, at[:-1], str(holder))


def one_result(parts: Sequence[Part], old: Part | None = None) -> ToolResult:
    """Return the first result with the text of all parts, for a unit that is one result."""
    results = [part for part in parts if isinstance(part, ToolResult)]
    texts = [part.content for part in results] + [part.text for part in parts if isinstance(part, Text)]
    first = results[0] if results else old if isinstance(old, ToolResult) else ToolResult("", "", "")
    media = tuple(item for part in results for item in part.media)
    return replace(first, content="\n".join(texts), media=media)


def spread(part: Part) -> list[Part]:
    """Return the part after its attached reasoning, which becomes a part of its own."""
    if not isinstance(part, Text | ToolCall) or part.reasoning is None:
        return [part]
    if part.reasoning.is_empty:
        return [replace(part, reasoning=None)]
    thinking = Thinking(part.reasoning.content, part.reasoning.signature)
    rest = [] if isinstance(part, Text) and not part.text else [replace(part, reasoning=None)]
    return [thinking, *rest]


def _changed(text: str, old: Located, new: Part, writer: Writer) -> str:
    different = [
        field.name for field in fields(new)
        if field.compare and getattr(new, field.name) != getattr(old.part, field.name)
    ]  # fmt: skip
    written = _with_leaves(text, old, new, different, writer.speller)
    if written is not None or not _is_element(old.place):
        return text if written is None else written
    made = writer.elements(new, text)
    return json_edit.replace_at(text, old.place, made[-1]) if made else text


def _with_leaves(text: str, old: Located, new: Part, different: Sequence[str], speller: Speller) -> str | None:
    """Write the changed fields into their leaves. Return None if a field has no leaf, or one that cannot have the value."""
    if not {leaf.field for leaf in old.leaves}.issuperset(different):
        return None
    for leaf in old.leaves:
        if leaf.field in different:
            made = leaf.spell(getattr(new, leaf.field), json_edit.raw_at(text, leaf.at) or "", speller)
            if made is None:
                return None
            text = set_at(text, leaf.at, made)
    return text


def _is_element(place: Pointer) -> bool:
    return bool(place) and isinstance(place[-1], int)


def _slot(place: Pointer) -> tuple[Pointer, int]:
    """Return the list that contains the place, and the index in it. A member is the only one of its kind."""
    last = place[-1] if place else 0
    return (place[:-1], last) if isinstance(last, int) else (place, 0)


def _rearranged(text: str, old: Sequence[Located], row: Sequence[tuple[Part, int | None]], writer: Writer) -> str:
    """Rebuild each list that contains some of the parts, after parts were added, removed or moved."""
    held: dict[Pointer, set[int]] = {}
    for each in old:
        for at, index in map(_slot, (each.place, *each.copies)):
            held.setdefault(at, set()).add(index)
    rows: dict[Pointer, list[int | Part]] = {at: [] for at in held}
    for part, claim in row:
        if claim is None:
            rows.setdefault(writer.home(part, text), []).append(part)
            continue
        for at, index in map(_slot, (old[claim].place, *old[claim].copies)):
            rows[at].append(index)
    for at, items in rows.items():
        raw = json_edit.raw_at(text, at)
        if raw is not None and raw.startswith("["):
            made = [item if isinstance(item, int) else writer.elements(item, text) for item in items]
            text = json_edit.replace_at(text, at, _list(raw, made, held.get(at, set())))
        elif items != [0]:
            text = _member(text, at, items, writer)
    return text


def _list(raw: str, items: Sequence[int | list[str]], held: set[int]) -> str:
    """Return the list with these elements. Elements that are not parts stay before the element that followed them."""
    array = json_edit.load_array(raw)
    foreign = [index for index in range(len(array)) if index not in held]
    row: list[int | str] = []
    for item in items:
        if isinstance(item, int):
            row += [index for index in foreign if index < item]
            foreign = [index for index in foreign if index > item]
            row.append(item)
        else:
            row += item
    array.rebuild([*row, *foreign])
    return str(array)


def _member(text: str, at: Pointer, items: Sequence[int | Part], writer: Writer) -> str:
    """A string, or nothing, where others have a list: it stays one for a single text and becomes a list for more. If the
    format has no elements for them, their texts are joined."""
    raw = json_edit.raw_at(text, at)
    if not items:
        return set_at(text, at, '""') if at == writer.home(Text(""), text) else without(text, at)
    only = items[0]
    if len(items) == 1 and isinstance(only, Text):
        return set_at(text, at, writer.speller.quote(only.text))
    thoughts = [item.content for item in items if isinstance(item, Thinking)]
    if len(thoughts) == len(items):
        return set_at(text, at, writer.speller.quote("\n\n".join(thoughts)))
    before = json_edit.parse(raw) if raw else None
    parts = [Text(before if isinstance(before, str) else "") if isinstance(item, int) else item for item in items]
    made = [element for part in parts for element in writer.elements(part, text)]
    if not made:
        return set_at(text, at, writer.speller.quote("\n".join(part.text for part in parts if isinstance(part, Text))))
    return set_at(text, at, writer.speller.list(made))
