"""Tool results as cards (call, content, media), in groups by message, tool or pair."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.explorer.subject import Subject
from chainviz.chains.observations.filters import FORMAT_LABELS, FORMAT_STATES
from chainviz.chains.render.json_text import paint
from chainviz.chains.render.parts import Reading, display_text, media_html, more_html
from chainviz.chains.render.text_marks import Stretch
from chainviz.chains.render.visible_text import marks, one_line, safe
from chainviz.core.chain.messages import Binary, Image, Message, Part, Text, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.counts import count_text
from chainviz.core.documents.json.long_values import breaks_in, length_of, part_of
from chainviz.core.observations.contract import NATIVE
from chainviz.core.observations.index import BY_ID, HAS_MEDIA, IS_ERROR, GroupRow, ObservationIndex, ResultRow
from chainviz.store.content.chain import StoredChain
from chainviz.store.query.find import Place, find

# Reads the messages whose results or calls a page shows, and only those.


MOST_PARTS = 2_000
"""A message with more parts is not read for a card; the card links to the part."""


class Contents:
    """Results of a window, with what they answer."""

    def __init__(self, chain: StoredChain, index: ObservationIndex, rows: Iterable[ResultRow]) -> None:
        self._messages: dict[int, Message] = {}
        self._index = index
        places = {index.groups[row.group].message for row in rows} | {row.call_message for row in rows}
        self.add(chain, places - {-1})

    def add(self, chain: StoredChain, places: Iterable[int]) -> None:
        wanted = sorted(places)
        few = [place for place in wanted if len(chain.rows(place, place + 1)[0].shape.parts) <= MOST_PARTS]
        self._messages |= zip(few, chain.begun_at(few), strict=True)

    def part(self, message: int, part: int) -> Part | None:
        """Return a part; None for a message of too many parts."""
        found = self._messages.get(message)
        return found.parts[part] if found is not None else None

    def result(self, row: ResultRow) -> Part | None:
        return self.part(self._index.groups[row.group].message, row.part)

    def text(self, row: ResultRow) -> str:
        """Return the whole content of a result; "" if it was not read."""
        match self.result(row):
            case Text(text=text):
                return part_of(text, row.start, row.end)
            case ToolResult(content=content):
                return part_of(content, 0, length_of(content))
        return ""

    def call(self, row: ResultRow) -> ToolCall | Text | None:
        found = self.part(row.call_message, row.call_part) if row.call_message >= 0 else None
        return found if isinstance(found, ToolCall | Text) else None

    def media_parts(self, message: int) -> list[int]:
        """Return the parts of a message that are images or files. They belong to the results in its texts, in order."""
        found = self._messages.get(message)
        return [at for at, part in enumerate(found.parts) if isinstance(part, Image | Binary)] if found else []


LINES, CHARACTERS = 12, 1_200
"""The most lines and characters of a call or a result on a card; the rest is loaded on request."""


@dataclass(frozen=True, slots=True)
class Card:
    number: int
    tool: str
    path: str
    dom_id: str
    is_error: bool
    size: int
    lines: str
    """The position of the result in its text."""
    body: SafeString
    call_url: str
    call_place: str
    call_body: SafeString
    linked_by: str

    @property
    def tags(self) -> int:
        """About as many elements as it has, with those of its group."""
        return 24 + (self.body.count("<") + self.call_body.count("<")) // 2

    @property
    def html_size(self) -> int:
        return len(self.body) + len(self.call_body)


@dataclass(frozen=True, slots=True)
class CardWriter:
    subject: Subject
    index: ObservationIndex
    contents: Contents

    @property
    def reading(self) -> Reading:
        return Reading(self.subject.base_url)

    def card(self, number: int) -> Card:
        row = self.index.results[number]
        group = self.index.groups[row.group]
        path = self._path(group.message, row.part)
        is_error = bool(row.flags & IS_ERROR)
        return Card(
            number=number,
            tool=marks(one_line(self.index.tools[row.tool], 80)),
            path=str(path),
            dom_id=f"r{number}",
            is_error=is_error,
            size=row.size,
            lines=self._lines(row),
            body=mark_safe(self._body(row, path) + self._media(number, row, group)),  # escaped by the renderer
            call_body=mark_safe(self._call(row)),
            linked_by=("by id" if row.flags & BY_ID else "by order") if row.call_message >= 0 else "",
            **self._call_link(row),
        )

    def _path(self, message: int, part: int) -> Path:
        path = self.subject.stored.outline.path_at(message)
        return Path(path.section, path.pair, path.message, part)

    def _call_link(self, row: ResultRow) -> dict[str, str]:
        if row.call_message < 0:
            return {"call_url": "", "call_place": ""}
        path = self._path(row.call_message, row.call_part)
        return {"call_url": f"{self.subject.base_url}at/{path}#{path.dom_id}", "call_place": path.number}

    def _call(self, row: ResultRow) -> str:
        if row.call_message < 0:
            return '<p class="missing faint">No call of the message before has this name.</p>'
        path = self._path(row.call_message, row.call_part)
        call = self.contents.call(row)
        if call is None:
            return _link(self.reading.url("part", path), "Show the arguments")
        if isinstance(call, ToolCall):
            text, _ = display_text(call, False)
            return _code(self.reading, path, text, (0, length_of(text)), "no arguments")
        return _code(self.reading, path, call.text, (row.call_start, row.call_end), "no arguments")

    def _body(self, row: ResultRow, path: Path) -> str:
        result = self.contents.result(row)
        if result is None:
            return _link(self.reading.url("part", path), "Show the result")
        text, _ = display_text(result, False)
        place = (0, length_of(text)) if isinstance(result, ToolResult) else (row.start, row.end)
        return _code(self.reading, path, text, place, "empty result")

    def _lines(self, row: ResultRow) -> str:
        """Name the lines of its text with a result; "" for a native one."""
        result = self.contents.result(row)
        if result is None or isinstance(result, ToolResult):
            return ""
        text, _ = display_text(result, True)
        first = breaks_in(text, 0, row.start) + 1
        last = first + breaks_in(text, row.start, max(row.start, row.end - 1))
        return f"line {first:,}" if first == last else f"lines {first:,}–{last:,}"

    def _media(self, number: int, row: ResultRow, group: GroupRow) -> str:
        if not row.flags & HAS_MEDIA:
            return ""
        result = self.contents.result(row)
        if isinstance(result, ToolResult):
            path = self._path(group.message, row.part)
            return "".join(media_html(self.reading, path, medium, at) for at, medium in enumerate(result.media))
        parts = self.contents.media_parts(group.message)
        part = parts[self._media_before(number, group.message)]
        medium = self.contents.part(group.message, part)
        assert isinstance(medium, Image | Binary)
        return media_html(self.reading, self._path(group.message, part), medium)

    def _media_before(self, number: int, message: int) -> int:
        """Return the number of results of the message before this one that have a medium; each has one."""
        flags, groups = self.index.results.column("flags"), self.index.results.column("group")
        messages = self.index.groups.column("message")
        count = 0
        while number > 0 and messages[groups[number - 1]] == message:
            number -= 1
            count += bool(flags[number] & HAS_MEDIA)
        return count


def _code(reading: Reading, path: Path, text: str, place: tuple[int, int], empty: str) -> str:
    """Return the beginning of `text[start:end]`, and the way to the rest."""
    start, end = place
    ahead = part_of(text, start, min(end, start + CHARACTERS))
    if not ahead:
        return f'<p class="missing faint">({empty})</p>'
    shown = "".join(ahead.splitlines(keepends=True)[:LINES])
    stop = start + len(shown)
    body = paint(shown) if ahead.lstrip()[:1] in ("{", "[") else safe(shown)
    rest = Stretch(shown, start, stop, end - stop, breaks_in(text, stop, end) + 1 if end > stop else 0)
    fades = " fades" if rest.left else ""
    return f'<pre class="code{fades}" tabindex="0" hx-disable>{body}</pre>' + more_html(reading, path, rest, end)


def _link(url: str, words: str) -> str:
    return f'<a class="more" data-more href="{url}">{words}</a>'


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
