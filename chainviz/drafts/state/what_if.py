"""The next call that a person enters, whether it fits its context window, and the messages in two columns: stored and sent.

The form has the leading system messages, the next user message and the window, and keeps the values. A strip shows what the call sends,
to scale, with the window's edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from django.http import QueryDict

from chainviz.chains.explorer.message_words import MessageWords, words_of
from chainviz.chains.usage import ContextWindow
from chainviz.core.chain.messages import HUMAN, SYSTEM, Message, Text, text_of
from chainviz.core.counts import count_text
from chainviz.core.state.export import Mark, NextCall
from chainviz.core.usage.model_catalog import estimated_tokens
from chainviz.store.content.message_shapes import StoredShape, shape_of
from chainviz.store.outline.reader import SectionPlace
from chainviz.store.query.state import StatePart
from chainviz.web.formatting import byte_text, for_field, from_field
from chainviz.web.http import small_number

WINDOW = 60
"""The number of rows in a window."""
SYSTEMS = 20
"""The most sections with a stored system message among the notable rows, counted from the end."""
SEVERAL = 4
"""The number of header messages that are searched for the title of a section."""
FOLDED = 3
"""The fewest messages that are folded into one row."""


@dataclass(frozen=True, slots=True)
class StateRow:
    """One row of the page; `kind` decides which of the other fields are set."""

    kind: str
    """One of message, lead, next, section, fold and divider."""
    words: MessageWords | None = None
    size: int = 0
    number: int | None = None
    """The number among the stored messages, from 0."""
    section: int = 0
    title: str = ""
    place: int = 0
    """The first message of a fold."""
    is_system: bool = False
    is_appended: bool = False


def leading_rows(call: NextCall) -> Iterator[StateRow]:
    for message in call.leading:
        yield StateRow("lead", _words(message), message.size)


def next_rows(call: NextCall) -> Iterator[StateRow]:
    if call.user is not None:
        yield StateRow("next", _words(call.user), call.user.size)


def _words(message: Message) -> MessageWords:
    return words_of(shape_of(message))


def window_rows(part: StatePart, call: NextCall, start: int, stop: int) -> list[StateRow]:
    """Return all rows of the stored messages `start:stop`, with their sections."""
    rows = list(_message_rows(part, call, start, stop))
    if 0 < call.seen == stop == len(part):
        rows.append(StateRow("divider"))
    return rows


def notable_rows(part: StatePart, call: NextCall) -> list[StateRow]:
    """Return the notable rows: sections with a stored system message, the messages around the divider, and appended ones. All other
    messages are folded."""
    rows: list[StateRow] = []
    done = 0
    for start, stop in _joined(_notable(part, call)):
        if start - done >= FOLDED:
            rows.append(_fold(part, done, start))
        else:
            start = done
        rows += _message_rows(part, call, start, stop)
        done = stop
    if done < len(part):
        rows.append(_fold(part, done, len(part)))
    if 0 < call.seen == len(part):
        rows.append(StateRow("divider"))
    return rows


def _notable(part: StatePart, call: NextCall) -> Iterator[tuple[int, int]]:
    """Yield the ranges of stored messages to show, in no order."""
    if len(part) <= WINDOW // 4:
        yield 0, len(part)
        return
    if call.seen:
        yield call.seen - 1, call.seen
    yield call.seen, min(len(part), call.seen + WINDOW)
    for _, place in zip(range(SYSTEMS), part.late_systems(), strict=False):
        headers = part.chain.rows(part.start + place, part.start + place + 4)
        own = list(takewhile(lambda row: row.shape.role in (SYSTEM, HUMAN), headers))
        yield place, place + len(own)


def _joined(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges in order, without overlaps and small gaps."""
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(stretches):
        if start >= stop:
            continue
        if joined and start - joined[-1][1] < FOLDED:
            joined[-1] = joined[-1][0], max(stop, joined[-1][1])
        else:
            joined.append((start, stop))
    return joined


def _fold(part: StatePart, start: int, stop: int) -> StateRow:
    first, last = (_section_at(part, place).number for place in (start, stop - 1))
    sections = f"§{first}" if first == last else f"§{first} to §{last}"
    size = part.size_before(stop) - part.size_before(start)
    same = f"{count_text(stop - start, 'message')} the same on both sides"
    return StateRow("fold", title=f"{same} · {sections} · {byte_text(size)}", place=start)


def _section_at(part: StatePart, place: int) -> SectionPlace:
    outline = part.chain.outline
    return outline.section_of_row(outline.row_of_message(part.start + place))


def _message_rows(part: StatePart, call: NextCall, start: int, stop: int) -> Iterator[StateRow]:
    if start >= stop:
        return
    shapes = [row.shape for row in part.chain.rows(part.start + start, part.start + stop)]
    tools = {each.id: each.name for shape in shapes for each in shape.calls}
    sections = {section.start - part.start: section for section in _sections(part, start, stop)}
    for place, shape in enumerate(shapes, start):
        if place == call.seen:
            yield StateRow("divider")
        is_appended = call.mark(part.start + place) is Mark.APPENDED
        if place in sections or (place == start and sections):
            section = sections.get(place) or next(iter(sections.values()))
            shown = shapes[place - start :] if place in sections else ()
            yield _section_row(section, _headers(part, section, shown), is_appended)
        row = StateRow("message", words_of(shape, tools), shape.size, place)
        yield replace(row, is_system=shape.role == SYSTEM, is_appended=is_appended)


def _sections(part: StatePart, start: int, stop: int) -> Iterator[SectionPlace]:
    first = _section_at(part, start).number
    sections = part.chain.outline.sections(first, first + stop - start)
    yield from takewhile(lambda section: section.start < part.start + stop, sections)


def _headers(part: StatePart, section: SectionPlace, shown: Sequence[StoredShape]) -> Sequence[StoredShape]:
    """Return the first messages of a section; `shown` are those that the window contains."""
    count = min(section.measure.headers, SEVERAL)
    if len(shown) >= count > 0:
        return shown[:count]
    return [row.shape for row in part.chain.rows(section.start, section.start + count)]


def _section_row(section: SectionPlace, headers: Sequence[StoredShape], is_appended: bool) -> StateRow:
    measure = section.measure
    human = next((shape for shape in headers if shape.role == HUMAN), None)
    first = human or (headers[0] if headers else None)
    title = words_of(first).teaser if first else ""
    said = f"{count_text(measure.messages, 'message')} · {byte_text(measure.size)}"
    return StateRow("section", MessageWords("", title or "Untitled", said), section=section.number, is_appended=is_appended)


WINDOWS = (8_192, 32_768, 128_000, 200_000, 1_000_000)
"""Tokens of usual context windows."""
USUAL = 128_000
"""The context window of a new form if that of the recorded model is not known."""
MOST_LEADING = 50
_LEAD, _ACT = "lead-", "act"


@dataclass(frozen=True, slots=True)
class WhatIf:
    leading: tuple[str, ...]
    user: str = ""
    window: int = USUAL
    """The context window in tokens; 0 for no comparison."""
    processed: int | None = None
    """The number of stored messages that the model has seen; None counts up to the last answer."""

    @property
    def leading_messages(self) -> tuple[Message, ...]:
        return tuple(Message(SYSTEM, (Text(text),)) for text in self.leading)

    @property
    def user_message(self) -> Message | None:
        return Message(HUMAN, (Text(self.user),)) if self.user else None


def of_chain(leading: Sequence[Message], processed: int | None, recorded: ContextWindow | None) -> WhatIf:
    """Return the most likely call, with the leading system messages of the chain and the context window of its model."""
    return WhatIf(tuple(text_of(message) for message in leading), window=first_window(recorded), processed=processed)


def first_window(recorded: ContextWindow | None) -> int:
    """Return the context window of a new form, in tokens."""
    return recorded.tokens if recorded else USUAL


def window_choices(recorded: ContextWindow | None, chosen: int) -> list[tuple[int, str]]:
    """Return the context windows of the form, in tokens, each with its label; 0 means no comparison."""
    sizes = sorted({*WINDOWS, first_window(recorded), chosen} - {0})
    return [(0, "Do not compare"), *((size, _window_label(size, recorded)) for size in sizes)]


def _window_label(size: int, recorded: ContextWindow | None) -> str:
    if size != first_window(recorded):
        return f"{count_text(size, 'token')}"
    return f"{count_text(size, 'token')}, {f'the window of {recorded.model}' if recorded else 'assumed: that of the model is not known'}"


def read(form: QueryDict, usual: WhatIf) -> WhatIf:
    """Read the form, with its buttons that add, move and remove a system message; `usual` contains its initial values."""
    originals = {for_field(text).replace("\r\n", "\n"): text for text in usual.leading}
    names = sorted((name for name in form if name.startswith(_LEAD)), key=lambda name: small_number(name[5:]) or 0)
    given = [form.get(name, "") for name in names[:MOST_LEADING]]
    leading = tuple(from_field(text, originals.get(text.replace("\r\n", "\n"), "")) for text in given)
    window = small_number(form.get("window", ""))
    entered = WhatIf(
        leading,
        from_field(form.get("next", ""), ""),
        usual.window if window is None else window,
        small_number(form.get("processed", "").replace(",", "")),
    )
    return _edited(entered, form.get(_ACT, ""))


def _edited(entered: WhatIf, act: str) -> WhatIf:
    word, _, number = act.partition(":")
    place = small_number(number)
    leading = list(entered.leading)
    if word == "lead_add":
        leading.append("")
    elif place is not None and place < len(leading):
        if word == "lead_remove":
            del leading[place]
        elif word == "lead_up" and place:
            leading[place - 1 : place + 1] = leading[place], leading[place - 1]
    return replace(entered, leading=tuple(leading))


WIDTH = 1000


@dataclass(frozen=True, slots=True)
class FitBlock:
    kind: str
    """`lead`, `kept`, `appended` or `next`."""
    label: str
    size: int
    """The content size in bytes."""
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Fit:
    tokens: int
    """The estimated tokens of the request."""
    window: int
    """The context window, or 0 if none is chosen."""
    blocks: tuple[FitBlock, ...]

    @property
    def over(self) -> int:
        """Tokens beyond the context window."""
        return max(0, self.tokens - self.window) if self.window else 0

    @property
    def percent(self) -> int:
        """The share of the context window in percent."""
        return round(100 * self.tokens / self.window) if self.window else 0

    @property
    def edge(self) -> float:
        """The end of the window in the strip."""
        return WIDTH * self.window / max(self.tokens, self.window, 1)


def fit_of(call: NextCall, window: int) -> Fit:
    tokens = call.tokens()
    scale = WIDTH / max(tokens, window, 1)
    return Fit(tokens, window, tuple(_blocks(call, scale)))


def _blocks(call: NextCall, scale: float) -> Iterator[FitBlock]:
    parts = (
        ("lead", "instructions", sum(message.size for message in call.leading)),
        ("kept", "kept messages", call.stored.size - call.appended_size),
        ("appended", "new since the last call", call.appended_size),
        ("next", "your next message", call.user.size if call.user else 0),
    )
    x = 0.0
    for kind, label, size in parts:
        if size:
            width = scale * estimated_tokens(size)
            yield FitBlock(kind, label, size, round(x, 1), round(width, 1))
            x += width
