"""Units that hold items of an API, each of which is a text, a call, a result or a thought: units to messages and back.

The model's items that follow one another are one message. What an item is, a dialect knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from chainviz.core.chain.messages import AI, TOOL, Fragment, Message, Part, Role, ToolResult
from chainviz.core.dialects.patching import Speller
from chainviz.core.dialects.unit_groups import Claimed, UnitWriter, one_result_each, patched_units
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Pointer, Unit


class RoleOf(Protocol):
    def __call__(self, item: dict[str, Any], *, is_first: bool = False) -> Role:
        """The role of the message an item belongs to, "" for one that belongs to none."""


@dataclass(frozen=True, slots=True)
class ItemDialect:
    """The items of one API."""

    kind_of: Callable[[Any], str]
    """An item's type; "" for what is no item."""
    role_of: RoleOf
    read: Callable[[dict[str, Any], str, Pointer, int], list[Part]]
    """The parts of the item that lies at a place of a text; origins count from the last argument."""
    new: Callable[[Role, Sequence[Part], str, str, Speller], list[str]]
    """New items: role, parts, role as it was spelled, a text item whose shape they take."""
    patched: Callable[[str, Sequence[Part], Sequence[Claimed], Role, Speller], str | None]
    """An item with its parts changed; None where it must be rewritten."""
    takes: Callable[[str, Part], bool]
    """Whether a new part may join an item."""
    texts: frozenset[str]
    """Types of the items that hold texts."""
    thoughts: frozenset[str]
    is_call: Callable[[dict[str, Any]], bool]
    """Whether the caller answers the item."""
    label: Callable[[dict[str, Any], Role], str] = lambda item, role: ""
    note: Callable[[dict[str, Any]], str] = lambda item: ""
    word: Callable[[Role], str] | None = None
    """How a text item spells a role in its member `role`; None where its type says it."""


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
        """The role of the message a unit belongs to, "" for one that belongs to none."""
        item = self.item(value)
        return self.dialect.role_of(item, is_first=is_first) if self.dialect.kind_of(item) else ""

    def read(self, units: Iterable[Unit], *, is_first: bool = True) -> Iterator[Message | Unit]:
        """The messages of the units; a unit whose item is no message comes back."""
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
        items = [self.item(parse(fragment.text)) for fragment in source]
        first = items[0]
        role = self.dialect.role_of(first, is_first=role not in ("", AI)) or role
        parts = tuple(part for held in self.owned(source) for part in held)
        label, note = self.dialect.label(first, role), self.dialect.note(items[-1])
        return Message(role, parts, source=tuple(source), label=label, note=note)

    def owned(self, source: Sequence[Fragment]) -> list[list[Part]]:
        """The parts of each fragment; origins count through."""
        found: list[list[Part]] = []
        first = 0
        for fragment in source:
            parts = self.parts_of(fragment.text, first)
            first += len(parts)
            found.append(parts)
        return found

    def parts_of(self, text: str, first: int) -> list[Part]:
        """The parts of one unit; origins count from `first`."""
        return self.dialect.read(self.item(parse(text)), text, self.at, first)

    def patched_unit(
        self, text: str, old: Sequence[Part], new: Sequence[Claimed], role: Role, *, ascii_only: bool
    ) -> str | None:
        """The unit with its parts changed; None where it must be rewritten."""
        raw = json_edit.raw_at(text, self.at) or "{}"
        changed = self.dialect.patched(raw, old, new, role, Speller(raw, ascii_only))
        return None if changed is None else json_edit.replace_at(text, self.at, changed)

    def patched(self, message: Message, wrap: Callable[[str], str], *, ascii_only: bool) -> tuple[Fragment, ...]:
        """The message's fragments with its changes; `wrap` puts a new item into a unit."""
        source = message.source
        role = self.message(message.role, source).role
        first = json_edit.raw_at(source[0].text, self.at) or "{}"
        near = first if self.dialect.kind_of(parse(first)) in self.dialect.texts else self.model
        speller = Speller(first, ascii_only)
        if message.role != role:
            return self._with_role(message, wrap, speller)

        def patch(text: str, old: Sequence[Part], new: Sequence[Claimed]) -> str | None:
            return self.patched_unit(text, old, new, role, ascii_only=ascii_only)

        def made(parts: Sequence[Part]) -> list[str]:
            return [wrap(item) for item in self.dialect.new(role, parts, message.label, near, speller)]

        def joins(text: str, part: Part) -> bool:
            return self.dialect.takes(json_edit.raw_at(text, self.at) or "{}", part)

        parts = one_result_each(message)
        fragments = patched_units(source, self.owned(source), parts, UnitWriter(patch, made, joins))
        return fragments or (Fragment(source[0].ordinal, source[0].lead, self._emptied(source[0], made)),)

    def _emptied(self, fragment: Fragment, made: Callable[[Sequence[Part]], list[str]]) -> str:
        """The unit of a message without parts: an empty message, or a result that says nothing."""
        old = self.owned((fragment,))[0]
        return made([replace(part, content="", media=()) for part in old if isinstance(part, ToolResult)])[0]

    def _with_role(self, message: Message, wrap: Callable[[str], str], speller: Speller) -> tuple[Fragment, ...]:
        """Another role: a message item changes its word, anything else is rewritten in the first unit's place."""
        first = message.source[0]
        item = self.item(parse(first.text))
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
            Fragment(first.ordinal if not place else -1, first.lead if not place else "", wrap(item))
            for place, item in enumerate(items)
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
        """How many items at the end are reasoning."""
        self._has_text = self._has_calls = False

    def before(self, item: dict[str, Any]) -> Sequence[Unit]:
        """The units of a message that ends before `item`."""
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
