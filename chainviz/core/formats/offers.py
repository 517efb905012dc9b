"""Which chains a file holds and which formats each may be in. Web, command line and Python API all ask here."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from chainviz.core.dialects.members import string_of
from chainviz.core.documents.detection.detect import Survey, empty_list, survey
from chainviz.core.documents.json.scan import fault_in
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList
from chainviz.core.errors import DocumentError
from chainviz.core.formats import FORMATS, RECOGNITION, detect, get_format, recognition_of
from chainviz.core.formats.contract import Format
from chainviz.core.formats.reader import read_chain
from chainviz.core.formats.stream import Stream
from chainviz.core.formats.understanding import reads_nothing, share_read
from chainviz.core.formats.unread_fields import unread_fields
from chainviz.core.formats.unsupported import refuse_kind, refuse_without_answer

LIKELY = 0.25
"""Below this the best format is none: the list is not offered."""
SURE, AHEAD = 0.5, 0.05
"""Nobody is asked where the best format is sure and ahead of the next by so much …"""
LOOKED_INTO = 100
"""Lists of a file whose first messages are read, to see what their format leaves out."""
FAR_AHEAD = 0.3
"""… or, unlikely as it is, by so much."""
MOST, ENOUGH = 0.9, 0.4
"""A format that understands most of a list is taken without a look at others; one that understands less than enough is not
offered."""
BETTER = 0.2
"""How much more of a list another format must understand to be preferred."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One message list of a file, and the formats it may be written in, best first."""

    found: FoundList
    formats: tuple[Format, ...]
    is_certain: bool
    """The first format is taken without a question."""
    salvage: bool = False
    earlier: tuple[Offer, ...] = ()
    """Lists of the same file with earlier states of the chain, the oldest first, that are taken as its first versions."""

    def read_as(self, name: str) -> Offer:
        """The same list in a format that a person chose; "" leaves it as it was found."""
        return replace(self, formats=(get_format(name),), is_certain=True) if name else self

    def noted(self, sentence: str) -> Offer:
        """The same with something that a person should know about the file."""
        return replace(self, found=replace(self.found, warnings=(*self.found.warnings, sentence)))


def offers_of(source: Source, format: str = "", *, salvage: bool = False) -> list[Offer]:
    """An offer for every message list of the file. `format` overrides detection; "raw" takes any text as one message.

    With `salvage`, a list that breaks off is offered up to there. Raises DocumentError where the file holds no message
    list, or none in a known format.
    """
    chosen = get_format(format) if format else None
    lists = _lists(source, chosen, salvage)
    looked_into = [source if number < LOOKED_INTO else None for number in range(len(lists))]
    first = [_offer(look_into, found, chosen) for look_into, found in zip(looked_into, lists, strict=True)]
    trusted = frozenset(offer.formats[0].name for offer in first if offer is not None)
    again = zip(looked_into, lists, first, strict=True)
    offers = [offer for look_into, found, each in again if (offer := each or _offer(look_into, found, chosen, trusted))]
    if chosen is None and len(lists) == 1 and _has_no_content(source, lists[0]):
        refuse_without_answer(source)
    if not offers:
        refuse_kind(source)
        _refuse_unread(source, lists)
        where = f" at {lists[0].title}" if lists[0].title else ""
        raise DocumentError(
            f"The list of messages{where} is in no known format{_types_in(lists[0])}; choose one, or keep the file as raw text.", raw=True
        )
    offers = [replace(offer, salvage=salvage) for offer in offers]
    offered = {id(offer.found) for offer in offers}
    left = [found for found in lists if id(found) not in offered]
    for sentence in _left_out(source, left):
        offers[0] = offers[0].noted(sentence)
    return [_told(source, offer, number) for number, offer in enumerate(offers)]


def _has_no_content(source: Source, found: FoundList) -> bool:
    """Whether a list is a single message that has a role and nothing else, or a recorded stream without any content."""
    first, *others = found.sample.values or ("",)
    if isinstance(first, dict):
        return not others and {key for key, value in first.items() if value} <= {"role"}
    ranked = detect(found.sample)
    return bool(ranked) and isinstance(ranked[0][0], Stream) and not any(each.parts for each in read_chain(source, found, ranked[0][0]))


def _types_in(found: FoundList) -> str:
    """What the records of a list call themselves, for a sentence."""
    named = ((key, string_of(value, key)) for value in found.sample.values for key in ("type", "role", "kind", "event"))
    names = list(dict.fromkeys(f"“{name[:30]}”" for key, name in named if name))[:4]
    return f": its records have the types {', '.join(names)}" if names else ""


def _left_out(source: Source, left: Sequence[FoundList]) -> Iterator[str]:
    faults = [fault_in(source, found.region) if number < LOOKED_INTO else "" for number, found in enumerate(left)]
    broken = [said for said in faults if said]
    if broken:
        were = "the list is" if len(broken) == 1 else f"this list and {len(broken) - 1:,} more broken ones are"
        yield f"{broken[0]}; {were} left out."
    unknown = [found for found, said in zip(left, faults, strict=True) if not said]
    if unknown:
        were = "1 list is" if len(unknown) == 1 else f"{len(unknown)} lists are"
        which = unknown[0].title or "the start of the file"
        first = f"at {which}" if len(unknown) == 1 else f"the first at {which}"
        yield f"{were} in no known format and left out, {first}."


def _told(source: Source, offer: Offer, number: int) -> Offer:
    """The offer with what a person should know of the file, and of fields that its format does not read."""
    missed = tuple(unread_fields(source, offer.found, offer.formats[0])) if number < LOOKED_INTO else ()
    if missed:
        offer = replace(offer, found=replace(offer.found, unread=(*offer.found.unread, *missed)))
    return offer.noted(source.notice) if source.notice else offer


def _lists(source: Source, chosen: Format | None, salvage: bool) -> tuple[FoundList, ...]:
    try:
        return look(source, chosen, salvage=salvage).lists
    except DocumentError as error:
        if not error.fault.what:
            refuse_kind(source)
        raise


def look(source: Source, chosen: Format | None = None, *, salvage: bool = False) -> Survey:
    """Where the message lists are. A format that is not JSON finds them itself; with `chosen`, only that one is asked."""
    for format in (chosen,) if chosen else FORMATS:
        lists = format.find(source)
        if lists and (chosen or format.confidence(lists[0].sample) >= LIKELY):
            return Survey(lists, lines=True)
    if chosen is None:
        return survey(source, RECOGNITION, salvage=salvage)
    nothing = empty_list(source)
    if nothing is not None:
        return Survey((nothing,))
    try:
        return survey(source, recognition_of((chosen,)), salvage=salvage)
    except DocumentError:
        # the format reads messages that it does not recognise automatically
        return survey(source, RECOGNITION, salvage=salvage)


def _by_understanding(
    source: Source, found: FoundList, likely: list[tuple[Format, float]], trusted: Container[str]
) -> list[tuple[Format, float]]:
    """Returns the likely formats; where the first does not understand most of the list, the one that understands more of it comes
    first. Returns none where no format understands enough, unless other lists of the file are in the first one."""
    if not likely or (first := share_read(source, found, likely[0][0])) >= MOST:
        return likely
    shares = [first, *(share_read(source, found, format) for format, _ in likely[1:])]
    best = max(range(len(likely)), key=lambda place: (shares[place] >= first + BETTER, shares[place]))
    if shares[best] >= first + BETTER:
        likely = [likely[best], *likely[:best], *likely[best + 1 :]]
        first = shares[best]
    return likely if first >= ENOUGH or likely[0][0].name in trusted else []


def _refuse_unread(source: Source, lists: Sequence[FoundList]) -> None:
    """Raises DocumentError for lists that have the look of a format which reads nothing of them."""
    for found in lists:
        for format, confidence in detect(found.sample)[:1]:
            if confidence >= LIKELY:
                little = "none of its messages" if reads_nothing(source, found, format) else "only little of it"
                raise DocumentError(
                    f"This looks like the format “{format.label}”, but {little} can be read; choose another format, or keep the file as "
                    "raw text.",
                    raw=True,
                )


def _offer(source: Source | None, found: FoundList, chosen: Format | None, trusted: Container[str] = ()) -> Offer | None:
    """None where no format is likely. Where `source` is given, one that understands little of the list is not offered, unless its
    name is in `trusted`."""
    if chosen is not None:
        return Offer(found, (chosen,), is_certain=True)
    ranked = detect(found.sample)
    if source is not None:
        likely = [item for item in ranked if item[1] >= LIKELY and not reads_nothing(source, found, item[0])]
        ranked = _by_understanding(source, found, likely, trusted)
    if not ranked or ranked[0][1] < LIKELY:
        return None
    ahead = ranked[0][1] - ranked[1][1] if len(ranked) > 1 else 1.0
    is_certain = ahead >= (AHEAD if ranked[0][1] >= SURE else FAR_AHEAD)
    return Offer(found, tuple(format for format, _ in ranked), is_certain)
