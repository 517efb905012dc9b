"""Show on a chain's page the place of a pasted API error, and its fix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from chainviz.chains.explorer.page import repair_url_of
from chainviz.chains.explorer.subject import Subject
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.operations.repair.fixes import CHOICES
from chainviz.core.pasted_errors.locate import (
    FEW,
    NEAR,
    LocatedError,
    Places,
    locate_error,
    places_of,
    providers_of,
    ranked,
    sent_together,
    unseen_fixes,
    what_was_tried,
)
from chainviz.core.pasted_errors.message import ErrorMessage, read_error
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.request import request_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import pieces_of, total_size
from chainviz.store.content.spans import unpack_spans
from chainviz.store.query.find import messages_with_id
from chainviz.store.query.problems import ProblemFilter, problems, problems_of

LONGEST = 4_000
"""The most characters of a pasted error."""
SHORTEST = 20
"""The fewest characters of an error. A shorter text is a search."""
READ_WHOLE = 4_000_000
"""Bytes of a chain whose messages are read for the answer; of a longer one the outline gives it, around the ids that the error names."""
MOST = 2_000
"""Problems of a provider among which the error is looked for in an outline."""
MOST_IDS = 16


@dataclass(frozen=True, slots=True)
class FixLink:
    label: str
    explanation: str
    url: str


@dataclass(frozen=True, slots=True)
class PastedError:
    text: str
    """The text of the API's error."""
    provider: Provider | None
    problem: Problem | None
    """The problem that the rules find at the place; None if the chain does not have it, or no longer has it."""
    path: Path | None
    url: str
    """The address of the node in the chain; "" if the error names none."""
    more: int
    """The number of other problems of the same class."""
    fixes: tuple[FixLink, ...]
    tried: tuple[str, ...] = ()
    """The texts that the message was compared with, if no problem was found."""


def looks_like_error(text: str) -> bool:
    error = read_error(text) if len(text) > SHORTEST else None
    return error is not None and (error.is_sure or (error.looks_like_error and bool(error.looks_like_ids)))


def error_url(subject: Subject, text: str) -> str:
    return f"{subject.base_url}problems?{urlencode({'error': text[:LONGEST]})}"


def pasted_error(subject: Subject, text: str) -> PastedError:
    error = read_error(text[:LONGEST])
    found = located(subject.stored, error)
    best = found.problems[0] if found.problems else None
    fixes = tuple(_fix_links(subject, found.fixes, "" if best else f"&since={found.path}"))
    more, tried = max(0, len(found.problems) - 1), tuple(what_was_tried(error, found)) if found.is_guess or best is None else ()
    return PastedError(error.text, found.provider, best, found.path, _url(subject, found.path), more, fixes, tried)


def located(chain: StoredChain, error: ErrorMessage) -> LocatedError:
    """Locate the error in a chain of the store."""
    if total_size(pieces_of(chain.snapshot)) <= READ_WHOLE:
        return locate_error(error, chain.slice(0, len(chain)), chain.format, request_of(chain.surroundings))
    places = _places(error, chain)
    asked = providers_of(error, chain.format)
    for provider in asked:
        listed = dict.fromkeys(_listed(chain, provider, places))
        found = ranked((each for each in listed if each.rule in error.rules), error, places)
        if found:
            return LocatedError(provider, found, found[0].path, found[0].fixes, places)
    path = chain.outline.path_at(min(places.best)) if places.best else None
    return LocatedError(asked[0] if asked else None, (), path, unseen_fixes(error, places), places)


def _listed(chain: StoredChain, provider: Provider, places: Places) -> Iterator[Problem]:
    """Yield the problems near the messages that the error names, wherever they are, then the first ones of the chain."""
    wanted = ProblemFilter(provider.name)
    named = (range(max(0, place - NEAR), min(len(chain), place + NEAR + 1)) for place in sorted(places.best)[:FEW])
    for path in dict.fromkeys(chain.outline.path_at(index).node for near in named for index in near):
        yield from problems_of(chain, path, wanted)
    yield from problems(chain, count=MOST, wanted=wanted).problems[:MOST]


def _fix_links(subject: Subject, names: Sequence[str], query: str = "") -> Iterator[FixLink]:
    repair_url = repair_url_of(subject)
    return (FixLink(*CHOICES[name], f"{repair_url}&kind={name}{query}") for name in names if repair_url)


def _url(subject: Subject, path: Path | None) -> str:
    return f"{subject.base_url}at/{path}#{path.dom_id}" if path is not None else ""


def _places(error: ErrorMessage, chain: StoredChain) -> Places:
    """Return the messages of the chain that the error names."""
    ids = (*error.ids, *error.looks_like_ids)[:MOST_IDS]
    found = {id: messages_with_id(chain, id, FEW + 1) for id in ids}
    by_index: list[int] = []
    if error.message is not None and error.message < len(chain):
        # a message of the request can be several of the chain, and one of the system comes before them
        rows = chain.rows(0, 2 * error.message + 16)
        by_index = sent_together(error.message, (unpack_spans(row.source)[0].ordinal for row in rows))
    return places_of(error, found, by_index)
