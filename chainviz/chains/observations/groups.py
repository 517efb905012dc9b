"""The cards of a window in groups: results of one message or pair, of one tool, or all by size."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from chainviz.chains.explorer.subject import Subject
from chainviz.chains.observations.cards import Card, CardWriter, Contents
from chainviz.chains.observations.filters import FORMAT_LABELS, FORMAT_STATES
from chainviz.core.counts import count_text
from chainviz.core.observations.contract import NATIVE
from chainviz.core.observations.index import ObservationIndex
from chainviz.store.content.chain import StoredChain
from chainviz.store.query.find import Place, find

MOST_CARDS = 40
MOST_TAGS, MOST_HTML = 900, 300_000
"""A window ends early when its cards fill this much."""


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    cards: tuple[Card, ...]
    errors: int
    """The number of errors on its cards."""
    size: int
    """The size of the whole message or pair with its headers; in other orders, that of the cards."""
    of: str = ""
    """Describes where the results are."""
    role: str = ""
    place: str = ""
    url: str = ""
    format: str = ""
    format_state: str = ""
    is_wrapped: bool = False
    text_url: str = ""
    """Writes the results of a pair as one text."""


@dataclass(frozen=True, slots=True)
class ResultWindow:
    groups: tuple[Group, ...]
    shown: int


def window_of(subject: Subject, index: ObservationIndex, numbers: Sequence[int], order: str) -> ResultWindow:
    """Return as many of the results as one page can show."""
    numbers = numbers[:MOST_CARDS]
    contents = Contents(subject.stored, index, [index.results[number] for number in numbers])
    writer = CardWriter(subject, index, contents)
    cards = list(_fitting(writer.card(number) for number in numbers))
    if order == "size":
        groups: tuple[Group, ...] = (_plain("Largest first", cards),) if cards else ()
    elif order == "tool":
        groups = tuple(_plain(tool, list(found)) for tool, found in groupby(cards, lambda card: card.tool))
    else:
        stretches = groupby(cards, lambda card: _source(index, card.number))
        groups = tuple(_of_source(subject, index, list(found)) for _, found in stretches)
    return ResultWindow(groups, len(cards))


def _fitting(cards: Iterable[Card]) -> Iterable[Card]:
    tags = size = 0
    for card in cards:
        yield card
        tags, size = tags + card.tags, size + card.html_size
        if tags > MOST_TAGS or size > MOST_HTML:
            return


def _source(index: ObservationIndex, number: int) -> tuple[str, int]:
    """Return what results must share to form a group: the text or, for tool messages, the AI message that they answer."""
    place = index.results[number].group
    group = index.groups[place]
    return (NATIVE, group.answers) if index.conventions[group.convention] == NATIVE else ("", place)


def _plain(title: str, cards: list[Card]) -> Group:
    size = sum(card.size for card in cards)
    return Group(title or "no name", tuple(cards), _errors(cards), size)


def _errors(cards: list[Card]) -> int:
    return sum(card.is_error for card in cards)


def _of_source(subject: Subject, index: ObservationIndex, cards: list[Card]) -> Group:
    first = index.results[cards[0].number]
    group = index.groups[first.group]
    convention = index.conventions[group.convention]
    is_native = convention == NATIVE
    messages = _messages(index, first.group) if is_native else range(first.group, first.group + 1)
    results = _end(index, messages.stop) - index.groups[messages.start].first
    size = sum(index.groups.column("size")[messages.start : messages.stop])
    path = subject.stored.outline.path_at(group.message)
    answered = subject.stored.outline.path_at(group.answers) if group.answers >= 0 else path
    place = answered if is_native else path
    title = count_text(results, "result")
    if len(cards) < results:
        title = f"{len(cards):,} of {title}"
    return Group(
        title=title,
        cards=tuple(cards),
        errors=_errors(cards),
        size=size,
        of=f"in {count_text(len(messages), 'tool message')}" if is_native else "in a human message",
        role="tool" if is_native else "human",
        place=place.number,
        url=f"{subject.base_url}at/{place}#{place.dom_id}",
        format=FORMAT_LABELS[convention],
        format_state=FORMAT_STATES.get(convention, "quiet"),
        is_wrapped=bool(group.is_wrapped),
        text_url=f"{subject.base_url}observations/text/{answered.node}" if is_native and group.answers >= 0 else "",
    )


def _messages(index: ObservationIndex, place: int) -> range:
    """Return the groups of tool messages beside this one that answer the same AI message."""
    answers, conventions = index.groups.column("answers"), index.groups.column("convention")
    start = stop = place
    while start > 0 and (answers[start - 1], conventions[start - 1]) == (answers[place], conventions[place]):
        start -= 1
    while stop < len(answers) and (answers[stop], conventions[stop]) == (answers[place], conventions[place]):
        stop += 1
    return range(start, stop)


def _end(index: ObservationIndex, group: int) -> int:
    """Return the result behind the groups before this one."""
    return index.groups[group].first if group < len(index.groups) else len(index.results)


# Results that hold some words: the search of the chain names the messages, their results are then read.


MOST_SEARCHED = 20
"""Stretches of about 50 messages that are read for one page."""


@dataclass(frozen=True, slots=True)
class FoundResults:
    numbers: tuple[int, ...]
    next: int | None
    """The first result that was not searched, or None if all were."""


def find_results(chain: StoredChain, index: ObservationIndex, wanted: Sequence[int], words: str, count: int) -> FoundResults:
    """Return the first `count` of the wanted results, in the order of the chain, that contain the words."""
    found: list[int] = []
    after = _message(index, wanted[0]) - 1 if wanted else len(chain)
    for _ in range(MOST_SEARCHED):
        page = find(chain, words, after=Place(after))
        last = page.next.message if page.next is not None else None
        places = {hit.message for hit in page.hits}
        candidates = [number for number in _between(index, wanted, after, last) if _message(index, number) in places]
        found += _holding(chain, index, candidates, words)
        if last is None:
            return FoundResults(tuple(found[:count]), found[count] if len(found) > count else None)
        if len(found) > count:
            return FoundResults(tuple(found[:count]), found[count])
        after = last
    rest = _between(index, wanted, after, None)
    return FoundResults(tuple(found), rest[0] if rest else None)


def _message(index: ObservationIndex, number: int) -> int:
    return index.groups[index.results[number].group].message


def _between(index: ObservationIndex, wanted: Sequence[int], after: int, last: int | None) -> Sequence[int]:
    """Return the wanted results of the messages after `after`, up to message `last`."""
    start = bisect_left(wanted, after + 1, key=lambda number: _message(index, number))
    stop = len(wanted) if last is None else bisect_left(wanted, last + 1, key=lambda number: _message(index, number))
    return wanted[start:stop]


def _holding(chain: StoredChain, index: ObservationIndex, numbers: Sequence[int], words: str) -> list[int]:
    rows = [index.results[number] for number in numbers]
    contents = Contents(chain, index, rows)
    sought = words.casefold()
    return [number for number, row in zip(numbers, rows, strict=True) if sought in contents.text(row).casefold()]
