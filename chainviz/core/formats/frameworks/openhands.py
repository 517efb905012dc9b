"""OpenHands: event logs of version 0 (`action`, `observation`) and version 1 (`kind`), and version 0 histories that are
pairs of an action and its observation.

Events of one answer of the model are one AI message. What an event says it repeats in several members: a change is written
into each. An event cannot take or lose parts: a message that does is written as a new event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, NEW, SYSTEM, TOOL, Fragment, Message, Part, Role, ToolCall, ToolResult, text_of
from chainviz.core.dialects.leaf import Host, Located
from chainviz.core.dialects.losses import TEXTS_JOIN, Room, has_several_texts, losses
from chainviz.core.dialects.units import joined_halves
from chainviz.core.dialects.values import Speller, reasoning_of, string_of
from chainviz.core.documents.json.edit import parse, raw_at, replace_at
from chainviz.core.documents.units import Pointer, Sample, Unit
from chainviz.core.formats.contract import Style
from chainviz.core.formats.frameworks import openhands_events as events
from chainviz.core.formats.frameworks.openhands_events import new_event
from chainviz.core.formats.leaf_format import LeafFormat, Run, is_half

_ROOM = Room(
    frozenset((SYSTEM, HUMAN, AI, TOOL)), signatures=False, result_media=False, images=False, files=False,
    calls_anywhere=False,
)  # fmt: skip
_EVERY_EVENT = {"id", "timestamp", "source"}
"""Members of every event of version 1, also of events outside the chain."""
_NOTHING = '{"message": "No observation", "observation": "null", "content": "", "extras": {}}'


class OpenHands(LeafFormat):
    name = "openhands"
    label = "OpenHands events"
    tested_with = "OpenHands V0 (2024, 2025), V1"
    blocks_at = ("extras",)
    any_near = True
    names_results = True
    hints = ("action", "observation", "kind")
    carried_types = frozenset(
        ("agent_state_changed", "change_agent_state", "recall", "null", "pause", "resume", "condensation_request",
         "ConversationStateUpdateEvent", "PauseEvent", "CondensationRequest", "Condensation", "CondensationSummaryEvent",
         "LLMCompletionLogEvent", "ConversationErrorEvent", "TokenEvent")
    )  # fmt: skip
    carried_fields = frozenset(
        ("observation", "cause", "source", "action", "extras", "tools", "kernel_init_code", "code",
         "command", "translated_ipython_code", "formatted_output_and_error", "new_content", "diff", "metadata", "llm_metrics",
         "summary", "security_risk")
    )  # fmt: skip

    def is_message(self, value: object) -> bool:
        if isinstance(value, list):
            return len(value) == 2 and all(map(_is_event, value))
        return _is_event(value)

    def spoken(self, value: Any) -> Any:
        """Return an event without the sentence that describes it."""
        if isinstance(value, list):
            return [self.spoken(each) for each in value]
        return {key: inner for key, inner in value.items() if key != "message"} if isinstance(value, dict) else value

    def carried_in(self, value: object) -> frozenset[str]:
        """Return the fields that are known. An observation repeats the answer in its action."""
        is_result = isinstance(value, dict) and "observation" in value
        return self.carried_fields | {"tool_call_metadata"} if is_result else self.carried_fields

    def is_carried(self, value: object) -> bool:
        events = value if isinstance(value, list) else [value]
        return all(isinstance(each, dict) and self.carried_types.intersection(_kinds(each)) for each in events)

    def confidence(self, sample: Sample) -> float:
        return 0.96 if any(self.is_message(value) for value in sample.values) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        """The user speaks first if an event does not name its speaker."""
        turn: list[tuple[Fragment, Any]] = []
        id, behind, is_begun = "", list[Message](), False
        for unit in units:
            runs = self.runs(unit.value)
            if not runs:
                yield unit
                continue
            own = events.turn_of(unit.value) if type(unit.value) is dict else ""
            if turn and own == id:
                turn.append((unit.fragment(), unit.value))
                continue
            if turn and all(role == TOOL for role, _ in runs):
                behind += [self._message(run, [(unit.fragment(run[1]), unit.value)]) for run in runs]
                continue
            yield from self._closed(turn, behind)
            turn, behind, id = [(unit.fragment(), unit.value)] if own else [], [], own
            for role, blocks in () if own else runs:
                role = role or (AI if is_begun else HUMAN)
                is_begun = is_begun or role in (HUMAN, AI)
                yield self._message((role, blocks), [(unit.fragment(blocks), unit.value)])
        yield from self._closed(turn, behind)

    def _closed(self, turn: Sequence[tuple[Fragment, Any]], behind: Sequence[Message]) -> Iterator[Message]:
        if turn:
            yield self._message((AI, None), turn)
        yield from behind

    def runs(self, value: Any) -> Sequence[Run]:
        if type(value) is not list:
            role = events.role_of(value)
            return () if role is None else ((role, None),)
        if len(value) != 2:
            return ()
        said, answer = map(events.role_of, value)
        if said is None:
            return ()
        return ((said, (0,)), (TOOL, (~0,))) if answer == TOOL else ((said, None),)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        run = next(iter(self.runs(parse(source[0].text))), (role, None))
        if source[0].blocks is None and run[0]:
            role = run[0]
        values = [(fragment, parse(fragment.text)) for fragment in source]
        return self._message((role, source[0].blocks), values)

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        at: Pointer = () if type(value) is dict else (1,) if is_half(run[1]) else (0,)
        event = value if not at else value[at[0]]
        return events.locate_event(event, text, at, run[0])

    def locate_all(self, source: Sequence[tuple[str, Any]], run: Run) -> list[list[Located]]:
        """The answer that each of its events repeats counts once, with the calls that no event carries out."""
        found = super().locate_all(source, run)
        if run[0] != AI or type(source[0][1]) is not dict or "kind" in source[0][1]:
            return found
        own = [[each for each in parts if isinstance(each.part, ToolCall)] for parts in found[1:]]
        claimed = {each.part.id for parts in found for each in parts if isinstance(each.part, ToolCall)}
        return [[*found[0], *events.unclaimed_calls(source[0][1], (), claimed)], *own]

    def home(self, part: Part, host: Host) -> Pointer:
        return ("extras",)

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        return []

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            return self._events(message, style)
        old = self.message(message.role, message.source)
        same = [part.origin for part in message.parts] == [part.origin for part in old.parts]
        if same and message.role == old.role and list(map(type, message.parts)) == list(map(type, old.parts)):
            fragments = super().write(message, style)
            if self.message(message.role, fragments) == message:
                return fragments
        first = message.source[0]
        new, *others = self._events(replace(message, source=()), replace(style, near=first.text))
        return (replace(new, ordinal=first.ordinal, lead=first.lead), *others)

    def _events(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        """Return the events of a message. In version 1 each call of an answer is an event."""
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        if len(calls) < 2 or not _is_version_1(style.near):
            return super().write(message, style)
        rest = tuple(part for part in message.parts if not isinstance(part, ToolCall))
        speller = Speller(style.near, style.ascii)
        parts = [(*rest, calls[0]), *((call,) for call in calls[1:])]
        return tuple(Fragment(NEW, "", new_event(replace(message, parts=own), speller, response=calls[0].id)) for own in parts)

    def _new(self, message: Message, style: Style) -> Fragment:
        """Return a new event, made from the skeleton."""
        return Fragment(NEW, "", self.skeleton(message, style, Speller(style.near, style.ascii)))

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        if _is_version_1(style.near):
            return new_event(message, speller)
        event = _new_event(message, speller)
        return f"[{event}, {_NOTHING}]" if style.near and type(parse(style.near)) is list else event

    def join(self, fragments: Sequence[Fragment]) -> str:
        return joined_halves(fragments, self.blocks_at, _Pairs())

    def note(self, value: Any) -> str:
        choice = events.value_at(value, (events.METADATA, *events.MESSAGE[:-1]))
        return string_of(choice, "finish_reason")

    def losses(self, message: Message) -> tuple[str, ...]:
        thinks = bool(reasoning_of(message)) and not any(isinstance(part, ToolCall) for part in message.parts)
        return (
            *losses(message, _ROOM),
            *((TEXTS_JOIN,) if has_several_texts(message.parts) else ()),
            *(("reasoning without a call becomes the action think",) if thinks else ()),
        )


def _is_event(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("kind"), str) and (value["kind"] in events.KINDS_V1 or value.keys() >= _EVERY_EVENT):
        return True
    if isinstance(value.get("action"), str):
        return "args" in value or "is_confirmed" in value or "wait_for_response" in value
    return isinstance(value.get("observation"), str) and "content" in value


def _is_version_1(text: str) -> bool:
    value = parse(text) if text else None
    return string_of(value, "kind") in events.KINDS_V1


def _new_event(message: Message, speller: Speller) -> str:
    """Return a version 0 event: a message of a person or the model, an answer with its calls, or a result."""
    quote = speller.quote
    text = text_of(message)
    if message.role == TOOL:
        result = next(part for part in message.parts if isinstance(part, ToolResult))
        metadata = {"function_name": quote(result.name), "tool_call_id": quote(result.call_id)}
        kind = '"error"' if result.is_error else '"run"'
        members = {"source": '"agent"', "message": '""', "observation": kind, "content": quote(result.content)}
        return speller.object({**members, events.METADATA: speller.object(metadata), "extras": "{}"})
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    thoughts = [each.content for each in reasoning_of(message) if each.content]
    if message.role != AI or not (calls or thoughts):
        source = '"agent"' if message.role in (AI, SYSTEM) else '"user"'
        action = '"system"' if message.role == SYSTEM else '"message"'
        args = speller.object({"content": quote(text)})
        return speller.object({"source": source, "message": quote(text), "action": action, "args": args})
    inner = {"role": '"assistant"', "content": quote(text)}
    if thoughts:
        inner["reasoning_content"] = quote("\n\n".join(thoughts))
    inner["tool_calls"] = speller.list([_call(call, speller) for call in calls])
    response = speller.object({"choices": speller.list([speller.object({"message": speller.object(inner)})])})
    first = calls[0] if calls else ToolCall("", "", "{}")
    metadata = {"function_name": quote(first.name), "tool_call_id": quote(first.id), "model_response": response}
    head = {"source": '"agent"', "message": '""', "action": quote(first.name or "think"), "args": "{}"}
    return speller.object({**head, events.METADATA: speller.object(metadata)})


def _call(call: ToolCall, speller: Speller) -> str:
    function = {"name": speller.quote(call.name), "arguments": speller.quote(call.arguments)}
    return speller.object({"id": speller.quote(call.id), "type": '"function"', "function": speller.object(function)})


class _Pairs:
    """An action with its observation."""

    def call_id(self, element: str) -> str:
        return ""

    def without_result(self, element: str) -> str:
        answer = events.role_of(parse(element)[1]) if type(parse(element)) is list else None
        return replace_at(element, (1,), _NOTHING) if answer == TOOL else element

    def without_call(self, element: str) -> str:
        return element

    def with_results(self, element: str, results: Sequence[str]) -> str:
        return replace_at(element, (1,), raw_at(results[0], (1,)) or _NOTHING)


def _kinds(event: dict[str, Any]) -> list[str]:
    return [value for key in ("action", "observation", "kind") if type(value := event.get(key)) is str]
