"""Sessions of Gemini CLI (`~/.gemini/tmp/…/chats/session-….json`, since 2026 a log of JSON Lines).

A message of the model holds its calls and what they returned; the log may repeat the results in a message of the user, which
goes with the tool message. What was rewound or rewritten is carried. Notices of the program (`info`, `error`) are not messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Fragment, Message, Part, Role, Text, Thinking, ToolCall, text_of
from chainviz.core.dialects.leaf import Host, Located
from chainviz.core.dialects.losses import Room, losses
from chainviz.core.dialects.values import Speller, objects_of, string_of
from chainviz.core.documents.assemble import ASIDE, place_of
from chainviz.core.documents.json.edit import parse, raw_at
from chainviz.core.documents.units import Pointer, Unit
from chainviz.core.documents.written_lists import uuid_of
from chainviz.core.formats.agents.gemini_cli.log import LIST, Entry, Log, joined, messages_of, takes
from chainviz.core.formats.agents.gemini_cli.message import calls_with_results, element, located_message, member_for, response_ids
from chainviz.core.formats.blocks import value_at
from chainviz.core.formats.contract import Style
from chainviz.core.formats.leaf_format import LeafFormat, Run, is_half

_KINDS = {"user": HUMAN, "gemini": AI}
_NOTICES = ("info", "error", "warning")
_CONTEXT = ("<session_context>", "<hook_context>")
_NOT_SENT = ("/", "?", *_CONTEXT)
"""The beginnings of messages that the program does not send again (isIgnoredUserContent in its sessionUtils.ts)."""
_LONG_AGO = '"1970-01-01T00:00:00.000Z"'
_ROOM = Room(frozenset((HUMAN, AI, TOOL)), signatures=False, free_arguments=False, calls_anywhere=False)


class GeminiCLI(LeafFormat):
    name = "gemini_cli"
    label = "Gemini CLI session"
    tested_with = "sessions of Gemini CLI 0.8 to 0.61"
    packs = True
    names_results = True
    blocks_at = LIST
    halves = True
    results_in_calls = True
    lines = True
    hints = ("timestamp", "$set")
    carried_fields = frozenset(("result", "resultDisplay", "displayContent", "displayName", "description"))

    def is_message(self, value: object) -> bool:
        if isinstance(value, dict) and "$set" in value:
            items = value_at(value, LIST)
            return isinstance(items, list) and any(_is_entry(item, (*_KINDS, *_NOTICES)) for item in items)
        return _is_entry(value, (*_KINDS, *_NOTICES))

    def is_carried(self, value: object) -> bool:
        """Return True for an earlier state of a message, a notice, the head of the session, or a change of the log."""
        if not isinstance(value, dict) or self.is_message(value):
            return isinstance(value, dict)
        changed = value.get("$set", value)
        sets_messages = not isinstance(changed, dict) or "messages" in changed
        return "$rewindTo" in value or (not sets_messages and bool(value.keys() & {"projectHash", "$set"}))

    def carried_in(self, value: object) -> frozenset[str]:
        """Return the carried fields. They include the content of a list that is set, which may have been rewritten since."""
        is_list = isinstance(value, dict) and "$set" in value
        return self.carried_fields | {"content", "thoughts", "toolCalls"} if is_list else self.carried_fields

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        log = Log(lambda value: _is_entry(value, tuple(_KINDS)))
        for unit in units:
            yield from log.add(unit)
        for run, source in _Messages(log).found:
            yield self._message(run, source)

    def runs(self, value: Any) -> Sequence[Run]:
        return _runs(value) if _is_entry(value, tuple(_KINDS)) else ()

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        return [
            each
            for at, place in _places(value, run[1])
            for each in located_message(messages_of(value)[place], text, at, run[0])
        ]  # fmt: skip

    def locate_all(self, source: Sequence[tuple[str, Any]], run: Run) -> list[list[Located]]:
        """Locate the parts of a message in its units. A later unit has parts if it is a person's text after those that
        the program put first. Others are earlier states of the message, or repeat its results."""
        (first, value), *others = source
        own = {string_of(messages_of(value)[place], "id") for _, place in _places(value, run[1])}
        return [
            self.locate(value, first, run),
            *(
                self.locate(other, text, (run[0], None)) if run[0] == HUMAN and LIST[0] not in other and other["id"] not in own else []
                for text, other in others
            ),
        ]

    def home(self, part: Part, host: Host) -> Pointer:
        at, place = _places(host.value, None)[0]
        return (*at, member_for(part, messages_of(host.value)[place]))

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        return element(part, messages_of(host.value)[0], speller)

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        own = uuid_of(f"{style.number} {message.role} {text_of(message)}")
        near = raw_at(style.near, ("timestamp",)) if style.near else None
        kind = "gemini" if message.role == AI else "user"
        members = {"id": speller.quote(own), "timestamp": near or _LONG_AGO, "type": speller.quote(kind)}
        members["content"] = '""' if kind == "gemini" else "[]"
        if kind == "gemini" and any(isinstance(part, Thinking) or _reasons(part) for part in message.parts):
            members["thoughts"] = "[]"
        if kind == "gemini" and any(isinstance(part, ToolCall) for part in message.parts):
            members["toolCalls"] = "[]"
        return speller.object(members)

    def with_role(self, text: str, role: Role, speller: Speller) -> str | None:
        return None

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        """Write a message. A changed one drops the units with an earlier state of it, or with its results repeated."""
        written = super().write(message, style)
        if not message.source or written == message.source:
            return written
        units = [(fragment.text, parse(fragment.text)) for fragment in message.source]
        located = self.locate_all(units, (message.role, message.source[0].blocks))
        idle = {fragment.ordinal for fragment, parts in zip(message.source[1:], located[1:], strict=True) if not parts}
        return (*written[:1], *(fragment for fragment in written[1:] if fragment.ordinal not in idle))

    def join(self, fragments: Sequence[Fragment]) -> str:
        return joined(fragments)

    def takes(self, group: Sequence[Fragment], fragment: Fragment) -> bool:
        return takes(group, fragment)

    def sent_twice(self, messages: Sequence[Message]) -> Sequence[Fragment]:
        """Return the results that the program sends twice, since a record of the user repeats those of a record of calls."""
        return [fragment for message in messages if message.role == TOOL for fragment in message.source[1:]]

    def is_sent(self, message: Message) -> bool:
        return message.role != HUMAN or not all(_is_left_out(part) for part in message.parts)

    def losses(self, message: Message) -> tuple[str, ...]:
        is_empty = any(isinstance(part, Text) and not part.text for part in message.parts)
        return (*losses(message, _ROOM), *(("an empty text is left out",) if is_empty else ()))


def _is_entry(value: object, kinds: Sequence[str]) -> bool:
    if not isinstance(value, dict) or value.get("type") not in kinds or "content" not in value:
        return False
    return isinstance(value.get("id"), str) and "timestamp" in value and "message" not in value


def _reasons(part: Part) -> bool:
    return isinstance(part, Text | ToolCall) and part.reasoning is not None


def _runs(value: Any) -> Sequence[Run]:
    if value["type"] == "gemini":
        return ((AI, (0,)), (TOOL, (~0,))) if calls_with_results(value) else ((AI, None),)
    if response_ids(value) is not None:
        return ((TOOL, None),)
    has_responses = any("functionResponse" in item for item in objects_of(value, "content"))
    return ((TOOL, (~0,)), (HUMAN, (0,))) if has_responses else ((HUMAN, None),)


def _is_left_out(part: Part) -> bool:
    return isinstance(part, Text) and part.text.lstrip().startswith(_NOT_SENT)


def _places(value: Any, blocks: tuple[int, ...] | None) -> list[tuple[Pointer, int]]:
    """Return the pointers to the messages of a fragment, each with its number among the messages of the record."""
    if value_at(value, LIST) is None:
        return [((), 0)]
    places = [place_of(index) for index in blocks or (0,) if index < ASIDE]
    return [((*LIST, place), place) for place in places]


class _Messages:
    """The messages of a log, each as its role, its blocks and its units."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._answers: dict[str, int] = {}
        """By call: the message that contains its result."""
        self.found: list[tuple[Run, list[tuple[Fragment, Any]]]] = []
        self._opens = False
        for entry in log.entries:
            self._add(entry)

    def _add(self, entry: Entry) -> None:
        value = entry.value
        unit, is_listed = entry.unit, value_at(entry.unit.value, LIST) is not None
        ids = response_ids(value) if value["type"] == "user" else None
        answered = {self._answers.get(id, -1) for id in ids or ()}
        runs = _runs(value)
        if len(answered) == 1 and -1 not in answered:
            blocks = self._log.blocks(entry) if is_listed else None
            self.found[answered.pop()][1].append((unit.fragment(blocks), unit.value))
        elif self._opens and not is_listed and runs == ((HUMAN, None),):
            self.found[-1][1].append((unit.fragment(), unit.value))
        else:
            for role, blocks in runs:
                own = self._log.blocks(entry, is_half=is_half(blocks)) if is_listed else blocks
                self.found.append(((role, own), [(unit.fragment(own), unit.value)]))
            place = -1 if runs[-1][0] != TOOL else -len(runs)
            self.found[place][1].extend(map(self._earlier, entry.older))
        self._opens = runs == ((HUMAN, None),) and _is_context(value)
        if value["type"] == "gemini":
            self._answers |= {string_of(value["toolCalls"][place], "id"): len(self.found) - 1 for place in calls_with_results(value)}

    def _earlier(self, entry: Entry) -> tuple[Fragment, Any]:
        is_listed = value_at(entry.unit.value, LIST) is not None
        return entry.unit.fragment(self._log.blocks(entry) if is_listed else None), entry.unit.value


def _is_context(value: Any) -> bool:
    """Return True if the program added the message before a person's words."""
    content = value.get("content")
    first = content[0] if type(content) is list and content else content
    text = first if type(first) is str else string_of(first, "text")
    return text.lstrip().startswith(_CONTEXT)
