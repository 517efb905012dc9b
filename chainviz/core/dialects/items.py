"""Units of APIs that send items (a text, a call, a result, a thought) in place of messages: read and written.

The model's items that follow one another are one message. Parts that stay keep their units; a new part joins the unit before it
where that takes it, else it gets one of its own; parts that swap their order take their units with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from chainviz.core.chain.messages import AI, NEW, TOOL, Fragment, Message, Part, Role, Text, ToolResult
from chainviz.core.dialects.values import Speller, matched
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import parse, value_of
from chainviz.core.documents.units import Pointer, Unit

Claimed = tuple[Part, int | None]
"""A part, and the index of the old part that it comes from; None for a new one."""


@dataclass(frozen=True, slots=True)
class UnitWriter:
    """The functions with which a format writes a unit of a message."""

    patched: Callable[[str, Sequence[Part], Sequence[Claimed]], str | None]
    """Returns the unit's text with its parts changed, or None if they cannot be written into it."""
    new: Callable[[Sequence[Part]], list[str]]
    """Returns the texts of new units."""
    takes: Callable[[str, Part], bool]
    """Returns True if a new part may be added to the unit."""


@dataclass(slots=True)
class _Group:
    unit: int | None
    """The index of the fragment, or None for a unit that does not exist yet."""
    parts: list[Claimed]


def patched_units(
    source: Sequence[Fragment], owned: Sequence[Sequence[Part]], parts: Sequence[Part], writer: UnitWriter
) -> tuple[Fragment, ...]:
    """Return the fragments of a message whose parts are now `parts`. `owned` contains the old parts of each fragment."""
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


def _groups(source: Sequence[Fragment], owned: Sequence[Sequence[Part]], parts: Sequence[Part], writer: UnitWriter) -> list[_Group]:
    """Group the parts that share a unit."""
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
    """Join the other texts of a tool message to its first result, because only results have items."""
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    if message.role != TOOL or not texts:
        return message.parts
    first = results[0] if results else ToolResult("", "", "")
    content = "\n".join(filter(None, [first.content, *texts]))
    return (replace(first, content=content), *results[1:])


class RoleOf(Protocol):
    def __call__(self, item: dict[str, Any], *, is_first: bool = False) -> Role:
        """Return the role of the message that an item belongs to, or "" if it belongs to none."""


@dataclass(frozen=True, slots=True)
class ItemDialect:
    """The items of one API."""

    kind_of: Callable[[Any], str]
    """Returns the type of an item; "" if the value is not an item."""
    role_of: RoleOf
    read: Callable[[dict[str, Any], str, Pointer, int], list[Part]]
    """Returns the parts of the item at a place of a text. The last argument is the origin of the first part."""
    new: Callable[[Role, Sequence[Part], str, str, Speller], list[str]]
    """Returns new items from the role, the parts, the old spelling of the role, and a text item to copy the shape of."""
    patched: Callable[[str, Sequence[Part], Sequence[Claimed], Role, Speller], str | None]
    """Returns an item with its parts changed, or None if it must be rewritten."""
    takes: Callable[[str, Part], bool]
    """Returns True if a new part may be added to an item."""
    texts: frozenset[str]
    """Types of the items that contain texts."""
    thoughts: frozenset[str]
    is_call: Callable[[dict[str, Any]], bool]
    """Returns True if the caller answers the item."""
    label: Callable[[dict[str, Any], Role], str] = lambda item, role: ""
    note: Callable[[dict[str, Any]], str] = lambda item: ""
    word: Callable[[Role], str] | None = None
    """Returns the spelling of a role in the member `role` of a text item; None if its type implies the role."""


class ItemUnits:
    """Items that lie at one place of their units: () for a list of items."""

    def __init__(self, dialect: ItemDialect, at: Pointer = (), model: str = "") -> None:
        """`model` is a text item whose shape new ones take where no neighbour shows one."""
        self.dialect = dialect
        self.at = at
        self.model = model

    def item(self, value: Any) -> Any:
        for step in self.at:
            value = value.get(step) if type(value) is dict else None
        return value

    def role(self, value: Any, *, is_first: bool = False) -> Role:
        """Return the role of the message that a unit belongs to, or "" if it belongs to none."""
        item = self.item(value)
        return self.dialect.role_of(item, is_first=is_first) if self.dialect.kind_of(item) else ""

    def read(self, units: Iterable[Unit], *, is_first: bool = True) -> Iterator[Message | Unit]:
        """Yield the messages of the units; a unit whose item is no message comes back."""
        turn = _Turn(self.dialect)
        for unit in units:
            role = self.role(unit.value, is_first=is_first)
            if not role:
                yield unit
                continue
            is_first = False
            if role == AI:
                item = self.item(unit.value)
                yield from self._messages(turn.before(item))
                turn.add(unit, item)
                continue
            yield from self._messages(turn.closed())
            yield self.message(role, (unit.fragment(),))
        yield from self._messages(turn.closed())

    def _messages(self, units: Sequence[Unit]) -> Iterator[Message]:
        if units:
            yield self.message(AI, tuple(unit.fragment() for unit in units))

    def message(self, role: Role, source: Sequence[Fragment]) -> Message:
        """The role given counts only where the item does not say its own."""
        items = [self.item(value_of(fragment)) for fragment in source]
        first = items[0]
        role = self.dialect.role_of(first, is_first=role not in ("", AI)) or role
        parts = tuple(part for held in self.owned(source) for part in held)
        label, note = self.dialect.label(first, role), self.dialect.note(items[-1])
        return Message(role, parts, source=tuple(source), label=label, note=note)

    def owned(self, source: Sequence[Fragment]) -> list[list[Part]]:
        """Return the parts of each fragment; origins count through."""
        found: list[list[Part]] = []
        first = 0
        for fragment in source:
            parts = self.parts_of(fragment.text, first)
            first += len(parts)
            found.append(parts)
        return found

    def parts_of(self, text: str, first: int) -> list[Part]:
        """Return the parts of one unit; origins count from `first`."""
        return self.dialect.read(self.item(parse(text)), text, self.at, first)

    def patched_unit(self, text: str, old: Sequence[Part], new: Sequence[Claimed], role: Role, *, ascii_only: bool) -> str | None:
        """Return the unit with its parts changed, or None if it must be rewritten."""
        raw = json_edit.raw_at(text, self.at) or "{}"
        changed = self.dialect.patched(raw, old, new, role, Speller(raw, ascii_only))
        return None if changed is None else json_edit.replace_at(text, self.at, changed)

    def patched(self, message: Message, wrap: Callable[[str], str], *, ascii_only: bool) -> tuple[Fragment, ...]:
        """Return the message's fragments with its changes. `wrap` puts a new item into a unit."""
        source = message.source
        role = self.message(message.role, source).role
        first = json_edit.raw_at(source[0].text, self.at) or "{}"
        near = first if self.dialect.kind_of(parse(first)) in self.dialect.texts else self.model
        speller = Speller(first, ascii_only)
        if message.role != role:
            return self._with_role(message, wrap, speller)

        def patch(text: str, old: Sequence[Part], new: Sequence[Claimed]) -> str | None:
            return self.patched_unit(text, old, new, role, ascii_only=ascii_only)

        def new_items(parts: Sequence[Part]) -> list[str]:
            return [wrap(item) for item in self.dialect.new(role, parts, message.label, near, speller)]

        def joins(text: str, part: Part) -> bool:
            return self.dialect.takes(json_edit.raw_at(text, self.at) or "{}", part)

        parts = one_result_each(message)
        fragments = patched_units(source, self.owned(source), parts, UnitWriter(patch, new_items, joins))
        return fragments or (Fragment(source[0].ordinal, source[0].lead, self._emptied(source[0], new_items)),)

    def _emptied(self, fragment: Fragment, new_items: Callable[[Sequence[Part]], list[str]]) -> str:
        """Return the unit of a message without parts: an empty message, or an empty result."""
        old = self.owned((fragment,))[0]
        return new_items([replace(part, content="", media=()) for part in old if isinstance(part, ToolResult)])[0]

    def _with_role(self, message: Message, wrap: Callable[[str], str], speller: Speller) -> tuple[Fragment, ...]:
        """Another role: a message item changes its word, anything else is rewritten in the first unit's place."""
        first = message.source[0]
        item = self.item(value_of(first))
        is_text = self.dialect.kind_of(item) in self.dialect.texts
        may_change = is_text and len(message.source) == len(message.parts) == 1 and message.role != TOOL
        if self.dialect.word and may_change and isinstance(item.get("content"), str):
            word = speller.quote(self.dialect.word(message.role))
            text = json_edit.replace_at(first.text, (*self.at, "role"), word)
            return self.patched(Message(message.role, message.parts, source=(Fragment(first.ordinal, first.lead, text),)), wrap,
                                ascii_only=speller.ascii_only)  # fmt: skip
        near = json_edit.raw_at(first.text, self.at) or ""
        near = near if is_text else self.model
        items = self.dialect.new(message.role, one_result_each(message), "", near, speller)
        return tuple(
            Fragment(first.ordinal if not place else -1, first.lead if not place else "", wrap(item)) for place, item in enumerate(items)
        )


class _Turn:
    """The model's items that follow one another.

    A text without an id after another one is a message of its own, unless a call waits before it; reasoning goes with
    what follows it.
    """

    def __init__(self, dialect: ItemDialect) -> None:
        self._dialect = dialect
        self._units: list[Unit] = []
        self._reasoning = 0
        """The number of items at the end that are reasoning."""
        self._has_text = self._has_calls = False

    def before(self, item: dict[str, Any]) -> Sequence[Unit]:
        """Return the units of a message that ends before `item`."""
        if self._dialect.kind_of(item) not in self._dialect.texts or "id" in item or not self._has_text or self._has_calls:
            return ()
        cut = len(self._units) - self._reasoning
        ended, kept = self._units[:cut], self._units[cut:]
        self.__init__(self._dialect)  # type: ignore[misc]
        self._units, self._reasoning = kept, len(kept)
        return ended

    def add(self, unit: Unit, item: dict[str, Any]) -> None:
        self._units.append(unit)
        kind = self._dialect.kind_of(item)
        self._reasoning = self._reasoning + 1 if kind in self._dialect.thoughts else 0
        self._has_text = self._has_text or kind in self._dialect.texts
        self._has_calls = self._has_calls or self._dialect.is_call(item)

    def closed(self) -> Sequence[Unit]:
        units = self._units
        self.__init__(self._dialect)  # type: ignore[misc]
        return units
