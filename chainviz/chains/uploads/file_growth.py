"""A chain and the present state of the file that it came from: what is new becomes its next version."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from hashlib import sha256

from chainviz.accounts.models import Membership
from chainviz.chains.models import Chain
from chainviz.chains.render.numbers import count_text
from chainviz.chains.uploads.imports import key_of, list_of
from chainviz.chains.versions import heads
from chainviz.core.documents.source import CHUNK, Source
from chainviz.core.formats.offers import Offer
from chainviz.store.errors import Conflict
from chainviz.store.history.versions import head_of
from chainviz.store.models import History, Snapshot, Version
from chainviz.store.transfer.growth import Difference, compare, grow, last_file_state


class Outcome(Enum):
    ADDED = "added"
    SAME = "same"
    """The library has this state of the file."""
    GREW = "grew"
    EDITED = "edited"
    """The newest version is not the file's: somebody decides what becomes of what is new."""


@dataclass(frozen=True, slots=True)
class Followed:
    chain: Chain
    outcome: Outcome
    new: int = 0
    """Messages more than before."""


def follow(member: Membership, source: Source, offer: Offer, chain: Chain, *, over_edits: bool = False) -> Followed:
    """Makes what is new in the file the next version of its chain. With `over_edits` also where the newest version is not
    the file's; that one stays in the history."""
    before = last_file_state(chain.history)
    if before is None or chain.is_in_bin:
        return Followed(chain, Outcome.SAME)
    difference = compare(before, list_of(source, replace(offer.read_as(before.format), earlier=())))
    head = head_of(History.objects.get(pk=chain.history))
    is_edited = head.snapshot_id != before.pk
    if difference.is_none and not (is_edited and over_edits):
        return Followed(chain, Outcome.SAME)
    if is_edited and not over_edits:
        return Followed(chain, Outcome.EDITED)

    def arrived(version: Version) -> None:
        heads.head_moved(chain, version, member.user)

    try:
        author = heads.store_name(member.user)
        version = grow(head, difference, author=author, note=_note(source, difference), arrived=arrived)
    except Conflict:
        # another page read the file at the same moment
        chain.refresh_from_db()
        return Followed(chain, Outcome.SAME)
    return Followed(chain, Outcome.GREW, version.snapshot.messages - before.messages)


def remember(source: Source, offer: Offer, chain: Chain) -> None:
    """The same bytes, when they are uploaded, are this chain; unless another chain came from them already."""
    place = {"team": chain.team_id, "sha256": source.sha256, "pointer": key_of(offer)}
    if not Chain.objects.filter(**place, is_branch=False).exclude(pk=chain.pk).exists():
        Chain.objects.filter(pk=chain.pk).update(sha256=source.sha256, pointer=key_of(offer))


def _note(source: Source, difference: Difference) -> str:
    new = -1 if difference.new is None else len(difference.new) - difference.removed
    if difference.removed and not begins_with(source, difference.before):
        kept = count_text(difference.kept, "message is", "messages are")
        return f"The file was rewritten: the first {kept} the same"
    if new > 0:
        return f"The file grew: {count_text(new, 'new message')}"
    return "The file grew" if new < 0 else "The file grew: its last message is longer"


def begins_with(source: Source, before: Snapshot) -> bool:
    """Whether the file still begins with what it was."""
    upload = before.template.run.upload if before.template is not None else None
    if upload is None or upload.encoding != source.encoding or source.size < upload.length:
        return False
    digest = sha256()
    for start in range(0, upload.length, CHUNK):
        digest.update(source.read(start, min(start + CHUNK, upload.length)))
    return digest.hexdigest() == upload.sha256
