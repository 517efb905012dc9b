"""Sessions of opencode: what `opencode export` writes, and the events that `opencode run --format json` prints.

A message is `{info, parts}`; a tool part is a call and, once it has ended, its result. Older versions keep several steps in one
message: a step gives an AI message, and a tool message where calls have results. An event holds one part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    TOOL,
    Binary,
    Fragment,
    Image,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    text_of,
)
from chainviz.core.dialects.content import as_url
from chainviz.core.dialects.leaf import Host, Leaf, Located, as_json, set_at, without
from chainviz.core.dialects.losses import Room, losses
from chainviz.core.dialects.units import joined_halves
from chainviz.core.dialects.values import Speller, is_object, string_of
from chainviz.core.documents.json.edit import parse, raw_at
from chainviz.core.documents.units import Pointer, Sample
from chainviz.core.documents.written_lists import uuid_of
from chainviz.core.errors import Refused
from chainviz.core.formats.agents.hand_off import OPENCODE
from chainviz.core.formats.contract import COMPACT_SUMMARY, Style, refusal
from chainviz.core.formats.leaf_format import LeafFormat, Run, is_half
from chainviz.core.formats.read_only import inner

_EVENTS = ("text", "reasoning", "tool_use", "step_start", "step_finish")
_MARKS = ("step-start", "step-finish", "snapshot", "patch", "retry")
"""Parts that only record the progress of the agent."""
_ANSWERED = {"completed": "output", "error": "error"}
"""By the status of a call: the member with the text of its result."""
_OF_RESULT = ("status", "output", "error", "title", "metadata", "time", "attachments")
_OWN = ("id", "time", "cost", "tokens", "finish", "error", "summary", "structured")
"""Members that a new message does not copy from its neighbour."""
_ROOM = Room(frozenset((HUMAN, AI, TOOL)), free_arguments=False, result_media=False, files=False, calls_anywhere=False)
_NO_TOKENS = '{"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}'
_MODEL = {"modelID": "unknown", "providerID": "unknown"}
_ASSISTANT = {"role": "assistant", "mode": "build", "agent": "build", "path": {"cwd": "/", "root": "/"}, **_MODEL}
_USER = {"role": "user", "agent": "build", "model": _MODEL}
_HEAD = (
    '{"info": {"id": "ses_converted", "slug": "converted", "projectID": "global", "directory": "/", "title": "Converted chain", '
    f'"version": "{OPENCODE}", '
    '"time": {"created": 0, "updated": 0}}, "messages": [\n]}\n'
)


class Opencode(LeafFormat):
    name = "opencode"
    label = "opencode session"
    tested_with = "opencode 1.18.33 and types of 0.5 to 1.1"
    packs = True
    template = _HEAD
    blocks_at: Pointer = ("parts",)
    halves = True
    results_in_calls = True
    hints = ("parts", "part")
    carried_types = frozenset(("step_start", "step_finish", "error"))
    carried_fields = frozenset((
        "output", "description", "diff", "before", "after", "patch", "preview", "message", "loaded", "content", "title", "body", "root",
        "agent", "reason", "exit", "snapshot",
    ))  # fmt: skip
    """Data of tools for the screen, summaries of changes, the path of the project, the agent's name, and marks of steps."""

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict):
            return False
        if string_of(value, "type") in _EVENTS and isinstance(value.get("part"), dict):
            return "sessionID" in value
        return bool(string_of(inner(value, "info"), "role")) and isinstance(value.get("parts"), list)

    def is_carried(self, value: object) -> bool:
        """Return True for an answer that ended before its first word."""
        return super().is_carried(value) or (self.is_message(value) and not self.runs(value))

    def confidence(self, sample: Sample) -> float:
        return 0.97 if any(self.is_message(value) and not _is_event(value) for value in sample.values) else 0.0

    def runs(self, value: Any) -> Sequence[Run]:
        if not self.is_message(value):
            return ()
        if "part" in value:
            runs = _steps([value["part"]])
        elif value["info"]["role"] == "user":
            return ((HUMAN, None),)
        else:
            runs = _steps(value["parts"])
        return runs if len(runs) > 1 else ((AI, None),) if runs else ()

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        parts, at = ([value["part"]], None) if "part" in value else (value["parts"], self.blocks_at)

        def place(index: int) -> Pointer:
            return ("part",) if at is None else (*at, index)

        if is_half(run[1]):
            return [_result(parts[~index], place(~index)) for index in run[1] or ()]
        if run[0] == TOOL and run[1] is None:
            return [_result(part, place(index)) for index, part in enumerate(parts) if _is_answered(part)]
        found = [_part(parts[index], text, place(index)) for index in (range(len(parts)) if run[1] is None else run[1])]
        return [each for each in found if each is not None]

    def home(self, part: Part, host: Host) -> Pointer:
        return self.blocks_at

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        made = _members(part, inner(host.value, "info"), speller)
        if made is None:
            return []
        if isinstance(part, Opaque):
            return [part.text]
        info = inner(host.value, "info")
        seed = f"{string_of(info, 'id')} {len(host.value.get('parts') or ())} {part!r}"
        ids = {"id": f"prt_{uuid_of(seed)}", "sessionID": string_of(info, "sessionID"), "messageID": string_of(info, "id")}
        return [speller.object({**made, **{key: speller.quote(id) for key, id in ids.items()}})]

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        near = inner(parse(style.near), "info") if style.near else {}
        is_answer = message.role in (AI, TOOL)
        usual = _ASSISTANT if is_answer else _USER
        own = {key: value for key, value in near.items() if key not in _OWN} if near.get("role") == usual["role"] else usual
        seed = uuid_of(f"{style.number} {message.role} {text_of(message)}")
        created = inner(near, "time").get("created")
        time = {"created": created if type(created) is int else style.number}
        if is_answer:
            own = {**own, "cost": 0, "tokens": parse(_NO_TOKENS), "finish": "stop"}
        info = {**own, "time": time, "id": f"msg_{style.number:06d}_{seed}", "sessionID": string_of(near, "sessionID") or "ses_converted"}
        return speller.unit({"info": speller.dump(info), "parts": "[]"})

    def join(self, fragments: Sequence[Fragment]) -> str:
        at = self.blocks_at if raw_at(fragments[0].text, ("part",)) is None else ("part",)
        return joined_halves(fragments, at, _ToolParts())

    def role_label(self, value: Any, role: Role) -> str:
        return COMPACT_SUMMARY if role == AI and inner(value, "info").get("summary") is True else ""

    def is_sent(self, message: Message) -> bool:
        """Return True if opencode sends the message. It leaves out answers that failed, unless a person stopped them."""
        info = inner(parse(message.source[0].text), "info") if message.source else {}
        error = info.get("error")
        return not isinstance(error, dict) or string_of(error, "name") == "MessageAbortedError"

    def losses(self, message: Message) -> tuple[str, ...]:
        is_empty = message.role == AI and not message.parts
        return (*losses(message, _ROOM), *(("an answer without content is left out",) if is_empty else ()))

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        """Write a message. Raises Refused beside an event: chains of earlier versions of chainviz have events in this
        format."""
        if style.near and _is_event(parse(style.near)):
            raise Refused(refusal(OpencodeEvents()))
        return super().write(message, style)


class OpencodeEvents(Opencode):
    name = "opencode_events"
    label = "opencode run --format json"
    tested_with = "events of opencode 0.5 to 1.1"
    writes = False
    template = ""

    def confidence(self, sample: Sample) -> float:
        return 0.97 if any(self.is_message(value) and _is_event(value) for value in sample.values) else 0.0

    def losses(self, message: Message) -> tuple[str, ...]:
        return (refusal(self),)


def _is_event(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("part"), dict)


def _is_tool(item: Any) -> bool:
    return string_of(item, "type") == "tool"


def _is_answered(item: Any) -> bool:
    """Return True if a call has its result. opencode cannot continue a session with an ended call that has no text."""
    state = inner(item, "state")
    return _is_tool(item) and type(state.get(_ANSWERED.get(string_of(state, "status"), ""))) is str


def _steps(parts: Sequence[Any]) -> list[Run]:
    """Return the messages of an answer; none if it is empty. A step ends with its results, before the next step."""
    if all(string_of(item, "type") in _MARKS for item in parts):
        return []
    runs: list[tuple[Role, list[int]]] = [(AI, [])]
    answered: list[int] = []
    for index, item in enumerate(parts):
        kind = string_of(item, "type")
        if answered and not _is_tool(item) and (kind not in _MARKS or kind == "step-start"):
            runs += [(TOOL, [~place for place in answered]), (AI, [])]
            answered = []
        runs[-1][1].append(index)
        if _is_answered(item):
            answered.append(index)
    if answered:
        runs.append((TOOL, [~place for place in answered]))
    elif len(runs) > 1 and all(string_of(parts[index], "type") in _MARKS for index in runs[-1][1]):
        runs[-3][1].extend(runs.pop()[1])
    return [(role, tuple(places)) for role, places in runs]


def _part(item: Any, text: str, place: Pointer) -> Located | None:
    """Locate a part; None for a mark."""
    kind = string_of(item, "type")
    if kind in _MARKS:
        return None
    if kind == "text" and type(item.get("text")) is str:
        return Located(Text(item["text"]), place, (Leaf("text", (*place, "text")),))
    if kind == "reasoning" and type(item.get("text")) is str:
        return _reasoning(item, place)
    if kind == "tool":
        raw = raw_at(text, (*place, "state", "input"))
        part = ToolCall(string_of(item, "callID"), string_of(item, "tool"), "{}" if raw in (None, "null") else raw or "")
        return Located(part, place, (*_call_leaves(place, "id"), Leaf("arguments", (*place, "state", "input"), as_json)))
    if kind == "file" and string_of(item, "mime").startswith("image/") and type(item.get("url")) is str:
        return Located(Image(item["url"]), place, (Leaf("url", (*place, "url")),))
    return Located(Opaque(kind or "part", raw_at(text, place) or ""), place)


def _call_leaves(place: Pointer, id_field: str) -> tuple[Leaf, Leaf]:
    return Leaf(id_field, (*place, "callID")), Leaf("name", (*place, "tool"))


def _reasoning(item: dict[str, Any], place: Pointer) -> Located:
    """Locate a reasoning part. Its signature is in the metadata of the provider that made it."""
    inside: Pointer = ("metadata", "anthropic", "signature")
    for provider, members in inner(item, "metadata").items():
        if string_of(members, "signature"):
            inside = ("metadata", provider, "signature")
    signature = string_of(inner(inner(item, "metadata"), str(inside[1])), "signature")
    return Located(Thinking(item["text"], signature), place, (Leaf("content", (*place, "text")), Leaf("signature", (*place, *inside))))


def _result(item: dict[str, Any], place: Pointer) -> Located:
    state = inner(item, "state")
    is_error = string_of(state, "status") == "error"
    key = "error" if is_error else "output"
    part = ToolResult(string_of(item, "callID"), string_of(item, "tool"), string_of(state, key), is_error)
    return Located(part, place, (*_call_leaves(place, "call_id"), Leaf("content", (*place, "state", key))))


def _members(part: Part, info: dict[str, Any], speller: Speller) -> dict[str, str] | None:
    """Return the members of a new part except its ids; None if it has no place."""
    created = inner(info, "time").get("created")
    time = created if type(created) is int else 0
    if isinstance(part, Text):
        return {"type": '"text"', "text": speller.quote(part.text)}
    if isinstance(part, Thinking):
        signed = {"metadata": speller.dump({"anthropic": {"signature": part.signature}})} if part.signature else {}
        return {"type": '"reasoning"', "text": speller.quote(part.content), "time": speller.dump({"start": time, "end": time}), **signed}
    if isinstance(part, Image | Binary):
        url = as_url(part)
        mime = part.mime if isinstance(part, Binary) else url[5:].partition(";")[0] if url.startswith("data:") else "image/png"
        return {"type": '"file"', "mime": speller.quote(mime), "url": speller.quote(url)}
    if isinstance(part, ToolCall):
        state = {"status": '"pending"', "input": as_json(part.arguments, "", speller), "raw": '""'}
        return {"type": '"tool"', "tool": speller.quote(part.name), "callID": speller.quote(part.id), "state": speller.object(state)}
    if isinstance(part, ToolResult):
        times = speller.dump({"start": time, "end": time})
        said = {"error": speller.quote(part.content)} if part.is_error else _output(part, speller)
        state = {"status": '"error"' if part.is_error else '"completed"', "input": "{}", **said, "time": times}
        return {"type": '"tool"', "tool": speller.quote(part.name), "callID": speller.quote(part.call_id), "state": speller.object(state)}
    is_own = is_object(part.text) and "sessionID" in parse(part.text)
    return {} if is_own else None


def _output(part: ToolResult, speller: Speller) -> dict[str, str]:
    return {"output": speller.quote(part.content), "title": '""', "metadata": "{}"}


class _ToolParts:
    """The two halves of a tool part."""

    def call_id(self, element: str) -> str | None:
        item = _item(element)[0]
        return string_of(item, "callID") if _is_tool(item) else None

    def without_result(self, element: str) -> str:
        item, at = _item(element)
        if not _is_answered(item):
            return element
        for key in _OF_RESULT[1:]:
            element = without(element, (*at, "state", key))
        return set_at(set_at(element, (*at, "state", "raw"), '""'), (*at, "state", "status"), '"pending"')

    def without_call(self, element: str) -> str:
        return element

    def with_results(self, element: str, results: Sequence[str]) -> str:
        if element == results[0]:
            return element
        (old, at), (new, other) = _item(element), _item(results[0])
        if not _is_tool(old):
            return element
        for key in _OF_RESULT:
            raw = raw_at(results[0], (*other, "state", key))
            if raw is None:
                element = without(element, (*at, "state", key))
            elif inner(old, "state").get(key) != inner(new, "state")[key]:
                element = set_at(element, (*at, "state", key), raw)
        element = without(element, (*at, "state", "raw"))
        return element if "input" in inner(old, "state") else set_at(element, (*at, "state", "input"), "{}")


def _item(element: str) -> tuple[Any, Pointer]:
    """Return the part of an element, which may be an event, and the pointer to it."""
    value = parse(element)
    return (value["part"], ("part",)) if _is_event(value) else (value, ())
