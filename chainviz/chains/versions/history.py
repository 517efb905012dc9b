"""The versions of a chain as the versions page lists them: who made each one, by which operations, and what it changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from chainviz.chains.models import Chain
from chainviz.chains.versions.badges import badge_of
from chainviz.core.operations.contract import Badge
from chainviz.store.models import Snapshot, Version
from chainviz.web.formatting.byte_text import byte_text

SHOWN = 100

Steps = dict[int | None, tuple[int | None, str]]
"""By snapshot: its parent, and the operation that made it."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    version: Version
    marks: tuple[Badge, ...]
    what: str
    size: int
    share: str
    delta: str
    delta_state: str
    who: str
    is_head: bool
    is_first: bool

    @property
    def number(self) -> int:
        return self.version.number

    @property
    def previous(self) -> int:
        return self.version.number - 1


def version_rows(chain: Chain, names: dict[str, str], before: int | None = None) -> list[VersionRow]:
    """The newest versions first, at most SHOWN, older than `before` if that is given."""
    versions = Version.objects.filter(history=chain.history).select_related("snapshot").order_by("-number")
    if before is not None:
        versions = versions.filter(number__lt=before)
    found = list(versions[: SHOWN + 1])
    largest = max((version.snapshot.size for version in found), default=0)
    listing = _Listing(chain, names, _steps_between(chain, found), largest)
    rows = []
    for place, version in enumerate(found[:SHOWN]):
        older = found[place + 1] if place + 1 < len(found) else None
        rows.append(_row(version, older, listing))
    return rows


class _Listing(NamedTuple):
    """What all rows share."""

    chain: Chain
    names: dict[str, str]
    """Of people, by the author that a version keeps."""
    steps: Steps
    largest: int
    """Bytes of the largest version."""


def _row(version: Version, older: Version | None, listing: _Listing) -> VersionRow:
    size = version.snapshot.size
    delta, state = _delta(version.snapshot, older.snapshot if older else None)
    operations = dict.fromkeys(_operations(version, older, listing.steps))
    return VersionRow(
        version=version,
        marks=tuple(map(badge_of, operations)),
        what=_what(version.snapshot, older.snapshot if older else None),
        size=size,
        share=f"{100 * size / listing.largest:.1f}" if listing.largest else "0",
        delta=delta,
        delta_state=state,
        who=listing.names.get(version.author, ""),
        is_head=version.number == listing.chain.version,
        is_first=version.number == 1,
    )


def _steps_between(chain: Chain, versions: list[Version]) -> Steps:
    """Every step that can lie between these versions: snapshots are numbered as they are made."""
    numbers = [version.snapshot_id for version in versions]
    made = Snapshot.objects.filter(history=chain.history, pk__range=(min(numbers, default=0), max(numbers, default=0)))
    return {pk: (parent, operation) for pk, parent, operation in made.values_list("pk", "parent_id", "operation")}


def _operations(version: Version, older: Version | None, steps: Steps) -> list[str]:
    """Of all steps between the version before and this one, first to last; an old state again is a restore."""
    made: list[str] = []
    at: int | None = version.snapshot_id
    stop = older.snapshot_id if older is not None else None
    while at in steps and at != stop:
        at, operation = steps[at]
        made.append(operation)
    return made[::-1] if made and at == stop else ["restore"]


def _delta(now: Snapshot, before: Snapshot | None) -> tuple[str, str]:
    if before is None:
        return "first version", "quiet"
    change = now.size - before.size
    if not change:
        return "same size", "quiet"
    if before.size and abs(change) * 1000 >= before.size:
        share = 100 * change / before.size
        text = f"{share:+.0f}%" if abs(share) >= 10 else f"{share:+.1f}%"
    else:
        text = f"{'+' if change > 0 else ''}{byte_text(change)}"
    return text.replace("-", "−"), "ok" if change < 0 else "changed"


def _what(now: Snapshot, before: Snapshot | None) -> str:
    if before is None:
        return f"{now.messages:,} message{'' if now.messages == 1 else 's'}"
    change = now.messages - before.messages
    if not change:
        return f"still {now.messages:,} messages"
    return f"{abs(change):,} message{'' if abs(change) == 1 else 's'} {'more' if change > 0 else 'fewer'}"
