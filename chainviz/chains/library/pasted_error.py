"""An API error in the search field of the library. It finds the chain with an id from the error, or the chains that it may concern."""

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
"""The most characters of an error that are read."""
SHORTEST = 20
"""The fewest characters of an error. A shorter text is a search."""
LOOKED_AT, SHOWN = 200, 8
"""The number of chains that are searched, and listed, latest changes first."""
MOST_IDS = 8
READ = 50
"""The number of chains whose content is searched for an id that is not in the search index, latest changes first."""
READ_BYTES = 32_000_000
"""The most bytes of these chains together."""


@dataclass(frozen=True, slots=True)
class Suspect:
    title: str
    url: str
    """The address of the chain's problems, with the place of the error."""
    is_rejected: bool
    """An API with this error message has an error or a warning for the chain."""
    place: str = ""
    """The node of the error, if the chain has an id from the error."""
    chain: int = 0
    fix_url: str = ""
    """The address of the page with the smallest fix."""


@dataclass(frozen=True, slots=True)
class Suspects:
    """The answer to a pasted error; empty if the text is not one."""

    chains: tuple[Suspect, ...] = ()
    """The possible chains, likeliest first."""
    ids: tuple[str, ...] = ()
    """The ids in the error."""
    have_id: bool = False
    """Whether the chains have one of the ids."""

    @property
    def only(self) -> Suspect | None:
        """The only chain with an id from the error; None if there is none."""
        return self.chains[0] if self.have_id and len(self.chains) == 1 else None

    def __bool__(self) -> bool:
        return bool(self.chains)


def suspects(chains: ChainQuerySet, text: str) -> Suspects:
    """Return the chains that the error may concern: those with an id from it; otherwise chains that its API would refuse come first."""
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
    """Yield the chains with an id from the error, each with the place of the error."""
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
