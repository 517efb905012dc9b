"""Findings outside of all parts: in what stands around the messages, and in members of their source that are no part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from chainviz.core import formats
from chainviz.core.chain.message_paths import message_paths
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.documents.pointers import Pointers
from chainviz.core.documents.units import Envelope
from chainviz.core.secrets import Finding, Rule, scan_message, scan_text
from chainviz.core.secrets.unknown_fields import SourceField, fields
from chainviz.store.content.chain import StoredChain
from chainviz.store.transfer.document_context import envelope_of, pieces_around

AROUND, FIELD = "around", "field"
STRETCH = 200
Report = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Beside:
    path: str
    """Of the message whose source holds it; empty around the messages."""
    place: str
    """Which piece around the messages, or which of the source's fields: a number, as names may hold values."""
    finding: Finding

    @property
    def id(self) -> str:
        """As a spot has it."""
        return f"{self.path}:{self.place.replace(' ', '-')}:{self.finding.start}"

    @property
    def piece(self) -> int:
        """Of those around the messages; -1 for a field of one."""
        return number_in(self.place) if self.place.startswith(AROUND) else -1


def beside(chain: StoredChain, rules: Sequence[Rule], report: Report = lambda done, text: None) -> Iterator[Beside]:
    """What surrounds the messages first, then in the order of the chain."""
    for number, text in enumerate(pieces_around(chain.snapshot)):
        for found in scan_text(text, rules):
            yield Beside("", f"{AROUND} {number}", found)
    paths = message_paths(chain.tree)
    for start in range(0, len(chain), STRETCH):
        messages = chain.slice(start, min(start + STRETCH, len(chain)))
        for message, path in zip(messages, paths, strict=False):
            found_here = [
                Beside(str(Path(path.section, path.pair, path.message)), f"{FIELD} {number}", found)
                for number, field in enumerate(fields(message))
                for found in scan_text(field.text, rules)
            ]
            if found_here:
                # another spelling of what a part holds goes with that
                known = {found.value for found in scan_message(message, rules)}
                yield from (each for each in found_here if each.finding.value not in known)
        report(min(1.0, (start + STRETCH) / max(1, len(chain))), f"{start + len(messages):,} messages read")


def is_beside(place: str) -> bool:
    """Of a spot or a finding: whether it lies outside of all parts."""
    return place.startswith((f"{AROUND} ", f"{FIELD} "))


def number_in(place: str) -> int:
    return int(place.rpartition(" ")[2])


class Beyond:
    """Reads what stands outside of parts, and says where: a JSON pointer, a line."""

    def __init__(self, chain: StoredChain) -> None:
        self._chain = chain
        self._fields: dict[str, list[SourceField]] = {}

    def text(self, path: str, place: str) -> str:
        texts = [field.text for field in self._of(path)] if path else self._pieces
        return texts[number_in(place)] if number_in(place) < len(texts) else ""

    def where(self, path: str, place: str, start: int) -> str:
        number = number_in(place)
        if path:
            found = self._of(path)
            return found[number].pointer if number < len(found) else ""
        carried = number - self._before
        if 0 <= carried < len(self._envelope.carried):
            what = "line" if formats.get_format(self._chain.format).lines else "item"
            pointer = Pointers(self._pieces[number][:start]).at(start)
            return f"{what} {self._envelope.carried[carried].ordinal + 1:,} {pointer}".rstrip()
        return self._outer.at(sum(len(piece) for piece in self._outer_pieces(number)) + start)

    @cached_property
    def _envelope(self) -> Envelope:
        return envelope_of(self._chain.snapshot)

    @cached_property
    def _before(self) -> int:
        """Pieces before the first carried unit."""
        slot, envelope = self._envelope.slot, self._envelope
        return 3 if slot and envelope.region.start <= slot.start <= slot.end <= envelope.content.start else 1

    def _outer_pieces(self, stop: int) -> Iterator[str]:
        """Of the document without its units."""
        units = range(self._before, self._before + len(self._envelope.carried))
        return (piece for i, piece in enumerate(self._pieces[:stop]) if i not in units)

    @cached_property
    def _outer(self) -> Pointers:
        return Pointers("".join(self._outer_pieces(len(self._pieces))))

    @cached_property
    def _pieces(self) -> list[str]:
        return pieces_around(self._chain.snapshot)

    def _of(self, path: str) -> list[SourceField]:
        if path not in self._fields:
            messages = self._chain.at(parse_path(path))
            self._fields[path] = list(fields(messages[0])) if messages else []
        return self._fields[path]
