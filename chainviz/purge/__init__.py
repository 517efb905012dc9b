"""Purging values of a chain for good: the store does it to contents, this to everything else that may hold them.

The one package that knows every app: titles, file names, arrivals, jobs, summaries, audit. What cannot be done inside
a transaction, so that the bytes leave the database's files as well, comes last.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from typing import Any

from django.apps import apps
from django.db import DatabaseError, connection, models, transaction

from chainviz.chains import audit
from chainviz.chains.heads import copy_head
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.staging import forget, is_there, path_of
from chainviz.core.errors import Refused
from chainviz.core.paths import Path, parse_path
from chainviz.core.secrets.places import texts_of
from chainviz.jobs.models import AsciiJSONField, Job
from chainviz.store.blanking import Blanks
from chainviz.store.chain import StoredChain
from chainviz.store.models import Version
from chainviz.store.packed import pack, unpack
from chainviz.store.purge_values import Reach, Renamed, heads, purge_values

SHORTEST = 4
SHORTEST_TEXT = 8
"""A shorter text of a chosen message stays: the same word stands in too many other places."""
MOST_VALUES = 200
log = logging.getLogger(__name__)
LABELS = ("chains", "drafts", "jobs", "reviews")


def values_in(text: str) -> tuple[str, ...]:
    """One a line; Refused, in a sentence, for what would damage too much."""
    values = tuple(dict.fromkeys(line.strip("\r") for line in text.split("\n") if line.strip()))
    short = [value for value in values if len(value.strip()) < SHORTEST]
    if short:
        raise Refused(f"A value needs at least {SHORTEST} characters: a shorter one stands in too many places.")
    if len(values) > MOST_VALUES:
        raise Refused(f"At most {MOST_VALUES} values can be purged at once; these are {len(values)}.")
    return values


def texts_at(chain: StoredChain, paths: Sequence[str]) -> tuple[str, ...]:
    """The texts of whole messages, as values."""
    found: dict[str, None] = {}
    for word in paths:
        path = parse_path(word)
        for message in chain.at(Path(path.section, path.pair, path.message)):
            for part in message.parts:
                found |= dict.fromkeys(text for _, text in texts_of(part) if len(text.strip()) >= SHORTEST_TEXT)
    return tuple(found)


def purge(chain: Chain, values: Sequence[str], *, by: Any) -> Reach:
    """Every chain that shares the upload is blanked; what was done is noted, never to what. `settle` comes after it."""
    if not values:
        raise Refused("There is nothing to purge: give a value, or the path of a message.")
    blanks = Blanks(values)
    with transaction.atomic():
        found, renamed = purge_values(chain.history, values, reason="values purged")
        chains = list(Chain.objects.filter(history__in=found.histories))
        _chains(chains, renamed, blanks)
        for model in (model for label in LABELS if apps.is_installed(f"chainviz.{label}") for model in _models(label)):
            _rows(_of_chains(model, chains), blanks)
        _arrivals(chains, blanks)
        record = {"values": len(values), "places": found.places, "chains": sorted(each.pk for each in chains)}
        audit.note(chain, by, "purge", record)
    return found


def _models(label: str) -> list[type[models.Model]]:
    return list(apps.get_app_config(label).get_models())


def _chains(chains: Sequence[Chain], renamed: Sequence[Renamed], blanks: Blanks) -> None:
    digests = {each.old: each.new for each in renamed}
    by_history = {version.history_id: version for version in heads(chain.history for chain in chains)}
    for chain in chains:
        chain.sha256 = digests.get(chain.sha256, chain.sha256)
        version: Version | None = by_history.get(chain.history)
        if version is not None:
            copy_head(chain, version)
        chain.title = blanks.text(chain.title)
        chain.save()


def _of_chains(model: type[models.Model], chains: Sequence[Chain]) -> models.QuerySet[Any]:
    """The rows of a model that belong to these chains, or, where it does not say, to their owners."""
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
        if other is not None and any(each.name == "chain" for each in other._meta.get_fields()):
            return rows.filter(**{f"{name}__chain__in": keys})
    if model is Job:
        return rows.filter(owner__in={chain.owner_id for chain in chains})
    return rows


def _rows(rows: models.QuerySet[Any], blanks: Blanks) -> None:
    fields = [field for field in rows.model._meta.concrete_fields if _may_hold(field)]
    for row in rows.only("pk", *(field.attname for field in fields)).iterator(chunk_size=200):
        changed = []
        for field in fields:
            old = getattr(row, field.attname)
            new = _blanked(field, old, blanks)
            if new != old:
                setattr(row, field.attname, new)
                changed.append(field.attname)
        if changed:
            row.save(update_fields=changed)


def _may_hold(field: Any) -> bool:
    kinds = (models.CharField, models.TextField, models.BinaryField, models.JSONField, AsciiJSONField)
    return isinstance(field, kinds) and not field.choices and not field.primary_key


def _blanked(field: Any, old: Any, blanks: Blanks) -> Any:
    if isinstance(field, models.BinaryField):
        packed = None if old is None else bytes(old)
        return old if packed is None else _packed(packed, blanks, old)
    return blanks.plain(old)


def _packed(content: bytes, blanks: Blanks, old: Any) -> Any:
    try:
        held = unpack(content)
    except Exception:
        blanked = blanks.blank(content)
        return old if blanked == content else blanked
    new = blanks.plain(held)
    return old if new == held else pack(new)


def _arrivals(chains: Sequence[Chain], blanks: Blanks) -> None:
    """Uploads that became these chains, or that wait with the same bytes, are forgotten."""
    for arrival in Arrival.objects.filter(owner__in={chain.owner_id for chain in chains}):
        if arrival.chain in chains or _waits_with(arrival.waiting, blanks):
            if arrival.waiting:
                transaction.on_commit(partial(forget, arrival.waiting))
            arrival.delete()


def _waits_with(waiting: str, blanks: Blanks) -> bool:
    return bool(waiting) and is_there(waiting) and blanks.count(path_of(waiting).read_bytes()) > 0


def settle() -> bool:
    """The bytes leave the database's files too: what a transaction frees stays in a log or in free space else.
    False where others use the database at this moment; the next purge, or a vacuum by hand, does it then."""
    try:
        _vacuum()
    except DatabaseError:
        log.exception("the database could not be vacuumed after a purge")
        return False
    return True


def _vacuum() -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            for label in ("store", *LABELS):
                for model in _models(label) if apps.is_installed(f"chainviz.{label}") else ():
                    cursor.execute(f"VACUUM (FULL) {connection.ops.quote_name(model._meta.db_table)}")
