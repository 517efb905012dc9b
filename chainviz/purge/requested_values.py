"""Values that a person may purge: typed values, one a line, and the texts of whole messages.

The page begins with the values that were masked, read from the version before, and those found since.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import Http404

from chainviz.accounts.models import User
from chainviz.chains.exports.removed_values import removed_from
from chainviz.chains.models import Chain
from chainviz.chains.secrets.files import each_finding
from chainviz.chains.secrets.findings import AT_ONCE, Reader, is_long, scan
from chainviz.chains.secrets.scans import latest_scan, spots_of
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.counts import count_text
from chainviz.core.errors import Refused
from chainviz.core.secrets.part_texts import texts_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.history.versions import head_of
from chainviz.store.models import History, Snapshot, Version
from chainviz.store.transfer import exports

SHORTEST = 4
SHORTEST_TEXT = 8
"""A shorter text of a chosen message is kept, because the same word occurs in too many other places."""
MOST_VALUES = 200


def values_in(text: str) -> tuple[str, ...]:
    """Return the values, one a line. Raises Refused, with a sentence, for values that would damage too much."""
    values = tuple(dict.fromkeys(line.strip("\r") for line in text.split("\n") if line.strip()))
    short = [value for value in values if len(value.strip()) < SHORTEST]
    if short:
        raise Refused(f"A value needs at least {SHORTEST} characters: a shorter one occurs in too many places.")
    if len(values) > MOST_VALUES:
        raise Refused(f"At most {MOST_VALUES} values can be purged at once; these are {len(values)}.")
    return values


def with_other_cases(text: str) -> str:
    """Add, below each value, its spellings in small letters, in capitals and with initial capitals, one a line."""
    lines = [line.strip("\r") for line in text.split("\n") if line.strip()]
    return "\n".join(dict.fromkeys(each for line in lines for each in (line, line.lower(), line.upper(), line.capitalize(), line.title())))


def requested_values(chain: Chain, values: str, paths: str) -> tuple[str, ...]:
    """Return all values of a form. Raises Refused, or a ChainError of a path, in a sentence."""
    words = paths.replace(",", " ").split()
    found = (*values_in(values), *(_texts_at(_newest(chain), words) if words else ()))
    if not found:
        raise Refused("Give a value, or the path of a message.")
    return found


def _newest(chain: Chain) -> StoredChain:
    return StoredChain(head_of(History.objects.get(pk=chain.history)).snapshot)


def _texts_at(chain: StoredChain, paths: Iterable[str]) -> tuple[str, ...]:
    """Return the texts of whole messages, as values."""
    found: dict[str, None] = {}
    for word in paths:
        path = parse_path(word)
        for message in chain.at(Path(path.section, path.pair, path.message)):
            for part in message.parts:
                found |= dict.fromkeys(text for _, text in texts_of(part) if len(text.strip()) >= SHORTEST_TEXT)
    return tuple(found)


ARMOUR = "-----"
"""The beginning of the first and the last line of every key."""


@dataclass(frozen=True, slots=True)
class Prefilled:
    values: str
    """The values, one a line."""
    note: str


def prefilled(chain: Chain, number: int, user: User | None = None) -> Prefilled:
    """Return the values that the steps up to a version masked; for a user also those that the rules find in it and in
    its upload. Raises 404 for an unknown version, Refused if the masked ones cannot be known."""
    versions = Version.objects.select_related("snapshot__history", "snapshot__template__run__upload")
    version = versions.filter(history=chain.history, number=number).first()
    if version is None:
        raise Http404
    removed = removed_from(version.snapshot)
    masked = dict.fromkeys(removed.values)
    found, is_complete = _open_values(version.snapshot, user) if user else ({}, True)
    values = {**masked, **found}
    lines = dict.fromkeys(line.strip("\r") for value in values for line in value.split("\n") if not line.startswith(ARMOUR))
    fitting = [line for line in lines if len(line.strip()) >= SHORTEST]
    short = sum(bool(line.strip()) for line in lines) - len(fitting)
    left = max(0, len(fitting) - MOST_VALUES)
    said = [f"What was masked up to version {number} is purged."] if removed.purged and not masked else []
    if masked:
        said.append(f"{count_text(len(masked), 'value')} {'was' if len(masked) == 1 else 'were'} masked up to version {number}.")
    others = len(found.keys() - masked.keys())
    if others:
        said.append(f"{count_text(others, 'more value' if masked else 'value')} found in it or in its upload.")
        said.append("Delete the lines that should stay.")
    if short:
        said.append(f"{count_text(short, 'value')} shorter than {SHORTEST} characters left out: earlier versions keep what is so short.")
    if left:
        said.append(f"{left:,} more do not fit: purge again afterwards.")
    if not is_complete:
        said.append("It is too long to be scanned here: mask its secrets first, then purge what was masked.")
    return Prefilled("\n".join(fitting[:MOST_VALUES]), " ".join(said) or "No values were found.")


def _open_values(snapshot: Snapshot, user: User) -> tuple[dict[str, None], bool]:
    """Return the values that the rules find in a content and in its upload, and whether both were scanned."""
    chain, found = StoredChain(snapshot), dict[str, None]()
    job = latest_scan(snapshot, user) if is_long(chain) else None
    is_complete = job is not None or not is_long(chain)
    if is_complete:
        reader = Reader(chain)
        found.update(dict.fromkeys(reader.excerpt(spot).value for spot in (spots_of(job) if job else scan(chain))))
    upload = snapshot.template.run.upload if snapshot.template is not None else None
    if upload is not None and upload.size <= AT_ONCE:
        found.update(dict.fromkeys(each.value for each in each_finding(exports.original(upload))))
        return found, is_complete
    return found, is_complete and upload is None
