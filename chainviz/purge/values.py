"""The values that a purge removes, which a person typed or chose as whole texts, and the rows of all apps that contain them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.apps import apps
from django.db import models, transaction
from django.http import Http404

from chainviz.accounts.models import Membership, Team, User
from chainviz.bulk.models import BulkRun
from chainviz.chains.exports.removed_values import removed_from
from chainviz.chains.models import Arrival, AuditEntry, Chain, LocalFile
from chainviz.chains.secrets.files import each_finding
from chainviz.chains.secrets.findings import AT_ONCE, Reader, is_long, scan
from chainviz.chains.secrets.scans import latest_scan, spots_of
from chainviz.chains.titles import set_title
from chainviz.chains.uploads.staging import forget, is_there, orphans, path_of
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.counts import count_text
from chainviz.core.errors import Refused
from chainviz.core.secrets.part_texts import texts_of
from chainviz.drafts.summaries import runs as summaries
from chainviz.drafts.summaries.models import SummaryPiece, SummaryRun
from chainviz.jobs.models import AsciiJSONField, Job
from chainviz.recipes.models import Recipe, WordList
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import pack, unpack
from chainviz.store.history.drafts import head_of
from chainviz.store.models import History, Snapshot, Version
from chainviz.store.purge.blanking import Blanks
from chainviz.store.purge.delete import purging
from chainviz.store.purge.values import Reach, Renamed, heads
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


LABELS = ("sessions_index", "chains", "drafts", "jobs", "review", "recipes", "bulk")
PIECE = 1 << 20
OWN_NAMES = (AuditEntry, BulkRun, Job)
"""Tables whose JSON objects have fixed keys, which pages use by name."""


def blank_rows(found: Reach, renamed: Sequence[Renamed], blanks: Blanks) -> list[Chain]:
    """Blank values in the rows of all apps, in the transaction of the purge. Return the chains that it changed."""
    chains = list(Chain.objects.select_for_update().filter(history__in=found.histories).order_by("pk"))
    _chains(chains, renamed, blanks)
    _stop_summaries(chains)
    with purging("values purged"):
        for model in _tables():
            for row, changed in _changes(_of_chains(model, chains), blanks):
                for name, value in changed.items():
                    setattr(row, name, value)
                row.save(update_fields=list(changed))
    _arrivals(chains, blanks)
    return chains


def places_in_rows(histories: Collection[int], values: Sequence[str]) -> int:
    """Count the columns with one of the values. Jobs are excluded, since the one that counts contains what was typed."""
    chains, blanks = list(Chain.objects.filter(history__in=histories)), Blanks(values)
    models = (model for model in _tables() if model not in (Arrival, Job))
    return sum(len(changed) for model in models for _, changed in _changes(_of_chains(model, chains), blanks))


def masks_with(chains: Collection[Chain], values: Sequence[str]) -> list[str]:
    """Return the names of word lists and recipes that contain one of the values: a purge removes it from them, and they
    no longer mask it."""
    blanks = Blanks(values)
    return [str(row) for model in (WordList, Recipe) for row, _ in _changes(_of_chains(model, list(chains)), blanks)]


def _tables() -> Iterator[type[models.Model]]:
    """Yield the tables to clean. An append-only table has no text of a chain and outlives it; only audit entries have
    names of tools."""
    for label in filter(lambda label: apps.is_installed(f"chainviz.{label}"), LABELS):
        for model in models_of(label):
            if model is AuditEntry or not getattr(model, "is_append_only", False):
                yield model


def _stop_summaries(chains: Sequence[Chain]) -> None:
    """Stop running writers, which read the old content: they lose their claims, so that their texts are dropped."""
    for run in SummaryRun.objects.filter(chain__in=chains):
        summaries.stop(run)
        summaries.release(run.pieces.filter(state=SummaryPiece.State.WRITING))


def models_of(label: str) -> list[type[models.Model]]:
    return list(apps.get_app_config(label).get_models())


def _chains(chains: Sequence[Chain], renamed: Sequence[Renamed], blanks: Blanks) -> None:
    digests = {each.old: each.new for each in renamed}
    by_history = {version.history_id: version for version in heads(chain.history for chain in chains)}
    for chain in chains:
        chain.sha256 = digests.get(chain.sha256, chain.sha256)
        version: Version | None = by_history.get(chain.history)
        if version is not None:
            chain.size = version.snapshot.size
            set_title(chain, version.snapshot)
        chain.title = blanks.text(chain.title)
        # the file on disk still holds the value
        LocalFile.objects.filter(chain=chain).delete()
        chain.save(update_fields=["sha256", "size", "title", "titled_by"])


def _of_chains(model: type[models.Model], chains: Sequence[Chain]) -> models.QuerySet[Any]:
    """Return the rows of a model that belong to these chains, or, if it has no chain, to the people of their teams."""
    names = {field.name: field for field in model._meta.get_fields()}
    rows = model._default_manager.all()
    keys = [chain.pk for chain in chains]
    if model is Chain:
        return rows.filter(pk__in=keys)
    if "chain_key" in names:
        return rows.filter(chain_key__in=keys)
    if "chain" in names:
        return rows.filter(chain__in=keys)
    for name, field in names.items():
        other = field.related_model if field.many_to_one else None
        if other is Team:
            return rows.filter(**{f"{name}__in": {chain.team_id for chain in chains}})
        if other is not None and any(each.name == "chain" for each in other._meta.get_fields()):
            return rows.filter(**{f"{name}__chain__in": keys})
    if model is Job:
        people = Membership.objects.filter(team__in={chain.team_id for chain in chains})
        return rows.filter(owner__in=people.values("user"))
    return rows


def _changes(rows: models.QuerySet[Any], blanks: Blanks) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield each row with one of the values, and its columns without them."""
    fields = [field for field in rows.model._meta.concrete_fields if _may_hold(field)]
    for row in rows.only("pk", *(field.attname for field in fields)).iterator(chunk_size=200):
        new = _purged(row, fields, blanks)
        changed = {name: value for name, value in new.items() if value != getattr(row, name)}
        if changed:
            yield row, changed


def _purged(row: Any, fields: Sequence[Any], blanks: Blanks) -> dict[str, Any]:
    """Return the columns without the values. Some models remove values by their own rules."""
    if hasattr(row, "purged"):
        return dict(row.purged(blanks.plain))
    return {field.attname: _blanked(field, getattr(row, field.attname), blanks) for field in fields}


def _may_hold(field: Any) -> bool:
    kinds = (models.CharField, models.TextField, models.BinaryField, models.JSONField, AsciiJSONField)
    return isinstance(field, kinds) and not field.choices and not field.primary_key


def _blanked(field: Any, old: Any, blanks: Blanks) -> Any:
    if isinstance(field, models.BinaryField):
        packed = None if old is None else bytes(old)
        return old if packed is None else _packed(field, packed, blanks)
    return _plain(field, old, blanks)


def _plain(field: Any, value: Any, blanks: Blanks) -> Any:
    if field.model in OWN_NAMES and isinstance(value, dict):
        return {name: blanks.plain(each) for name, each in value.items()}
    return blanks.plain(value)


def _packed(field: Any, old: bytes, blanks: Blanks) -> bytes:
    try:
        held = unpack(old)
    except Exception:
        return blanks.blank(old)
    new = _plain(field, held, blanks)
    return old if new == held else pack(new)


def _arrivals(chains: Sequence[Chain], blanks: Blanks) -> None:
    """Delete the arrivals that became these chains, or that wait with the same bytes."""
    numbers = {chain.pk for chain in chains}
    for arrival in Arrival.objects.filter(team__in={chain.team_id for chain in chains}):
        if numbers.intersection([arrival.chain_id, *arrival.added]) or _waits_with(arrival.waiting, blanks):
            if arrival.waiting:
                transaction.on_commit(partial(forget, arrival.waiting))
            arrival.delete()
    for name in _orphans_with(blanks):
        transaction.on_commit(partial(forget, name))


def waiting_files(chain: Chain, values: Sequence[str]) -> int:
    """Count the waiting uploads of the chain's team and orphan files with one of the values; a purge deletes them."""
    blanks = Blanks(values)
    arrivals = Arrival.objects.filter(team=chain.team_id).exclude(waiting="").values_list("waiting", flat=True)
    return sum(_waits_with(name, blanks) for name in arrivals) + len(list(_orphans_with(blanks)))


def _orphans_with(blanks: Blanks) -> Iterator[str]:
    """Return the names of waiting files with a value that belong to no arrival, so that their owner is unknown."""
    known = set(Arrival.objects.exclude(waiting="").values_list("waiting", flat=True))
    return (name for name in orphans(known) if _waits_with(name, blanks))


def _waits_with(waiting: str, blanks: Blanks) -> bool:
    return bool(waiting) and is_there(waiting) and next(blanks.find(_pieces(waiting)), None) is not None


def _pieces(waiting: str) -> Iterator[bytes]:
    with path_of(waiting).open("rb") as file:
        while piece := file.read(PIECE):
            yield piece
