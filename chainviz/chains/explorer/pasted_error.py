"""An error message of an API, pasted on a chain's page: where the error lies, and what fixes it. Reads no bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlencode

from chainviz.chains.explorer.page import repair_url_of
from chainviz.chains.explorer.subject import Subject
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.operations.repair.fixes import CHOICES
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.errors.error_messages import ErrorMessage, read_error
from chainviz.core.providers.errors.locate_error import providers_of, ranked, rules_of, sent_together, unseen_fixes
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.spans import unpack_spans
from chainviz.store.query.find import find
from chainviz.store.query.problems import Wanted, problems

LONGEST = 4_000
"""Characters of a pasted message."""
MOST = 2_000
"""Problems of a provider among which the error is looked for."""


@dataclass(frozen=True, slots=True)
class FixLink:
    label: str
    explanation: str
    url: str


@dataclass(frozen=True, slots=True)
class PastedError:
    text: str
    """The API's own words."""
    provider: Provider | None
    problem: Problem | None
    """What the rules find there; None where the chain has no such problem (any more)."""
    path: Path | None
    url: str
    """Of the node in the chain; "" where nothing is named."""
    more: int
    """Other problems of the same class."""
    fixes: tuple[FixLink, ...]


def looks_like_error(text: str) -> bool:
    return len(text) > 20 and bool(read_error(text).classes)


def error_url(subject: Subject, text: str) -> str:
    return f"{subject.base_url}problems?{urlencode({'error': text[:LONGEST]})}"


def pasted_error(subject: Subject, text: str) -> PastedError:
    error = read_error(text[:LONGEST])
    places = set(_places(error, subject.stored))
    asked = providers_of(error, subject.snapshot.format)
    for provider in asked:
        wanted = Wanted(provider.name)
        listed = problems(subject.stored, count=MOST, wanted=wanted).problems
        found = ranked((each for each in islice(listed, MOST) if each.rule in rules_of(error)), error, places)
        if found:
            return _told(subject, error, provider, found)
    path = subject.stored.outline.path_at(min(places)) if places else _path_of_id(error, subject.stored)
    fixes = tuple(_fix_links(subject, unseen_fixes(error, places), f"&since={path}"))
    return PastedError(error.text, asked[0] if asked else None, None, path, _url(subject, path), 0, fixes)


def _told(subject: Subject, error: ErrorMessage, provider: Provider, found: tuple[Problem, ...]) -> PastedError:
    best = found[0]
    fixes = tuple(_fix_links(subject, best.fixes))
    return PastedError(error.text, provider, best, best.path, _url(subject, best.path), len(found) - 1, fixes)


def _fix_links(subject: Subject, names: Sequence[str], query: str = "") -> Iterator[FixLink]:
    repair_url = repair_url_of(subject)
    return (FixLink(*CHOICES[name], f"{repair_url}&kind={name}{query}") for name in names if repair_url)


def _url(subject: Subject, path: Path | None) -> str:
    return f"{subject.base_url}at/{path}#{path.dom_id}" if path is not None else ""


def _places(error: ErrorMessage, chain: StoredChain) -> list[int]:
    """The messages of the chain at the place that the error names."""
    if error.message is None or error.message >= len(chain):
        return []
    # a message of the request can be several of the chain, and one of the system comes before them
    rows = chain.rows(0, 2 * error.message + 16)
    return sent_together(error.message, (unpack_spans(row.source)[0].ordinal for row in rows))


def _path_of_id(error: ErrorMessage, chain: StoredChain) -> Path | None:
    hits = (hit for id in error.ids for hit in find(chain, id, case_sensitive=True).hits[:1])
    return next((hit.path for hit in hits), None)
