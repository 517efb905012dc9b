"""Load the chains of one session for its facts, each message once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainviz.core.chain.messages import Message
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import Envelope
from chainviz.core.formats.offers import Offer
from chainviz.core.formats.reader import read_chain
from chainviz.core.load import LoadedChain, load_offer, offers_with_notes, without_shared


@dataclass(frozen=True, slots=True)
class LoadedSession:
    main: LoadedChain
    """The chain with the most messages."""
    parts: Sequence[Sequence[Message]]
    """The messages of the main chain, and for each other chain those that no earlier part contains."""
    other_envelopes: Sequence[Envelope] = ()
    """The envelopes of the other chains that are separate documents; threads of one document share that of the main
    chain."""


def load_session(source: Source) -> LoadedSession:
    """Raise DocumentError, in a sentence, where no chain can be read."""
    offers = offers_with_notes(source)
    if all(offer.found.only is not None for offer in offers):
        return _load_threads(source, offers)
    chains = [load_offer(source, offer) for offer in offers]
    main = max(chains, key=lambda each: len(each.messages))
    others = [each for each in chains if each is not main]
    parts = without_shared([main.messages, *(each.messages for each in others)])
    return LoadedSession(main, parts, [each.envelope for each in others])


def _load_threads(source: Source, offers: Sequence[Offer]) -> LoadedSession:
    """Load threads, which share the lines of one file: of all but the longest one only the messages, from their own lines."""
    likely = max(offers, key=lambda offer: len(offer.found.only or ()))
    main = load_offer(source, likely)
    threads = [
        main.messages if offer is likely else tuple(read_chain(source, offer.found.without_others(), offer.formats[0]))
        for offer in offers
    ]
    longest = max(range(len(offers)), key=lambda number: len(threads[number]))
    if offers[longest] is not likely:
        main = load_offer(source, offers[longest])
    return LoadedSession(main, without_shared([main.messages, *threads[:longest], *threads[longest + 1 :]]))
