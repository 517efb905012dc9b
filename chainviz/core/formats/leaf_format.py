"""The base of formats that state where each part and each of its values is in a unit. LeafFormat derives reading and writing from
these positions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import NEW, TOOL, Fragment, Message, Part, Role, Text, with_origin
from chainviz.core.dialects import leaf
from chainviz.core.dialects.leaf import Host, Located, Writer
from chainviz.core.dialects.values import Speller, matched
from chainviz.core.documents.assemble import own_blocks
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import value_of
from chainviz.core.documents.units import Pointer, Unit
from chainviz.core.formats.contract import Format, Style

Run = tuple[Role, tuple[int, ...] | None]
"""A message that a unit feeds: its role, and the indexes of its blocks (None if the whole unit is this message)."""


class LeafFormat(Format):
    halves: bool = False
    """A unit contains calls together with their results. A negative block index is the result half, which a tool message owns."""

    def runs(self, value: Any) -> Sequence[Run]:
        """Return the messages of a unit; none if the unit is not part of the conversation."""
        raise NotImplementedError

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        """Return the parts of one message of a unit."""
        raise NotImplementedError

    def locate_all(self, source: Sequence[tuple[str, Any]], run: Run) -> list[list[Located]]:
        """Return the parts of a message in each of its units. `source` gives the text and the decoded value of each unit."""
        return [self.locate(value, text, run) for text, value in source]

    def home(self, part: Part, host: Host) -> Pointer:
        """Return the list of the unit to which a new part is added."""
        raise NotImplementedError

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        """Return a new part as JSON elements; none if it has no place."""
        raise NotImplementedError

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        """Return the text of a new unit for a message, without the parts that are list elements."""
        raise NotImplementedError

    def with_role(self, text: str, role: Role, speller: Speller) -> str | None:
        """Return the text of a unit with another role; None if the unit must be rewritten."""
        return None

    def role_label(self, value: Any, role: Role) -> str:
        return ""

    def note(self, value: Any) -> str:
        return ""

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            runs = self.runs(unit.value)
            if not runs:
                yield unit
            for run in runs:
                yield self._message(run, [(unit.fragment(run[1]), unit.value)])

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        values = [value_of(fragment) for fragment in source]
        if source[0].blocks is None:
            role = next((run[0] for run in self.runs(values[0])), role)
        return self._message((role, source[0].blocks), list(zip(source, values, strict=True)))

    def _message(self, run: Run, source: Sequence[tuple[Fragment, Any]]) -> Message:
        located = [each for found in self.locate_all([(one.text, value) for one, value in source], run) for each in found]
        parts = [with_origin(each.part, place) for place, each in enumerate(located)]
        first, last = source[0][1], source[-1][1]
        fragments = tuple(fragment for fragment, _ in source)
        return Message(run[0], tuple(parts), source=fragments, label=self.role_label(first, run[0]), note=self.note(last))

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            return (self._new(message, style),)
        old = self.message(message.role, message.source)
        if old == message:
            return message.source
        fragments = self._patched(message, old, style)
        if message.role == old.role:
            return fragments
        turned = [self.with_role(item.text, message.role, Speller(item.text, style.ascii)) for item in fragments]
        if any(text is None for text in turned):
            return (self._new(replace(message, source=()), style),)
        return tuple(item.with_text(text or "") for item, text in zip(fragments, turned, strict=True))

    def _new(self, message: Message, style: Style) -> Fragment:
        speller = Speller(style.near, style.ascii)
        parts = message.parts if self.packs or message.role != TOOL else (leaf.one_result(message.parts),)
        bare = replace(message, parts=tuple(replace(part, origin=-1) for part in parts))
        text = self.skeleton(bare, style, speller)
        located = self.locate(json_edit.parse(text), text, (message.role, None))
        if not (len(located) == 1 and not located[0].place):
            text = leaf.patched(text, (), bare.parts, Writer(self, message.role, speller))
        is_half = self.halves and message.role == TOOL
        return Fragment(NEW, "", text, tuple(~index for index in range(self._count(text))) if is_half else None)

    def _count(self, text: str) -> int:
        raw = json_edit.raw_at(text, self.blocks_at) or ""
        return len(json_edit.load_array(raw)) if raw.startswith("[") else 1

    def _patched(self, message: Message, old: Message, style: Style) -> tuple[Fragment, ...]:
        """Write changes. A new part joins the unit of the part before it; a unit that loses its last part is removed,
        unless it is the only one."""
        owned = [own_blocks(fragment, self.blocks_at) for fragment in message.source]
        located = self.locate_all([(each.text, value_of(each)) for each in owned], (old.role, owned[0].blocks))
        starts = [sum(map(len, located[:place])) for place in range(len(located))]
        shares: list[list[Part]] = [[] for _ in located]
        home = next((place for place, parts in enumerate(located) if parts), 0)
        for part, claim in zip(message.parts, matched(old.parts, message.parts), strict=True):
            if claim is not None:
                home = max(place for place, start in enumerate(starts) if start <= claim and located[place])
            shares[home].append(replace(part, origin=-1 if claim is None else claim - starts[home]))

        def writer(own: Fragment) -> Writer:
            return Writer(self, old.role, Speller(own.text, style.ascii))

        result = [
            self._with_parts(fragment, own, parts, share, writer(own))
            for fragment, own, parts, share in zip(message.source, owned, located, shares, strict=True)
            if share or not parts or len(message.source) == 1
        ]
        return tuple(result) or (self._with_parts(message.source[0], owned[0], located[0], [], writer(owned[0])),)

    def _with_parts(self, fragment: Fragment, own: Fragment, parts: Sequence[Located], share: Sequence[Part], writer: Writer) -> Fragment:
        old = [each.part for each in leaf.numbered(parts)]
        if list(share) == old and [part.origin for part in share] == list(range(len(old))):
            return fragment
        text = leaf.patched(own.text, parts, share, writer)
        blocks = own.blocks
        if blocks is not None:
            places = range(self._count(text))
            if len(places) != len(blocks):
                blocks = tuple(places) if not is_half(blocks) else tuple(~index for index in places) if self.halves else blocks
        return Fragment(fragment.ordinal, fragment.lead, text, blocks)


def is_half(blocks: tuple[int, ...] | None) -> bool:
    return bool(blocks) and blocks[0] < 0  # type: ignore[index]


def with_one_text(message: Message) -> Message:
    """Return the message with its texts joined by a blank line in the place of the first: for units with room for one."""
    texts = [part for part in message.parts if isinstance(part, Text)]
    if len(texts) < 2:
        return message
    whole = Text("\n\n".join(part.text for part in texts))
    others = [whole if part is texts[0] else part for part in message.parts if part is texts[0] or not isinstance(part, Text)]
    return replace(message, parts=tuple(others))


def near_value(style: Style) -> Any:
    """Return the unit that a new one imitates; None if there is none."""
    return json_edit.parse(style.near) if style.near else None
