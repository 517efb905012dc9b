"""From a message list of an upload to a chain of the library: what is offered, how it may be read, and what is known already."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from django.db import IntegrityError
from django.utils import timezone

from chainviz.chains.models import Chain
from chainviz.chains.versions import heads
from chainviz.core import formats
from chainviz.core.documents.detect import Survey, raw_list, survey
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Pointer
from chainviz.core.errors import DocumentError
from chainviz.core.formats.contract import Format
from chainviz.core.formats.reader import read_chain
from chainviz.core.progress import Progress, ignore_progress
from chainviz.jobs.lease import storable
from chainviz.store.models import Version
from chainviz.store.transfer.document_context import envelope_of
from chainviz.store.transfer.imports import MessageList, import_chain

LIKELY, AHEAD = 0.5, 0.05
"""Nobody is asked where the best format is likely and ahead of the next by so much …"""
FAR_AHEAD = 0.3
"""… or, unlikely as it is, by so much."""
COUNTED = 32_000_000
"""Bytes up to which the messages of each list are counted before anybody chose."""
RAW_TEXT = "raw"



@dataclass(frozen=True, slots=True)
class Offer:
    """One message list of a file, and the formats it may be written in, best first."""

    found: FoundList
    formats: tuple[Format, ...]
    is_certain: bool
    salvage: bool = False

    @property
    def key(self) -> str:
        return pointer_text(self.found.pointer)

    @property
    def size(self) -> int:
        return self.found.region.end - self.found.region.start

    def read_as(self, name: str) -> Offer:
        """The same list in a format that a person chose; "" leaves it as it was found."""
        return replace(self, formats=(formats.get_format(name),), is_certain=True) if name else self

    def noted(self, sentence: str) -> Offer:
        """The same with something that a person should know about the file."""
        return replace(self, found=replace(self.found, warnings=(*self.found.warnings, sentence)))


def pointer_text(pointer: Pointer) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in pointer)


def offers_of(source: Source, format: str = "") -> list[Offer]:
    """Every message list of the file; DocumentError where there is none, or nothing can read it."""
    return _offers(survey(source), format)


def raw_offer(source: Source) -> Offer:
    return Offer(raw_list(source), (formats.get_format(RAW_TEXT),), is_certain=True)


def salvaged_offers(source: Source, format: str = "") -> list[Offer]:
    """The complete messages of a file that breaks off."""
    return [replace(offer, salvage=True) for offer in _offers(survey(source, salvage=True), format)]


def _offers(seen: Survey, format: str) -> list[Offer]:
    offers = [offer for found in seen.lists if (offer := _offer(found, format))]
    if not offers:
        raise DocumentError(
            "There is a list of messages in this file, but no known format writes them like that;"
            " choose the format and upload it again, or keep it as raw text.",
            raw=True,
        )
    left = len(seen.lists) - len(offers)
    if left:
        lists = "1 list of messages is" if left == 1 else f"{left} lists of messages are"
        offers = [offer.noted(f"{lists} in no known format and not offered.") for offer in offers]
    return offers


def _offer(found: FoundList, format: str) -> Offer | None:
    """None where no format is likely."""
    if format:
        return Offer(found, (formats.get_format(format),), is_certain=True)
    ranked = formats.detect(found.sample)
    if not ranked:
        return None
    ahead = ranked[0][1] - ranked[1][1] if len(ranked) > 1 else 1.0
    is_certain = ahead >= (AHEAD if ranked[0][1] >= LIKELY else FAR_AHEAD)
    return Offer(found, tuple(each for each, _ in ranked), is_certain)


def row_of(source: Source, offer: Offer, known: Chain | None, file_name: str) -> dict[str, Any]:
    """An offer as it is kept until somebody chose."""
    count, begins = _count(source, offer) if source.size <= COUNTED else (None, "")
    return {
        "key": offer.key,
        "title": title_of(offer, file_name),
        "formats": [each.name for each in offer.formats],
        "messages": count,
        "begins": begins,
        "size": offer.size,
        "notes": list(offer.found.warnings),
        "chain": known.pk if known is not None else None,
    }


def _count(source: Source, offer: Offer) -> tuple[int | None, str]:
    """Messages of the list, and what the first person in it says."""
    begins, count = "", 0
    try:
        for message in read_chain(source, offer.found, offer.formats[0]):
            count += 1
            begins = begins or (heads.first_words(message) if message.role == "human" else "")
    except DocumentError:
        return None, begins
    return count, begins


def known_chain(owner: Any, source: Source, offer: Offer) -> Chain | None:
    same = Chain.objects.visible_to(owner).filter(sha256=source.sha256, pointer=offer.key, is_branch=False)
    return same.first()


def title_of(offer: Offer, file_name: str) -> str:
    stem = PurePath(file_name).stem or file_name
    title = f"{stem}: {offer.found.title}" if offer.found.title else stem
    return storable(title)[:200]


def import_offer(
    owner: Any,
    source: Source,
    offer: Offer,
    *,
    file_name: str,
    title: str = "",
    progress: Progress = ignore_progress,
) -> Chain:
    """The new chain, or the one that holds this list already: two tabs may upload the same file at once."""
    known = known_chain(owner, source, offer)
    if known is not None:
        return known
    try:
        return _import(owner, source, offer, file_name, title, progress)
    except IntegrityError:
        known = known_chain(owner, source, offer)
        if known is None:
            raise
        return known


def _import(owner: Any, source: Source, offer: Offer, file_name: str, title: str, progress: Progress) -> Chain:
    def arrived(version: Version) -> None:
        now = timezone.now()
        chain = Chain(
            owner=owner,
            title=title or title_of(offer, file_name),
            history=version.history_id,
            file_name=file_name,
            sha256=source.sha256,
            pointer=offer.key,
            created_at=now,
            changed_at=now,
            changed_by=owner,
        )
        heads.copy_head(chain, version)
        chain.save()

    version = import_chain(
        MessageList(source, offer.found, offer.formats[0], offer.salvage),
        owner=heads.store_name(owner),
        filename=file_name,
        progress=progress,
        arrived=arrived,
    )
    return Chain.objects.get(history=version.history_id)


def file_notes(chain: Chain) -> tuple[str, ...]:
    """What was odd about its file, a sentence each."""
    return envelope_of(Version.objects.get(history=chain.history, number=1).snapshot).warnings


def format_label(name: str) -> str:
    return next((each.label for each in formats.FORMATS if each.name == name), name)
