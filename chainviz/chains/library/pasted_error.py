"""An error message of an API in the library's search field: the chain that has an id which it names, else those that it may be about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, takewhile
from urllib.parse import urlencode

from django.urls import reverse

from chainviz.chains.explorer.pasted_error import located
from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.core.pasted_errors.locate import FEW, providers_of
from chainviz.core.pasted_errors.message import ErrorMessage, read_error
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import History
from chainviz.store.outline.build import OutlineMissing
from chainviz.store.query.find import messages_with_id
from chainviz.store.search.lookup import Phrase, histories_with
from chainviz.web.http import url_or_nothing

LONGEST = 4_000
"""Characters of a message that are looked at."""
SHORTEST = 20
"""A shorter text is a word to filter by."""
LOOKED_AT, SHOWN = 200, 8
"""Chains, the ones changed last."""
MOST_IDS = 8
READ = 50
"""Chains that are looked through for an id which the search index does not have, the ones changed last …"""
READ_BYTES = 32_000_000
"""… and how long they may be together."""


@dataclass(frozen=True, slots=True)
class Suspect:
    title: str
    url: str
    """Of its problems, with the message looked for in it."""
    is_rejected: bool
    """Whether an API that answers with this message has an error or a warning for it, of whatever kind."""
    place: str = ""
    """The node that the message is about, where the chain has an id which it names."""
    chain: int = 0
    fix_url: str = ""
    """Of the page with the smallest fix."""


@dataclass(frozen=True, slots=True)
class Suspects:
    """The answer to a pasted error; empty if the text is not one."""

    chains: tuple[Suspect, ...] = ()
    """The likeliest first."""
    ids: tuple[str, ...] = ()
    """Ids that the message names."""
    have_id: bool = False
    """Whether the chains have one of the ids."""

    @property
    def only(self) -> Suspect | None:
        """The chain that an id decides for."""
        return self.chains[0] if self.have_id and len(self.chains) == 1 else None

    def __bool__(self) -> bool:
        return bool(self.chains)


def suspects(chains: ChainQuerySet, text: str) -> Suspects:
    """The chains that have an id of the error decide; without one, those that its API has something against come first."""
    error = read_error(text[:LONGEST]) if len(text) > SHORTEST else None
    if error is None or not (error.is_sure or error.looks_like_error):
        return Suspects()
    found = tuple(_suspect(chain, error, text, path) for chain, path in _with_ids(chains, error))
    if found:
        return Suspects(found[:SHOWN], error.ids or error.looks_like_ids[:1], have_id=True)
    if not error.is_sure:
        return Suspects()
    newest = [_suspect(chain, error, text) for chain in chains.order_by("-changed_at")[:LOOKED_AT]]
    return Suspects(tuple(sorted(newest, key=lambda each: not each.is_rejected)[:SHOWN]), error.ids)


def _suspect(chain: Chain, error: ErrorMessage, text: str, place: str = "") -> Suspect:
    names = {provider.name for provider in providers_of(error, "")}
    rejected = any(sum(numbers[:2]) for name, numbers in chain.verdicts.items() if name in names)
    address, query = reverse("chains:problems", args=[chain.pk, chain.version]), urlencode({"error": text[:LONGEST]})
    fix = url_or_nothing("fix_session", chain.pk)
    return Suspect(chain.title, f"{address}?{query}", rejected, place, chain.pk, f"{fix}?{query}" if fix else "")


def _with_ids(chains: ChainQuerySet, error: ErrorMessage) -> Iterator[tuple[Chain, str]]:
    """The chains that have an id which the error names, each with the place that the error is about."""
    ids = (*error.ids, *error.looks_like_ids)[:MOST_IDS]
    if not ids:
        return
    near = {chain.pk: chain for chain in (*_indexed(chains, ids), *_newest(chains))}
    heads = History.objects.select_related("head__snapshot").filter(pk__in=[chain.history for chain in near.values()], head__isnull=False)
    stored = {history.pk: StoredChain(history.head.snapshot) for history in heads if history.head is not None}
    for chain in near.values():
        with suppress(OutlineMissing, KeyError):  # a job is rebuilding the outline, or a purge runs
            if any(_has(stored[chain.history], id, is_named=id in error.ids) for id in ids):
                yield chain, str(located(stored[chain.history], error).path or "")


def _has(chain: StoredChain, id: str, *, is_named: bool) -> bool:
    found = messages_with_id(chain, id, FEW + 1)
    return bool(found) and (is_named or len(found) <= FEW)


def _indexed(chains: ChainQuerySet, ids: tuple[str, ...]) -> list[Chain]:
    among = set(chains.values_list("history", flat=True))
    phrases = (phrase for id in ids if (phrase := Phrase.of(id)).words)
    found = {history for phrase in phrases for history in histories_with(phrase, among)}
    return list(chains.filter(history__in=found).order_by("-changed_at")[:READ])


def _newest(chains: ChainQuerySet) -> list[Chain]:
    newest = list(chains.order_by("-changed_at")[:READ])
    lengths = accumulate(chain.size for chain in newest)
    return [chain for chain, _ in takewhile(lambda pair: pair[1] <= READ_BYTES, zip(newest, lengths, strict=True))]
