"""The chains of a file as rows to pick from: what each holds, and which are earlier states of another one.

A log of requests holds a growing chain again in every request (issue 10): a chain whose messages all begin another one is
folded under that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import itemgetter
from typing import Any

from chainviz.chains.models import Chain
from chainviz.chains.uploads.imports import key_of, size_of, title_of
from chainviz.chains.versions import heads
from chainviz.core.chain.messages import Message
from chainviz.core.chain.parse import parse
from chainviz.core.chain.problems import tree_problems
from chainviz.core.documents.source import Source
from chainviz.core.errors import DocumentError
from chainviz.core.formats.offers import Offer
from chainviz.core.formats.reader import read_chain

COUNTED = 32_000_000
"""Bytes up to which each list is read before anybody chose."""


@dataclass(frozen=True, slots=True)
class _Content:
    begins: str = ""
    """What the first person in it says."""
    problems: int = 0
    hashes: tuple[int, ...] = ()
    """Of the messages up to each one."""


def rows_of(source: Source, offers: Sequence[Offer], known: Sequence[Chain | None], file_name: str) -> list[dict[str, Any]]:
    """The offers as they are kept until somebody chose."""
    contents = [_content(source, offer) for offer in offers] if source.size <= COUNTED else [None for _ in offers]
    finals = _final_states(contents)
    return [
        {
            "key": key_of(offer),
            "title": title_of(offer, file_name),
            "formats": [each.name for each in offer.formats],
            "messages": None if content is None else len(content.hashes),
            "begins": content.begins if content else "",
            "problems": content.problems if content else 0,
            "size": size_of(offer),
            "notes": list(offer.found.warnings),
            "unchecked": bool(offer.found.not_understood),
            "chain": chain.pk if chain is not None else None,
            "final": "" if final == place else key_of(offers[final]),
        }
        for place, (offer, chain, content, final) in enumerate(zip(offers, known, contents, finals, strict=True))
    ]


def with_earlier_states(offers: Sequence[Offer], rows: Sequence[dict[str, Any]]) -> list[Offer]:
    """The offers, each with those that are earlier states of it; of equal states the first one."""
    by_key = {key_of(offer): offer for offer in offers}
    lengths = {row["key"]: row["messages"] for row in rows}
    states: dict[str, dict[int, Offer]] = defaultdict(dict)
    for row in rows:
        if row.get("final") and row["messages"] != lengths[row["final"]]:
            states[row["final"]].setdefault(row["messages"], by_key[row["key"]])
    return [
        replace(offer, earlier=tuple(each for _, each in sorted(states[key].items(), key=itemgetter(0))))
        for key, offer in by_key.items()
    ]


def _content(source: Source, offer: Offer) -> _Content | None:
    """None where it cannot be read to its end."""
    messages: list[Message] = []
    try:
        # sources are not needed, and would be the most of it
        messages += (replace(message, source=()) for message in read_chain(source, offer.found, offer.formats[0]))
    except DocumentError:
        return None
    begins = next((words for each in messages if each.role == "human" and (words := heads.first_words(each))), "")
    problems = sum(1 for problem in tree_problems(parse(messages)) if problem.severity in ("error", "warning"))
    hashes = accumulate((hash((each.role, each.parts)) for each in messages), lambda one, other: hash((one, other)))
    return _Content(begins, problems, tuple(hashes))


def _final_states(contents: Sequence[_Content | None]) -> list[int]:
    """For each chain the place of the longest one that begins with it, which may be itself."""
    longest: dict[int, int] = {}
    for place, content in enumerate(contents):
        for each in content.hashes if content else ():
            best = contents[longest[each]] if each in longest else None
            if best is None or len(best.hashes) < len(content.hashes if content else ()):
                longest[each] = place
    return [longest[each.hashes[-1]] if each and each.hashes else place for place, each in enumerate(contents)]
