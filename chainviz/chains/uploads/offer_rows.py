"""The chains of a file as rows to pick from: what each holds, and which are earlier states of another one.

A log of requests holds a growing chain again in every request (issue 10): a chain whose messages all begin another one is
folded under that. Where nobody is asked, its earlier states are its first versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chainviz.chains.models import Chain
from chainviz.chains.titles import file_title
from chainviz.chains.uploads.imports import key_of, size_of
from chainviz.chains.versions import heads
from chainviz.core.chain.messages import Message, Part
from chainviz.core.chain.parse import parse
from chainviz.core.chain.prefixes import Beginnings, beginnings, earlier_states, final_states
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
    is_understood: bool = True
    """False where providers cannot be fully checked (Envelope.unread)."""
    beginnings: Beginnings = ()


def rows_of(source: Source, offers: Sequence[Offer], known: Sequence[Chain | None], file_name: str) -> list[dict[str, Any]]:
    """The offers as they are kept until somebody chose."""
    contents = [_content(source, offer) for offer in offers]
    finals = _finals(contents)
    return [
        {
            "key": key_of(offer),
            "title": file_title(file_name, offer.found.title),
            "formats": [each.name for each in offer.formats],
            "messages": None if content is None else len(content.beginnings),
            "begins": content.begins if content else "",
            "problems": content.problems if content else None,
            "size": size_of(offer),
            "notes": list(offer.found.warnings),
            "unchecked": bool(offer.found.unread) if content is None else not content.is_understood,
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
    finals = _finals(contents)
    lengths = [None if content is None else len(content.beginnings) for content in contents]
    together = _with_states(offers, finals, lengths)
    return [offer for place, offer in enumerate(together) if finals[place] == place]


def _with_states(offers: Sequence[Offer], finals: Sequence[int], lengths: Sequence[int | None]) -> list[Offer]:
    earlier = earlier_states(finals, lengths)
    return [
        replace(offer, earlier=tuple(offers[each] for each in places)) for offer, places in zip(offers, earlier, strict=True)
    ]


def _finals(contents: Sequence[_Content | None]) -> list[int]:
    return final_states([content.beginnings if content else () for content in contents])


def _content(source: Source, offer: Offer, *, is_judged: bool = True) -> _Content | None:
    """None where it cannot be read to its end."""
    messages: list[Message] = []
    begins = ""
    is_judged = is_judged and size_of(offer) <= JUDGED
    reader = read_chain(source, offer.found, offer.formats[0])

    def contents() -> Iterator[tuple[str, tuple[Part, ...]]]:
        nonlocal begins
        for message in reader:
            begins = begins or (heads.first_words(message) if message.role == "human" else "")
            if is_judged:
                # sources are not needed, and would be the most of it
                messages.append(replace(message, source=()))
            yield message.role, message.parts

    try:
        keys = tuple(beginnings(contents()))
    except DocumentError:
        return None
    problems = [each for each in tree_problems(parse(messages)) if each.is_counted]
    return _Content(begins, len(problems) if is_judged else None, not reader.envelope.unread, keys)
