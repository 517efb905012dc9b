"""Traces of agents in exchange forms: ATIF by Harbor, and the simple form of the Hugging Face Hub."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SYSTEM,
    TOOL,
    Fragment,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.core.dialects.leaf import Host, Leaf, Located, as_json, set_at, without
from chainviz.core.dialects.losses import Room, losses
from chainviz.core.dialects.units import joined_halves
from chainviz.core.dialects.values import Speller, objects_of, string_of
from chainviz.core.documents.json.edit import load_array, member_at, parse, raw_at, replace_at
from chainviz.core.documents.units import Pointer, Sample
from chainviz.core.formats.contract import Style
from chainviz.core.formats.leaf_format import LeafFormat, Run, is_half
from chainviz.core.formats.read_only import ReadOnlyUnits, Turn, as_text, call_arguments, inner

ROLES: dict[str, Role] = {"system": SYSTEM, "user": HUMAN, "agent": AI}
WORDS: dict[Role, str] = {SYSTEM: "system", HUMAN: "user", AI: "agent", TOOL: "agent"}
_ROOM = Room(
    frozenset(WORDS), signatures=False, errors=False, result_names=False, result_media=False, free_arguments=False,
    images=False, files=False, calls_anywhere=False,
)  # fmt: skip
_MESSAGE: Pointer = ("message",)
_CALLS: Pointer = ("tool_calls",)
_OF_AGENT = ("reasoning_content", "tool_calls", "metrics", "model_name", "reasoning_effort")
"""Members of a step, beside its message, about the agent or the call of the model."""
_RESULTS: Pointer = ("observation", "results")


class ATIF(LeafFormat):
    """ATIF, Harbor's trajectory format: a step of the agent holds its message, its calls and what came back.

    What came back without a call (an agent that acts by text) is what the environment told it: a human message.
    """

    name = "atif"
    label = "ATIF trajectory"
    tested_with = "ATIF 1.5, 1.7"
    packs = True
    blocks_at = ("observation",)
    halves = True
    template = '{"schema_version": "ATIF-v1.5", "steps": [\n]}\n'
    hints = ("step_id",)
    carried_fields = frozenset(("subagent_trajectory_ref", "extra", "source"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("source"), str):
            return False
        return value["source"] in ROLES and "step_id" in value and "message" in value

    def runs(self, value: Any) -> Sequence[Run]:
        if not self.is_message(value):
            return ()
        role = ROLES[value["source"]]
        told = [item for item in _results(value) if _is_context(item)]
        if not told:
            return ((role, None),)
        answers = value.get("tool_calls") or any(type(item.get("source_call_id")) is str for item in told)
        heard: Run = (TOOL if answers else HUMAN, (~0,))
        return (heard,) if _is_observation(value) else ((role, (0,)), heard)

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        if is_half(run[1]):
            results = enumerate(_results(value))
            return [_result(item, value, (*_RESULTS, index), run[0]) for index, item in results if _is_context(item)]
        found = list(_texts(value, text))
        calls = value.get("tool_calls") if run[0] == AI else None
        listed = enumerate(calls if type(calls) is list else ())
        return [*found, *[_call(item, text, (*_CALLS, index)) for index, item in listed if type(item) is dict]]

    def home(self, part: Part, host: Host) -> Pointer:
        is_told = host.role == HUMAN and host.value.get("source") == "agent"
        if isinstance(part, ToolResult) or is_told:
            return _RESULTS
        return _CALLS if isinstance(part, ToolCall) else ("reasoning_content",) if isinstance(part, Thinking) else _MESSAGE

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        quote = speller.quote
        if isinstance(part, Text) and self.home(part, host) == _RESULTS:
            return [speller.object({"content": quote(part.text)})]
        if isinstance(part, Text):
            return [speller.object({"type": '"text"', "text": quote(part.text)})]
        if isinstance(part, ToolCall):
            members = {"tool_call_id": quote(part.id), "function_name": quote(part.name)}
            return [speller.object({**members, "arguments": as_json(part.arguments, "", speller)})]
        if isinstance(part, ToolResult):
            return [speller.object({"source_call_id": quote(part.call_id), "content": quote(part.content)})]
        return []

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        source = speller.quote(WORDS.get(message.role, "user"))
        members = {"step_id": str(style.number + 1), "source": source, "message": '""'}
        thoughts = [part.content for part in message.parts if isinstance(part, Thinking)]
        if thoughts:
            members["reasoning_content"] = speller.quote("\n\n".join(thoughts))
        return speller.unit(members | ({"observation": '{"results": []}'} if message.role == TOOL else {}))

    def with_role(self, text: str, role: Role, speller: Speller) -> str | None:
        return None if role == TOOL else replace_at(text, ("source",), speller.quote(WORDS.get(role, "user")))

    def role_label(self, value: Any, role: Role) -> str:
        return "observation" if role == HUMAN and value["source"] != "user" else ""

    def join(self, fragments: Sequence[Fragment]) -> str:
        return joined_halves(fragments, self.blocks_at, _Steps())

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message, _ROOM)


def _results(value: dict[str, Any]) -> list[Any]:
    observation = value.get("observation")
    results = observation.get("results") if type(observation) is dict else None
    return results if type(results) is list else []


def _is_context(item: Any) -> bool:
    """Return True for a result with text. Results that only refer to another trajectory are carried."""
    return type(item) is dict and type(item.get("content")) in (str, list)


def _is_observation(value: dict[str, Any]) -> bool:
    """Return True if the agent neither wrote nor called anything in the step: its message was removed."""
    return value["source"] == "agent" and not value["message"] and not any(value.get(key) for key in _OF_AGENT)


def _texts(value: dict[str, Any], text: str) -> list[Located]:
    found = []
    if string_of(value, "reasoning_content"):
        place: Pointer = ("reasoning_content",)
        found.append(Located(Thinking(value["reasoning_content"]), place, (Leaf("content", place),)))
    message = value["message"]
    if type(message) is list:
        return [*found, *[_block(item, text, (*_MESSAGE, index)) for index, item in enumerate(message)]]
    if type(message) is str and (message or not (value.get("tool_calls") or found)):
        found.append(Located(Text(message), _MESSAGE, (Leaf("text", _MESSAGE),)))
    return found


def _block(item: Any, text: str, place: Pointer) -> Located:
    if type(item) is dict and item.get("type") == "text" and type(item.get("text")) is str:
        return Located(Text(item["text"]), place, (Leaf("text", (*place, "text")),))
    kind = item.get("type") if type(item) is dict else None
    return Located(Opaque(kind if type(kind) is str else "content", raw_at(text, place) or ""), place)


def _call(item: dict[str, Any], text: str, place: Pointer) -> Located:
    arguments = "" if item.get("arguments") is None else member_at(text, place, "arguments")
    part = ToolCall(string_of(item, "tool_call_id"), string_of(item, "function_name"), arguments)
    leaves = (
        Leaf("id", (*place, "tool_call_id")),
        Leaf("name", (*place, "function_name")),
        Leaf("arguments", (*place, "arguments"), as_json),
    )
    return Located(part, place, leaves)


def _result(item: dict[str, Any], value: dict[str, Any], place: Pointer, role: Role) -> Located:
    content, inside = item["content"], (*place, "content")
    if type(content) is list:
        texts = [(each, index) for index, each in enumerate(content) if type(each) is dict and string_of(each, "text")]
        content = "\n".join(each["text"] for each, _ in texts)
        inside = (*inside, texts[0][1], "text") if len(texts) == 1 else inside
    leaf = Leaf("content" if role == TOOL else "text", inside)
    if role != TOOL:
        return Located(Text(content), place, (leaf,))
    call_id = string_of(item, "source_call_id")
    made = value.get("tool_calls")
    calls = [call for call in made or () if type(call) is dict and string_of(call, "tool_call_id") == call_id]
    name = string_of(calls[0], "function_name") if calls else ""
    return Located(ToolResult(call_id, name, content), place, (Leaf("call_id", (*place, "source_call_id")), leaf))


class _Steps:
    """A step and its observation."""

    def call_id(self, element: str) -> str:
        return ""

    def without_result(self, element: str) -> str:
        """Return the element without its observation, unless no result in it is a message."""
        if not any(map(_is_context, _results(parse(element)))):
            return element
        return without(element, ("observation",))

    def without_call(self, element: str) -> str:
        """Return the observation without the agent's text and calls."""
        for key in _OF_AGENT:
            element = without(element, (key,))
        return set_at(element, _MESSAGE, '""')

    def with_results(self, element: str, results: Sequence[str]) -> str:
        if list(results) == [element]:
            return element
        element = set_at(element, ("observation",), raw_at(results[0], ("observation",)) or "{}")
        array = load_array(raw_at(element, _RESULTS) or "[]")
        more = [load_array(raw_at(result, _RESULTS) or "[]") for result in results[1:]]
        array.rebuild([*range(len(array)), *[each.raw(index) for each in more for index in range(len(each))]])
        return set_at(element, _RESULTS, str(array))


_ROLES = ("system", "user", "assistant", "tool")
_OWN = ("toolCalls", "toolCallId", "reasoningContent")


class HFTraces(ReadOnlyUnits):
    """Session traces as the Hugging Face Hub shows them (its simple format): a line about the session, then a message a line.
    Lines look like pi's, but the messages are OpenAI's in camel case.
    """

    name = "hf_traces"
    label = "Hugging Face session trace"
    tested_with = "documentation of the Session Trace Simple Format, 2026"
    hints = ("message",)
    carried_types = frozenset(("session",))

    def is_message(self, value: object) -> bool:
        return string_of(value, "type") == "message" and string_of(inner(value, "message"), "role") in _ROLES

    def confidence(self, sample: Sample) -> float:
        messages = [value["message"] for value in sample.values if self.is_message(value)]
        if not messages:
            return 0.0
        is_named = any(string_of(value, "type") == "session" and "harness" in value for value in sample.values)
        return 0.985 if is_named or any(key in message for message in messages for key in _OWN) else 0.0

    def messages_in(self, value: Any) -> Sequence[Turn]:
        message = value["message"]
        role, content = message["role"], message.get("content")
        if role == "tool":
            return [(role, [ToolResult(string_of(message, "toolCallId"), string_of(message, "toolName"), as_text(content))])]
        thought = string_of(message, "reasoningContent")
        said: list[Part] = [*([Thinking(thought)] if thought else []), *([Text(as_text(content))] if content else [])]
        return [(role, [*said, *map(_hf_call, objects_of(message, "toolCalls"))])]


def _hf_call(item: dict[str, Any]) -> ToolCall:
    function = inner(item, "function") or item
    return ToolCall(string_of(item, "id"), string_of(function, "name"), call_arguments(function.get("arguments")))
