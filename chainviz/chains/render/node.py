"""An opened node: the parts of a header message, or of a pair with every call beside its result, in steps if there are many."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

from chainviz.chains.render.parts import Reading, call_html, part_html, result_html
from chainviz.chains.render.visible_text import one_line, safe
from chainviz.core.chain.messages import Message, Part, Shape, Text, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import ends_with_calls
from chainviz.core.chain.tree import BodyPair, PairType, match_results
from chainviz.core.counts import count_text
from chainviz.web.formatting import byte_text
from chainviz.web.templatetags.chainviz import icon

MOST_PIECES = 12
MOST_HTML = 90_000
"""A step of an opened node ends after this many pieces or characters, whichever comes first."""


class Piece(NamedTuple):
    """A piece of an open node."""

    html: Callable[[], str]
    shows: Sequence[tuple[int | None, int | None]] = ()
    """Numbers of messages and parts; the part is None for a whole message."""


@dataclass(frozen=True, slots=True)
class StepQuery:
    """The pieces of a node to show: a step from `start` on, not beyond `until`, and the one that shows `part`."""

    start: int = 0
    until: int | None = None
    part: Path | None = None


ALL = StepQuery()


class LazyPieces(Sequence[Piece]):
    """Pieces that are rendered on demand."""

    @abstractmethod
    def place_of(self, part: Path) -> int | None:
        """Return which piece shows the part."""


def step(reading: Reading, path: Path, pieces: Sequence[Piece], asked: StepQuery) -> str:
    out: list[str] = []
    end = min(len(pieces), asked.until or len(pieces))

    def show(start: int) -> int:
        """Show as much as a step may contain, and return its end."""
        size, place = 0, start
        while place < end and place - start < MOST_PIECES and size < MOST_HTML:
            out.append(pieces[place].html())
            size += len(out[-1])
            place += 1
        return place

    place = show(asked.start)
    sought = _sought(pieces, asked.part)
    if sought is not None and sought >= place:
        if sought > place:
            out.append(_more(reading, path, f"Show the {count_text(sought - place, 'part')} between", place, sought))
        place = show(sought)
    if place < end:
        out.append(_more(reading, path, f"Show more: {count_text(end - place, 'part')} left", place, asked.until))
    return "".join(out)


def _sought(pieces: Sequence[Piece], part: Path | None) -> int | None:
    if part is None:
        return None
    if isinstance(pieces, LazyPieces):
        return pieces.place_of(part)
    wanted = (part.message, part.part), (part.message, None)
    return next((i for i, piece in enumerate(pieces) if any(each in piece.shows for each in wanted)), None)


def _more(reading: Reading, path: Path, words: str, start: int, until: int | None) -> str:
    query = {"from": start} if until is None else {"from": start, "until": until}
    return f'<a class="more" data-more href="{reading.url("node", path, **query)}">{icon("expand")}{words}</a>'


class Parted(Shape, Protocol):
    """A message, or the known facts of one whose body was not read."""

    @property
    def parts(self) -> Sequence[object]: ...
    @property
    def label(self) -> str: ...
    @property
    def note(self) -> str: ...


@dataclass(frozen=True, slots=True)
class PairNode:
    """The data of an open pair. Bodies after the AI message are read only when they are shown."""

    path: Path
    ai: Message | None
    rest: Sequence[Parted]
    read: Callable[[int], Message]
    """Returns the message at a place in `rest`."""
    is_last: bool = False
    """True if nothing of the chain follows."""


def header_html(reading: Reading, path: Path, message: Message, asked: StepQuery = ALL) -> str:
    show = spoken if len(message.parts) > 1 else part_html
    pieces = [Piece(partial(show, reading, _part(path, i), part), [(path.message, i)]) for i, part in enumerate(message.parts)]
    label = safe(one_line(message.label, 60))
    head = "" if asked.start or not label else f'<p class="message-head"><span class="faint">role {label} in the source</span></p>'
    return head + step(reading, path, pieces or [Piece(lambda: '<p class="faint">This message has no parts.</p>')], asked)


def pair_html(reading: Reading, node: PairNode, asked: StepQuery = ALL) -> str:
    pair = BodyPair(node.ai, tuple(node.rest))
    if pair.type is PairType.SUMMARIZATION and node.ai is not None:
        return _summary_html(reading, node, asked)
    return step(reading, node.path, _pair_pieces(reading, node, pair), asked)


def _pair_pieces(reading: Reading, node: PairNode, pair: BodyPair[Parted]) -> list[Piece]:
    pieces: list[Piece] = []
    beside: dict[int, tuple[int, int]] = {}
    """Part of the AI message -> (place in rest, part) of the result beside it."""
    for call, found in match_results(pair):
        if found is not None:
            beside[call.part] = (found[0], found[1].part)
    if node.ai is not None:
        pieces.append(Piece(partial(message_head, node.ai, "ai", "AI")))
        if not any(map(is_seen, node.ai.parts)):
            pieces.append(Piece(lambda: '<p class="faint">This message has no content.</p>'))
        for i, part in enumerate(node.ai.parts):
            if isinstance(part, ToolCall):
                answer = beside.get(i)
                shows = [(0, i)] if answer is None else [(0, i), (answer[0] + 1, answer[1])]
                pieces.append(Piece(partial(exchange, reading, node, i, part, answer), shows))
            elif is_seen(part):
                path = _part(Path(node.path.section, node.path.pair, 0), i)
                pieces.append(Piece(partial(spoken, reading, path, part), [(0, i)]))
    shown = set(beside.values())
    for place, shape in enumerate(node.rest):
        is_only_result = len(shape.parts) == len(shape.results) == 1
        if not (is_only_result and (place, 0) in shown):
            pieces.append(Piece(partial(_unmatched_message, reading, node, place, shown), [(place + 1, None)]))
    return pieces


def is_seen(part: Part) -> bool:
    """Return True if the part is shown. An AI message with only calls often has an empty text."""
    return not isinstance(part, Text) or bool(part.text) or part.reasoning is not None


def spoken(reading: Reading, path: Path, part: Part) -> str:
    return f'<div class="message" id="{path.dom_id}">{part_html(reading, path, part)}</div>'


def exchange(reading: Reading, node: PairNode, index: int, call: ToolCall, found: tuple[int, int] | None) -> str:
    path = _part(Path(node.path.section, node.path.pair, 0), index)
    if found is None and node.is_last and ends_with_calls(node.rest):
        return f'<div class="tool-call">{call_html(reading, path, call)}{RUN_ENDED}</div>'
    if found is None:
        return f'<div class="tool-call" data-state="problem">{call_html(reading, path, call)}{_no_result(reading)}</div>'
    result = node.read(found[0]).parts[found[1]]
    assert isinstance(result, ToolResult)
    return call_with_result_html(reading, path, call, Path(node.path.section, node.path.pair, found[0] + 1, found[1]), result)


def call_with_result_html(reading: Reading, path: Path, call: ToolCall, result_path: Path, result: ToolResult) -> str:
    return f'<div class="tool-call">{call_html(reading, path, call)}{result_html(reading, result_path, result)}</div>'


def _unmatched_message(reading: Reading, node: PairNode, place: int, shown: set[tuple[int, int]]) -> str:
    message = node.read(place)
    path = Path(node.path.section, node.path.pair, place + 1)
    beside = {part for at, part in shown if at == place}
    return unmatched_parts_html(reading, path, message, lambda wanted: message.parts[wanted.start : wanted.stop], beside)


def unmatched_parts_html(
    reading: Reading, path: Path, message: Parted, read: Callable[[range], Sequence[Part]], beside: Collection[int] = ()
) -> str:
    """Return the parts of a later message that answer no call; `beside`: those that are shown with their call."""
    count = len(message.parts)
    parts = enumerate(read(range(min(count, MOST_PIECES))))
    out = [unmatched_part_html(reading, _part(path, i), message.role, part) for i, part in parts if i not in beside]
    if count > MOST_PIECES:
        out.append(f'<p class="faint">{count_text(count - MOST_PIECES, "more part")} in the raw source.</p>')
    if not out and count:
        return ""
    return message_head(message, *message_name(message)) + ("".join(out) or '<p class="faint">This message has no parts.</p>')


def unmatched_part_html(reading: Reading, path: Path, role: str, part: Part) -> str:
    """Return a part of a later message that answers no call."""
    if isinstance(part, ToolResult) and role == "tool":
        result = result_html(reading, path, part)
        return f'<div class="tool-call" data-state="problem">{_no_call(reading, part)}{result}</div>'
    return spoken(reading, path, part)


RUN_ENDED = (
    '<div class="tool-part"><div class="tool-part-head"><span>No result</span></div>'
    '<div class="missing"><p>The run ended with this call.</p></div></div>'
)


def _no_result(reading: Reading) -> str:
    fix = f'<a class="button" data-kind="outlined" data-size="small" href="{safe(reading.repair_url)}">{icon("repaired")}Repair</a>'
    return (
        '<div class="tool-part" data-state="problem"><div class="tool-part-head" data-state="problem"><span>No result</span></div>'
        '<div class="missing"><p>This call has no result. Most providers refuse such a chain.</p>'
        f"{fix if reading.repair_url else ''}</div></div>"
    )


def _no_call(reading: Reading, result: ToolResult) -> str:
    fix = f'<a class="button" data-kind="outlined" data-size="small" href="{safe(reading.repair_url)}">{icon("repaired")}Repair</a>'
    return (
        '<div class="tool-part" data-state="problem"><div class="tool-part-head" data-state="problem"><span>No call</span>'
        f'<span class="tool-id">{safe(one_line(result.call_id, 200)) or "no id"}</span></div>'
        '<div class="missing"><p>This pair has no call for this result. Most providers refuse such a chain.</p>'
        f"{fix if reading.repair_url else ''}</div></div>"
    )


def message_name(message: Parted) -> tuple[str, str]:
    """Return the role that gives a message its colour, and the word for it."""
    role = message.role if message.role in ("tool", "ai", "human", "system") else "tool"
    return role, message.label or message.role or "no role"


def message_head(message: Parted, role: str, word: str) -> str:
    facts = [byte_text(message.size)]
    if message.label and message.label != word:
        facts.append(f"role {safe(one_line(message.label, 40))}")
    if message.note:
        facts.append(safe(one_line(message.note, 60)))
    return f'<p class="message-head" data-role="{role}">{safe(one_line(word, 60))} <span class="faint">{" · ".join(facts)}</span></p>'


def _summary_html(reading: Reading, node: PairNode, asked: StepQuery) -> str:
    """Return a summary pair as a card with its result, which is the summary."""
    pieces: list[Piece] = []
    size = 0
    for place in range(len(node.rest)):
        message = node.read(place)
        path = Path(node.path.section, node.path.pair, place + 1)
        for i, part in enumerate(message.parts):
            size += part.size
            words = Text(part.content) if isinstance(part, ToolResult) else part
            pieces.append(Piece(partial(spoken, reading, _part(path, i), words), [(place + 1, i)]))
    if not pieces:
        pieces.append(Piece(lambda: _no_result(reading)))
    body = step(reading, node.path, pieces, asked)
    if asked.start:
        return body
    call = node.ai.calls[0] if node.ai is not None else None
    name = safe(one_line(call.name, 80)) if call else ""
    return (
        f'<div class="summary-card" data-role="summary"><p class="message-head">{icon("summary")}Summary '
        f'<span class="faint">{name} · {byte_text(size)}</span></p>{body}</div>'
    )


def _part(path: Path, index: int) -> Path:
    return Path(path.section, path.pair, path.message, index)
