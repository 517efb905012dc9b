"""From a message list of an upload to a chain of the library: what is offered, how it may be read, and what is known already."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings
from django.db import IntegrityError
from django.utils import timezone

from chainviz.accounts.audit.record import record
from chainviz.accounts.models import Membership
from chainviz.chains.models import Chain
from chainviz.chains.titles import set_title
from chainviz.chains.versions import heads
from chainviz.core.documents.compressed import plain_name
from chainviz.core.documents.detection.detect import raw_list
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import Pointer
from chainviz.core.formats import get_format
from chainviz.core.formats.offers import Offer
from chainviz.core.progress import Progress, ignore_progress
from chainviz.jobs.lease import storable
from chainviz.store.models import Version
from chainviz.store.transfer.document_context import envelope_of
from chainviz.store.transfer.imports import MessageList, import_chain

RAW_TEXT = "raw"
RECORDED = "added"
"""Act of the rows of the audit log, one a chain: a request only tells that a file came, which a job may take in later."""


def pointer_text(pointer: Pointer) -> str:
    """A JSON pointer (RFC 6901); what no database stores, half of a character and NUL, is written as its escape."""
    text = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in pointer)
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\x00", "\\x00")


def key_of(offer: Offer) -> str:
    """What names the list in its file."""
    return pointer_text(offer.found.pointer)


def size_of(offer: Offer) -> int:
    """Bytes of the chain's own document."""
    return offer.found.region.end - offer.found.region.start


def raw_offer(source: Source) -> Offer:
    return Offer(raw_list(source), (get_format(RAW_TEXT),), is_certain=True)


def known_chain(member: Membership, source: Source, offer: Offer) -> Chain | None:
    same = Chain.objects.visible_to(member).filter(sha256=source.sha256, pointer=key_of(offer), is_branch=False)
    return same.first()


def import_offer(
    member: Membership,
    source: Source,
    offer: Offer,
    *,
    file_name: str,
    progress: Progress = ignore_progress,
) -> Chain:
    """The new chain, or the one that holds this list already: two tabs may upload the same file at once."""
    known = known_chain(member, source, offer)
    if known is not None:
        return known
    try:
        return _import(member, source, offer, plain_name(file_name), progress)
    except IntegrityError:
        known = known_chain(member, source, offer)
        if known is None:
            raise
        return known


def _import(member: Membership, source: Source, offer: Offer, file_name: str, progress: Progress) -> Chain:
    def arrived(version: Version) -> None:
        now = timezone.now()
        chain = Chain(
            team=member.team,
            owner=member.user,
            part=storable(offer.found.title)[:200],
            history=version.history_id,
            file_name=file_name,
            sha256=source.sha256,
            pointer=key_of(offer),
            created_at=now,
            changed_at=now,
            changed_by=member.user,
        )
        heads.copy_head(chain, version)
        set_title(chain, version.snapshot)
        chain.save()
        if settings.CHAINVIZ.mode == "team":
            record(member.team, member.user, RECORDED, chain=chain.pk)

    version = import_chain(
        replace(list_of(source, offer), filename=file_name),
        owner=member.team.store_name,
        author=heads.store_name(member.user),
        progress=progress,
        arrived=arrived,
    )
    return Chain.objects.get(history=version.history_id)


def list_of(source: Source, offer: Offer) -> MessageList:
    earlier = tuple(list_of(source, each) for each in offer.earlier)
    return MessageList(source, offer.found, offer.formats[0], offer.salvage, earlier)


def file_notes(chain: Chain) -> tuple[str, ...]:
    """What was odd about its file, a sentence each."""
    return envelope_of(Version.objects.get(history=chain.history, number=1).snapshot).warnings
