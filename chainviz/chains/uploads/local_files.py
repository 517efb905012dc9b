"""Files of this machine into the library, with nobody to ask: every chain of a file, in the likeliest format, its earlier
states as its first versions. A file that was read before gives its chains a new version.

A file is copied first: an agent may write it while it is read.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.urls import reverse
from django.utils import timezone

from chainviz.accounts.models import Membership
from chainviz.chains.models import Chain, LocalFile
from chainviz.chains.render.numbers import count_text
from chainviz.chains.uploads import staging
from chainviz.chains.uploads.file_growth import Followed, Outcome, follow, remember
from chainviz.chains.uploads.imports import import_offer, key_of, known_chain
from chainviz.chains.uploads.offer_rows import folded
from chainviz.core.documents.event_folder import events_of
from chainviz.core.documents.source import Source
from chainviz.core.errors import DocumentError
from chainviz.core.formats.offers import Offer, offers_of
from chainviz.core.state.file_notes import with_state_notes
from chainviz.jobs.lease import storable

FileState = tuple[int, int]
"""Size, and time of the last change in nanoseconds; of a folder of events, those of all its files."""


@dataclass(frozen=True, slots=True)
class TakenFile:
    """What a file became."""

    followed: tuple[Followed, ...]
    notes: tuple[str, ...] = ()
    """What a person should know about the file, each once."""

    @property
    def chains(self) -> tuple[Chain, ...]:
        return tuple(each.chain for each in self.followed)

    @property
    def fresh(self) -> int:
        """Chains that were not in the library before."""
        return sum(each.outcome is Outcome.ADDED for each in self.followed)

    def told(self, site: str) -> str:
        """Half a sentence that leads on."""
        if len(self.followed) > 1:
            known = len(self.followed) - self.fresh
            here = f", {known} of them already uploaded" if known else ""
            return f"{len(self.followed)} chains{here}: {site}"
        only = self.followed[0]
        if only.chain.is_in_bin:
            return f"in the bin: {site}{reverse('chains:bin')[1:]}"
        place = f"{site}{reverse('chains:chain', args=[only.chain.pk])[1:]}"
        return {
            Outcome.ADDED: place,
            Outcome.SAME: f"already uploaded, now at version {only.chain.version}: {place}",
            Outcome.GREW: f"version {only.chain.version}, {count_text(max(0, only.new), 'new message')}: {place}",
            Outcome.EDITED: f"it grew, but version {only.chain.version} was edited; choose how to continue: {place}",
        }[only.outcome]


def one_name(path: Path) -> Path:
    """Absolute and without `..`, unless a link makes that another file: a file is known again by its name."""
    plain = Path(os.path.normpath(path.absolute()))
    return plain if plain.exists() and plain.samefile(path) else path.absolute()


def take_file(member: Membership, path: Path, format: str = "", *, over_edits: bool = False) -> TakenFile:
    """Raises DocumentError, naming the file."""
    path, began = one_name(path), time.monotonic()
    if str(path) != storable(str(path)):
        raise DocumentError(f"The name of {storable(str(path))} is not valid UTF-8; rename the file.")
    try:
        state = state_of(path)
        copy = staging.copy(path)
    except OSError as error:
        raise DocumentError(f"{path} cannot be opened: {error.strerror or error}.") from None
    try:
        with staging.open_waiting(copy) as source:
            offers = with_state_notes(source, folded(source, offers_of(source, format)))
            followed = _followed(member, source, offers, path, over_edits)
    except DocumentError as error:
        raise _named(path, error) from None
    finally:
        staging.forget(copy)
    note_reading(path, followed, state, time.monotonic() - began)
    return TakenFile(followed, tuple(dict.fromkeys(note for offer in offers for note in offer.found.warnings)))


def chains_from(member: Membership, path: Path) -> list[Chain]:
    """The chains of the library that came from a file of this machine."""
    return list(Chain.objects.visible_to(member).filter(local_file__path=str(path)).order_by("pk"))


def _followed(
    member: Membership, source: Source, offers: Sequence[Offer], path: Path, over_edits: bool
) -> tuple[Followed, ...]:
    known = {chain.pointer: chain for chain in chains_from(member, path)}
    found: list[Followed] = []
    for offer in offers:
        # what was the last state of a log of requests is an earlier one now
        keys = [key_of(offer), *(key_of(each) for each in reversed(offer.earlier))]
        chain = next((known.pop(key) for key in keys if key in known), None)
        if chain is not None:
            found.append(follow(member, source, offer, chain, over_edits=over_edits))
        else:
            is_new = known_chain(member, source, offer) is None
            chain = import_offer(member, source, offer, file_name=name_of(path))
            found.append(Followed(chain, Outcome.ADDED if is_new else Outcome.SAME))
    if any(each.outcome is not Outcome.SAME for each in found):
        for offer, each in zip(offers, found, strict=True):
            if each.outcome is not Outcome.EDITED:
                remember(source, offer, each.chain)
    return tuple(found)


def note_reading(path: Path, followed: Sequence[Followed], state: FileState, took: float = 0) -> None:
    for each in followed:
        facts = {
            "path": str(path),
            "size": state[0],
            "modified": state[1],
            "read_at": timezone.now(),
            "took": took,
            "is_behind": each.outcome is Outcome.EDITED,
            "sentence": "",
        }
        LocalFile.objects.update_or_create(chain=each.chain, defaults=facts)


def note_failure(path: Path, sentence: str) -> None:
    """The file, as it is now, could not be read: it is not tried again before it changes."""
    with suppress(OSError):
        size, modified = state_of(path)
        read = LocalFile.objects.filter(path=str(path))
        read.update(size=size, modified=modified, read_at=timezone.now(), sentence=storable(sentence))


def state_of(path: Path) -> FileState:
    """Raises OSError."""
    own = path.stat()
    found = [own] if not stat.S_ISDIR(own.st_mode) else [each.stat() for each in events_of(path)]
    return sum(each.st_size for each in found), max((each.st_mtime_ns for each in found), default=own.st_mtime_ns)


def name_of(path: Path) -> str:
    """How a chain names the file that it came from: a folder of events after its conversation."""
    return f"{path.parent.name}.jsonl" if path.is_dir() else path.name


def _named(path: Path, error: DocumentError) -> DocumentError:
    text = " ".join(str(error).split())
    return DocumentError(text if str(path) in text else f"{path}: {text}", error.fault)
