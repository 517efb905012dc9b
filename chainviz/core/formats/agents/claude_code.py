"""Claude Code session logs: lines (or `loglines`) around Anthropic messages.

An assistant message is spread over several lines with one id, and results may lie between them. Snapshots, summaries and
system lines are carried. Branches and sub-agents are chains of their own; a list without them is as its first line is.

Nearest forms: a system message is written as a user's; a new line takes what its neighbour says of the session, and its ids when the
document is put together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, NEW, SYSTEM, TOOL, Fragment, Message, Part, Role, Text, Thinking, ToolResult
from chainviz.core.dialects.values import Speller
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import parse, replace_at, value_of
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Pointer, Sample, Unit
from chainviz.core.documents.written_lists import Links, uuid_of
from chainviz.core.formats.agents.session_threads import lists_of, threads_of
from chainviz.core.formats.blocks import Blocks, Content, patched_fragments, read_fragments, with_member
from chainviz.core.formats.contract import COMPACT_SUMMARY, Format, Style
from chainviz.core.formats.vendors.anthropic.blocks import WORDS, losses, new_content, patched_content, read_blocks, role_runs
from chainviz.core.formats.vendors.anthropic.messages import ANTHROPIC, Anthropic

_SESSION = ("sessionId", "session_id", "parentUuid")
_SHARED = ("isSidechain", "agentId", "parent_tool_use_id", "userType", "cwd", "sessionId", "session_id", "version", "gitBranch")
_TURNS = ("user", "assistant")
_AT: Pointer = ("message", "content")
_BLOCKS = Blocks(_AT, read_blocks, patched_content)


class ClaudeCode(Format):
    name = "claude_code"
    label = "Claude Code session"
    api = "anthropic"
    accepts = Anthropic.accepts
    tested_with = "Claude Code 1.0, 2.0"
    packs = True
    blocks_at = _AT
    links = Links("uuid", "parentUuid", "isSidechain")
    lines = True
    streams_answers = True
    hints = ("message", "event")
    carried_types = frozenset(
        ("system", "summary", "attachment", "progress", "queue-operation", "file-history-snapshot", "result", "rate_limit_event",
         "ai-title", "custom-title", "agent-name", "agent-color", "agent-setting", "last-prompt", "mode", "permission-mode", "tag",
         "pr-link", "frame-link", "worktree-state", "bridge-session", "atis-latch", "relocated", "started", "saved_hook_context",
         "content-replacement", "marble-origami-commit", "tool_progress", "auth_status", "control_request", "control_response",
         "control_cancel_request", "keep_alive", "stream_event", "task-summary", "attribution-snapshot", "speculation-accept")
    )  # fmt: skip
    carried_fields = frozenset(
        ("toolUseResult", "tool_use_result", "todos", "thinkingMetadata", "snapshot", "sourceToolUseID", "sourceToolAssistantUUID",
         "toolDenialKind")
    )  # fmt: skip
    known_kinds = frozenset(("fallback",))

    def without_piece(self, text: str) -> str:
        return without_piece(text)

    def is_message(self, value: object) -> bool:
        """Return True for a turn, or for a piece of one, which a stream with partial messages has before it."""
        return is_piece(value) or _is_turn(value)

    def confidence(self, sample: Sample) -> float:
        for value in sample.values:
            if not isinstance(value, dict) or not isinstance(value.get("type"), str) or "payload" in value:
                continue
            message = value.get("message")
            if isinstance(message, dict) and value["type"] in _TURNS and isinstance(message.get("role"), str):
                return 0.97 if any(key in value for key in _SESSION) else 0.8
            if value["type"] == "system" and value.get("subtype") == "init" and "session_id" in value:
                return 0.9
        return 0.0

    def find(self, source: Source) -> tuple[FoundList, ...]:
        return lists_of(source, threads_of(source), self.is_message)

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        turn = _Turn()
        aside: bool | None = None
        for unit in with_partial_messages(units):
            if isinstance(unit, Message):
                yield from turn.close()
                yield unit
                continue
            value = unit.value
            if not _is_turn(value) or aside not in (None, _is_aside(value)):
                yield unit
                continue
            aside = _is_aside(value)
            inner = value["message"]
            if value["type"] == "assistant":
                if not turn.takes(inner.get("id")):
                    yield from turn.close()
                turn.add(unit, inner)
                continue
            found = list(_user_messages(unit, inner))
            if turn.is_open and all(message.role == TOOL for message in found):
                turn.behind += found
                continue
            yield from turn.close()
            yield from found
        yield from turn.close()

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        value = value_of(source[0])
        if is_piece(value):
            return message_of(source)
        inner = value["message"]
        if source[0].blocks is None and inner.get("content") != []:
            role = AI if value["type"] == "assistant" else role_runs("user", inner.get("content"))[0][0]
        parts = [part for parts in read_fragments(source, _BLOCKS, role) for part in parts]
        last = value_of(source[-1])["message"] if len(source) > 1 else inner
        return Message(role, tuple(parts), source=source, label=_label(value), note=_note(last))

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            return (_new_line(message, style),)
        source = message.source
        old = self.message(message.role, source)
        if old == message:
            return source
        if is_piece(value_of(source[0])):
            return (_new_line(message, style),)
        word = WORDS.get(message.role, message.role) if message.role != SYSTEM else "user"
        fragments = patched_fragments(message, _BLOCKS, style.ascii, old.role)
        if word != WORDS.get(old.role, old.role):
            quoted = Speller("", True).quote(word)
            fragments = tuple(with_member(with_member(item, ("type",), quoted), ("message", "role"), quoted) for item in fragments)
        return tuple(_without_copy(item) if item not in source and message.role == TOOL else item for item in fragments)

    def losses(self, message: Message) -> tuple[str, ...]:
        known = message.role in (HUMAN, AI, TOOL)
        return (*losses(message.parts), *(() if known else (f"a message with the role {message.role[:40]} becomes a user message",)))


def _is_turn(value: Any) -> bool:
    return type(value) is dict and value.get("type") in _TURNS and type(value.get("message")) is dict


def _is_aside(value: dict[str, Any]) -> bool:
    """Return True if a line belongs to a sub-agent."""
    return value.get("isSidechain") is True or bool(value.get("parent_tool_use_id"))


def _label(value: dict[str, Any]) -> str:
    if value.get("isCompactSummary"):
        return COMPACT_SUMMARY
    return "meta" if value.get("isMeta") else ""


def _note(inner: dict[str, Any]) -> str:
    reason = inner.get("stop_reason")
    return reason if isinstance(reason, str) else ""


def _user_messages(unit: Unit, inner: dict[str, Any]) -> Iterator[Message]:
    content = inner.get("content")
    for role, blocks in role_runs("user", content):
        source = (unit.fragment(blocks),)
        parts = read_blocks(Content(content, unit.text, _AT, blocks), role)
        yield Message(role, tuple(parts), source=source, label=_label(unit.value), note=_note(inner))


class _Turn:
    """The assistant message whose lines are still coming, and the results between them."""

    def __init__(self) -> None:
        self._id: Any = None
        self._source: list[Fragment] = []
        self._parts: list[Part] = []
        self._label = ""
        self._note = ""
        self.behind: list[Message] = []

    @property
    def is_open(self) -> bool:
        return bool(self._source)

    def takes(self, message_id: Any) -> bool:
        return self.is_open and message_id is not None and message_id == self._id

    def add(self, unit: Unit, inner: dict[str, Any]) -> None:
        self._id = inner.get("id")
        self._parts += read_blocks(Content(inner.get("content"), unit.text, _AT, first=len(self._parts)), AI)
        if not self._source:
            self._label = _label(unit.value)
        self._source.append(unit.fragment())
        self._note = _note(inner)

    def close(self) -> Iterator[Message]:
        if self._source:
            source = tuple(self._source)
            yield Message(AI, tuple(self._parts), source=source, label=self._label, note=self._note)
        yield from self.behind
        self.__init__()  # type: ignore[misc]


def _without_copy(fragment: Fragment) -> Fragment:
    """Return a changed result without its rich copy, since what was cut from one must not stay in the other."""
    unit = json_edit.load_object(fragment.text)
    if "toolUseResult" not in unit:
        return fragment
    parts = read_fragments((fragment,), _BLOCKS, TOOL)[0]
    texts = [part.content for part in parts if isinstance(part, ToolResult)]
    unit.set("toolUseResult", Speller(fragment.text, True).quote("\n".join(texts)))
    return Fragment(fragment.ordinal, fragment.lead, str(unit), fragment.blocks)


def _new_line(message: Message, style: Style) -> Fragment:
    speller = Speller(style.near, style.ascii)
    kind = "assistant" if message.role == AI else "user"
    content = new_content(message.parts, speller)
    inner = {"role": speller.quote(kind), "content": content}
    near = json_edit.load_object(style.near) if style.near.startswith("{") else None
    members = {"parentUuid": "null"} if near is None or "parentUuid" in near else {}
    for key in _SHARED:
        if near is not None and key in near:
            members[key] = near.raw(key)
    own = uuid_of(f"{style.number}{message.role}{content}")
    if kind == "assistant":
        inner = {"id": speller.quote(f"msg_{own.replace('-', '')[:24]}"), "type": '"message"', **inner}
    members |= {"type": speller.quote(kind), "message": speller.object(inner)}
    members["uuid"] = speller.quote(own)
    if near is not None and "timestamp" in near:
        members["timestamp"] = near.raw("timestamp")
    return Fragment(NEW, "", speller.object(members))


# Claude Code prints pieces of an answer (`stream_event`) before the lines with its whole blocks. A stream that breaks off has pieces of
# blocks that never came as a whole; they are what the model said last.


_PARTIAL_BLOCKS = ("content_block_start", "content_block_delta")


def is_piece(value: Any) -> bool:
    return type(value) is dict and value.get("type") == "stream_event" and type(value.get("event")) is dict


def without_piece(text: str) -> str:
    """Return the line of a piece as that of an event without content; any other text unchanged."""
    if '"stream_event"' not in text:
        return text
    try:
        value = parse(text)
    except (ValueError, RecursionError):
        return text
    has_content = is_piece(value) and value["event"].get("type") in _PARTIAL_BLOCKS
    return replace_at(text, ("event",), '{"type": "ping"}') if has_content else text


def with_partial_messages(units: Iterable[Unit]) -> Iterator[Message | Unit]:
    """Yield the units, with messages made from pieces of answers that were never completed. All other pieces are
    yielded as units."""
    pieces = _Pieces()
    for unit in units:
        if is_piece(unit.value):
            if unit.value["event"].get("type") == "message_start":
                yield from pieces.close()
            pieces.add(unit)
            continue
        inner = unit.value.get("message") if type(unit.value) is dict else None
        if type(inner) is dict and not pieces.takes(inner):
            yield from pieces.close()
        yield unit
    yield from pieces.close()


def message_of(source: Sequence[Fragment]) -> Message:
    """Return the message of the pieces, as far as it was received."""
    unit = ANTHROPIC.joined([value_of(fragment)["event"] for fragment in source]).units[0]
    parts = read_blocks(Content(parse(unit).get("content"), unit, ("content",)), AI)
    return Message(AI, tuple(part for part in parts if not _is_empty(part)), source=tuple(source), note="cut off")


def _is_empty(part: Part) -> bool:
    return (isinstance(part, Text) and not part.text) or (isinstance(part, Thinking) and not part.content)


class _Pieces:
    """The pieces of the answer that is streaming."""

    def __init__(self) -> None:
        self._units: list[Unit] = []
        self._id: Any = None
        self._whole = 0
        """The number of complete blocks of the answer."""

    def add(self, unit: Unit) -> None:
        message = unit.value["event"].get("message")
        self._id = message.get("id") if type(message) is dict else self._id
        self._units.append(unit)

    def takes(self, inner: dict[str, Any]) -> bool:
        """Return True if a message contains whole blocks of the answer that is streaming."""
        content = inner.get("content")
        is_own = self._id is not None and inner.get("id") == self._id
        self._whole += len(content) if is_own and type(content) is list else 0
        return is_own

    def close(self) -> Iterator[Message | Unit]:
        """Yield the message of the incomplete blocks, after all other pieces."""
        units = self._units
        left = [unit for unit in units if self._is_left(unit.value["event"])]
        message = message_of([unit.fragment() for unit in left]) if left else None
        own = {unit.ordinal for unit in left} if message is not None and message.parts else set()
        self._units, self._id, self._whole = [], None, 0
        yield from (unit for unit in units if unit.ordinal not in own)
        if message is not None and own:
            yield message

    def _is_left(self, event: dict[str, Any]) -> bool:
        index = event.get("index")
        return event.get("type") in _PARTIAL_BLOCKS and type(index) is int and index >= self._whole
