"""Write new messages in the style of their document: spacing, escapes, and the slot beside the list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import NEW, SLOT, SYSTEM, TOOL, Message, ToolResult
from chainviz.core.documents.units import Envelope
from chainviz.core.errors import Refused
from chainviz.core.formats.contract import Format, Style, refusal

NEARBY = 50
"""How many messages in each direction are searched for one of the same role, whose style a new message takes."""


def keeps_result_names(format: Format) -> bool:
    """Return True if the format stores the tool's name in a result. The name counts in the result's size."""
    if not format.writes:
        return True
    result = Message(TOOL, (ToolResult("call_1", "look", "north"),))
    again = format.message(TOOL, format.write(result, Style("", True, False, 1)))
    return any(isinstance(part, ToolResult) and part.name for part in again.parts)


def written_size(messages: Sequence[Message], format: Format) -> int:
    """Return the size in bytes of new messages after they are written and read again."""
    names = sum(len(ref.name.encode("utf-8", "surrogatepass")) for message in messages for ref in message.results)
    return sum(message.size for message in messages) - (0 if keeps_result_names(format) else names)


class Stylist:
    def __init__(self, chain: Chain, format: Format, envelope: Envelope, *, is_new: bool = False) -> None:
        """`is_new` means that the changes fill an empty document of `format`, such as that of a conversion."""
        self._chain = chain
        self._format = format
        self._envelope = envelope
        self._is_new = is_new
        self._near: dict[tuple[str, int], str] = {}

    def written(self, changes: Sequence[Splice]) -> Iterator[Splice]:
        """Yield the changes with each message as it will be read again, because a format may not store all of it. Messages in the
        slot that no longer begin the chain move out of it, in changes of their own.

        Raises Refused if the format is read-only.
        """
        if changes and not (self._is_new or self._format.writes):
            raise Refused(refusal(self._format))
        leading = self._leading(changes)
        shift = 0
        for change in self._leaving_slot(changes, leading):
            start = change.start + shift
            yield replace(
                change,
                messages=tuple(
                    self._written(message, change.start, index, is_leading=index < leading)
                    for index, message in enumerate(change.messages, start)
                ),
            )
            shift += len(change.messages) - change.removed

    def _written(self, message: Message, place: int, index: int, *, is_leading: bool) -> Message:
        """Return a message as it is written. `place` is its index before the change, `index` the one after."""
        is_foreign = self._is_new and any(fragment.ordinal != NEW for fragment in message.source)
        if is_foreign or (_is_in_slot(message) and not is_leading):
            message = replace(message, source=())
        near = message.source[0].text if message.source else self._nearest(message.role, place)
        slot = is_leading and message.role == SYSTEM and self._has_slot(index)
        return self._format.message(message.role, self._format.write(message, Style(near, near.isascii(), slot, index)))

    def _has_slot(self, index: int) -> bool:
        envelope = self._envelope
        return bool(envelope.slot_key and envelope.inside) and (envelope.slot is None or index == 0)

    def _leading(self, changes: Sequence[Splice]) -> int:
        """Return the number of system messages at the beginning of the changed chain; 0 if the document has no slot for them."""
        if not self._envelope.slot_key:
            return 0
        count = place = 0
        for change in (*changes, Splice(len(self._chain), 0)):
            kept = self._roles(place, change.start)
            for role in (*kept, *(message.role for message in change.messages)):
                if role != SYSTEM:
                    return count
                count += 1
            place = change.start + change.removed
        # a document with a slot but no messages could not be opened again
        return 0 if self._is_new else count

    def _roles(self, start: int, stop: int) -> Iterator[str]:
        """Yield the roles of messages, up to and including the first that is not system."""
        if self._is_new:
            return
        for first in range(start, stop, NEARBY):
            for shape in self._chain.shapes_in(first, min(first + NEARBY, stop)):
                yield shape.role
                if shape.role != SYSTEM:
                    return

    def _leaving_slot(self, changes: Sequence[Splice], leading: int) -> Sequence[Splice]:
        if self._is_new or self._envelope.slot is None:
            return changes
        leaving = []
        for place in range(min(NEARBY, len(self._chain))):
            message = self._chain[place]
            if not _is_in_slot(message):
                break
            before = [change for change in changes if change.start <= place]
            is_covered = any(place < change.start + change.removed for change in before)
            if not is_covered and place + sum(len(each.messages) - each.removed for each in before) >= leading:
                leaving.append(Splice(place, 1, (message,)))
        return sorted((*changes, *leaving), key=lambda change: (change.start, change.removed)) if leaving else changes

    def _nearest(self, role: str, place: int) -> str:
        """Return the source of a near message of the role, or of the first such message at the beginning of the chain. In JSON Lines
        and events, whose records share members, a message of another role is better than none."""
        if self._is_new:
            return ""
        key = (role, place // NEARBY)
        if key not in self._near:
            sources = (self._chain[index].source for index in self._candidates(role, max(0, place - NEARBY), place))
            self._near[key] = next((source[0].text for source in sources if source), "")
        return self._near[key]

    def _candidates(self, role: str, first: int, place: int) -> Iterator[int]:
        """Yield the indexes of candidates for the nearest message: those of the role around `place`, nearest first, then those at
        the beginning of the chain, then other roles."""
        shapes = self._chain.shapes_in(first, place + NEARBY)
        near = sorted(range(len(shapes)), key=lambda i: abs(first + i - place))
        yield from (first + i for i in near if shapes[i].role == role)
        yield from (i for i, other in enumerate(self._chain.shapes_in(0, NEARBY)) if other.role == role)
        if self._format.lines or self._format.any_near:
            yield from (first + i for i in near)


def _is_in_slot(message: Message) -> bool:
    """Return True if the source of a message is the slot beside the list."""
    return any(fragment.ordinal == SLOT for fragment in message.source)
