"""The chains of a file as rows to pick from: what each holds, and which are earlier states of another one.

A log of requests holds a growing chain again in every request (issue 10): a chain whose messages all begin another one is
folded under that. Where nobody is asked, its earlier states are its first versions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
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

JUDGED = 32_000_000
"""Bytes of a chain up to which its problems are counted before anybody chose: its messages are held in memory for it."""


@dataclass(frozen=True, slots=True)
class _Content:
    begins: str = ""
    """What the first person in it says."""
    problems: int | None = None
    """None where they were not counted."""
    hashes: tuple[int, ...] = ()
    """Of the messages up to each one."""


def rows_of(source: Source, offers: Sequence[Offer], known: Sequence[Chain | None], file_name: str) -> list[dict[str, Any]]:
    """The offers as they are kept until somebody chose."""
    contents = [_content(source, offer) for offer in offers]
    finals = _final_states(contents)
    return [
        {
            "key": key_of(offer),
            "title": title_of(offer, file_name),
            "formats": [each.name for each in offer.formats],
            "messages": None if content is None else len(content.hashes),
            "begins": content.begins if content else "",
            "problems": content.problems if content else None,
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
    places = {key_of(offer): place for place, offer in enumerate(offers)}
    finals = [places[row["final"]] if row.get("final") else place for place, row in enumerate(rows)]
    return _with_states(offers, finals, [row["messages"] for row in rows])


def folded(source: Source, offers: Sequence[Offer]) -> list[Offer]:
    """Each chain of the file with its earlier states."""
    if len(offers) == 1:
        return list(offers)
    contents = [_content(source, offer, is_judged=False) for offer in offers]
    finals = _final_states(contents)
    lengths = [None if content is None else len(content.hashes) for content in contents]
    together = _with_states(offers, finals, lengths)
    return [offer for place, offer in enumerate(together) if finals[place] == place]


def _with_states(offers: Sequence[Offer], finals: Sequence[int], lengths: Sequence[int | None]) -> list[Offer]:
    states: dict[int, dict[int, Offer]] = defaultdict(dict)
    for offer, final, length in zip(offers, finals, lengths, strict=True):
        if length is not None and length != lengths[final]:
            states[final].setdefault(length, offer)
    return [
        replace(offer, earlier=tuple(each for _, each in sorted(states[place].items(), key=itemgetter(0))))
        for place, offer in enumerate(offers)
    ]


def _content(source: Source, offer: Offer, *, is_judged: bool = True) -> _Content | None:
    """None where it cannot be read to its end."""
    messages: list[Message] = []
    hashes: list[int] = []
    begins = ""
    is_judged = is_judged and size_of(offer) <= JUDGED
    try:
        for message in read_chain(source, offer.found, offer.formats[0]):
            hashes.append(hash((hashes[-1] if hashes else 0, message.role, message.parts)))
            begins = begins or (heads.first_words(message) if message.role == "human" else "")
            if is_judged:
                # sources are not needed, and would be the most of it
                messages.append(replace(message, source=()))
    except DocumentError:
        return None
    problems = [each for each in tree_problems(parse(messages)) if each.severity in ("error", "warning")]
    return _Content(begins, len(problems) if is_judged else None, tuple(hashes))


def _final_states(contents: Sequence[_Content | None]) -> list[int]:
    """For each chain the place of the longest one that begins with it, which may be itself."""
    longest: dict[int, int] = {}
    for place, content in enumerate(contents):
        for each in content.hashes if content else ():
            best = contents[longest[each]] if each in longest else None
            if best is None or len(best.hashes) < len(content.hashes if content else ()):
                longest[each] = place
    return [longest[each.hashes[-1]] if each and each.hashes else place for place, each in enumerate(contents)]
