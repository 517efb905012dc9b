"""Events of OpenHands as parts with places: version 0 (`action`, `observation`) and version 1 (`kind`).

`at` is where in the unit the event lies: old files hold pairs of an action and its observation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SYSTEM,
    TOOL,
    Image,
    Message,
    Opaque,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    text_of,
)
from chainviz.core.dialects.content import ResultElements, content_leaves, read_result_content
from chainviz.core.dialects.leaf import Leaf, Located, as_flag
from chainviz.core.dialects.values import Speller, reasoning_of, string_of
from chainviz.core.documents.json.edit import dump, load_object, parse, raw_at
from chainviz.core.documents.units import Pointer

METADATA = "tool_call_metadata"
MESSAGE: Pointer = ("model_response", "choices", 0, "message")
_CARRIED = frozenset(("recall", "change_agent_state", "null", "agent_state_changed", "condensation", "condensation_request"))
_SPEAKERS: dict[str, Role] = {"user": HUMAN, "assistant": AI, "agent": AI, "system": SYSTEM, "tool": TOOL}
KINDS_V1: dict[str, Role] = {
    "SystemPromptEvent": SYSTEM, "MessageEvent": "", "ActionEvent": AI, "ObservationEvent": TOOL,
    "UserRejectObservation": TOOL, "AgentErrorEvent": TOOL, "CondensationSummaryEvent": HUMAN,
}  # fmt: skip
_FLAT = frozenset(("action", "thought", "is_confirmed", "security_risk", "keep_prompt", "kernel_init_code", "confirmation_state"))
"""Members of an action without `args` that are not its arguments."""


def value_at(value: Any, at: Pointer) -> Any:
    for step in at:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def role_of(event: Any) -> Role | None:
    """Return the role of an event; "" if it follows from its place in the log; None for an event that is carried."""
    if type(event) is not dict:
        return None
    if string_of(event, "kind") in KINDS_V1:
        spoken = event.get("llm_message")
        return KINDS_V1[event["kind"]] or _SPEAKERS.get(string_of(spoken, "role"), string_of(spoken, "role") or None)
    action, observation = string_of(event, "action"), string_of(event, "observation")
    if (action or observation) in _CARRIED:
        return None
    if action == "system":
        return SYSTEM
    if action == "message":
        return _SPEAKERS.get(string_of(event, "source"), "")
    if action:
        return AI if event.get("source", "agent") == "agent" else None
    return TOOL if observation and "content" in event else None


def turn_of(event: Any) -> str:
    """Return the answer of the model that an event belongs to. Several calls of one answer are several events."""
    if type(event) is not dict or role_of(event) != AI:
        return ""
    if event.get("kind") == "ActionEvent":
        return string_of(event, "llm_response_id")
    return string_of(value_at(event, (METADATA, "model_response")), "id")


def locate_event(event: dict[str, Any], text: str, at: Pointer, role: Role) -> list[Located]:
    """Locate the parts of one event. The answer that version 0 events repeat counts only with its first event."""
    if "kind" in event:
        return list(_version_1(event, text, at))
    if role == TOOL:
        return [_observation(event, text, at)]
    arguments = event.get("args")
    inside: Pointer = (*at, "args") if type(arguments) is dict else at
    if string_of(event, "action") in ("message", "system"):
        return [_text(value_at(event, ("args",)) or event, inside, "content", _copies(event, at, string_of(arguments or event, "content")))]
    return [*_thought(event, inside, at), _event_action(event, text, at)]


def _text(holder: Any, at: Pointer, key: str, copies: tuple[Leaf, ...] = ()) -> Located:
    return Located(Text(string_of(holder, key)), (*at, key), (Leaf("text", (*at, key)), *copies))


def _copies(event: dict[str, Any], at: Pointer, content: str) -> tuple[Leaf, ...]:
    """`message` is what the interface shows; it often repeats the content."""
    return (Leaf("text", (*at, "message")),) if content and string_of(event, "message") == content else ()


def _thought(event: dict[str, Any], inside: Pointer, at: Pointer) -> Iterator[Located]:
    """Locate the text of the model before its call."""
    message = value_at(event, (METADATA, *MESSAGE))
    place = (*at, METADATA, *MESSAGE)
    if string_of(message, "reasoning_content"):
        leaf = Leaf("content", (*place, "reasoning_content"))
        yield Located(Thinking(message["reasoning_content"]), (*place, "reasoning_content"), (leaf,))
    arguments = event.get("args") if type(event.get("args")) is dict else event
    thought = string_of(arguments, "thought")
    said = string_of(message, "content")
    if said:
        copies = (Leaf("text", (*inside, "thought")),) if thought == said else ()
        yield _text(message, place, "content", copies)
    elif thought and message is None:
        yield _text(arguments, inside, "thought")


def _event_action(event: dict[str, Any], text: str, at: Pointer) -> Located:
    metadata = event.get(METADATA)
    name = string_of(metadata, "function_name") or string_of(event, "action")
    if type(metadata) is not dict:
        arguments, place = _plain_arguments(event, text, at)
        plain = (Leaf("arguments", place, _as_object),) if place else ()
        return Located(ToolCall(event_id(event), name, arguments), (), plain)
    id = string_of(metadata, "tool_call_id")
    leaves = (Leaf("id", (*at, METADATA, "tool_call_id")), Leaf("name", (*at, METADATA, "function_name")))
    found = call_place(event, id)
    if found is None:
        arguments, held = _plain_arguments(event, text, at)
        return Located(ToolCall(id, name, arguments), (), (*leaves, Leaf("arguments", held, _as_object)))
    call = located_call(event, at, found)
    return Located(call.part, (), (*call.leaves, *leaves, Leaf("arguments", (*at, "args"), _synced)))


def event_id(event: dict[str, Any]) -> str:
    id = event.get("id")
    return f"event_{id}" if type(id) in (int, str) else "event"


def _plain_arguments(event: dict[str, Any], text: str, at: Pointer) -> tuple[str, Pointer]:
    if type(event.get("args")) is dict:
        return raw_at(text, (*at, "args")) or "{}", (*at, "args")
    return dump({key: value for key, value in event.items() if key not in _FLAT}), ()


def _as_object(value: str, raw: str, speller: Speller) -> str | None:
    try:
        return value if type(parse(value)) is dict else None
    except ValueError:
        return None


def _synced(value: str, raw: str, speller: Speller) -> str:
    """Give the members of the parsed arguments beside the call the same values as in the call."""
    try:
        new = parse(value)
    except ValueError:
        new = None
    if type(new) is not dict or not raw.startswith("{"):
        return raw or "{}"
    held = load_object(raw)
    for key, each in new.items():
        if key in held and parse(held.raw(key)) != each:
            held.set(key, speller.dump(each))
    return str(held)


def call_place(event: dict[str, Any], id: str) -> Pointer | None:
    """Return the pointer to the call with this id in the event's answer."""
    calls = value_at(event, (METADATA, *MESSAGE, "tool_calls"))
    for index, call in enumerate(calls if type(calls) is list else ()):
        if string_of(call, "id") == id and type(value_at(call, ("function",))) is dict:
            return (METADATA, *MESSAGE, "tool_calls", index)
    return None


def located_call(event: dict[str, Any], at: Pointer, place: Pointer) -> Located:
    call = value_at(event, place)
    function = call["function"]
    part = ToolCall(string_of(call, "id"), string_of(function, "name"), string_of(function, "arguments"))
    inside = (*at, *place, "function")
    leaves = (Leaf("id", (*at, *place, "id")), Leaf("name", (*inside, "name")), Leaf("arguments", (*inside, "arguments")))
    return Located(part, (*at, *place), leaves)


def unclaimed_calls(event: dict[str, Any], at: Pointer, claimed: set[str]) -> Iterator[Located]:
    """Yield the calls of the answer that no event of it executes."""
    calls = value_at(event, (METADATA, *MESSAGE, "tool_calls"))
    for index, call in enumerate(calls if type(calls) is list else ()):
        if string_of(call, "id") not in claimed and type(value_at(call, ("function",))) is dict:
            yield located_call(event, at, (METADATA, *MESSAGE, "tool_calls", index))


def _observation(event: dict[str, Any], text: str, at: Pointer) -> Located:
    metadata = event.get(METADATA)
    kind = string_of(event, "observation")
    id = string_of(metadata, "tool_call_id")
    leaves: tuple[Leaf, ...] = (Leaf("call_id", (*at, METADATA, "tool_call_id")),)
    if not id:
        cause = event.get("cause")
        id, leaves = f"event_{cause}" if type(cause) in (int, str) else "event", ()
    part = ToolResult(id, string_of(metadata, "function_name") or kind, string_of(event, "content"), kind in ("error", "user_rejected"))
    said = [Leaf("content", (*at, "content"))]
    if part.content and string_of(event, "message") == part.content:
        said.append(Leaf("content", (*at, "message")))
    return Located(part, (), (*leaves, *said))


def _version_1(event: dict[str, Any], text: str, at: Pointer) -> Iterator[Located]:
    kind = event["kind"]
    if kind == "SystemPromptEvent":
        yield _text(event.get("system_prompt"), (*at, "system_prompt"), "text")
    elif kind == "CondensationSummaryEvent":
        yield _text(event, at, "summary")
    elif kind == "MessageEvent":
        yield from _blocks(event["llm_message"], "content", text, (*at, "llm_message"))
    elif kind == "ActionEvent":
        yield from _reasoning(event, at)
        yield from _blocks(event, "thought", text, at)
        yield _call_v1(event, at)
    else:
        yield _result_v1(event, text, at)


def _blocks(holder: Any, key: str, text: str, at: Pointer) -> Iterator[Located]:
    content = holder.get(key) if type(holder) is dict else None
    if type(content) is str:
        yield _text(holder, at, key)
    for index, item in enumerate(content if type(content) is list else ()):
        place = (*at, key, index)
        urls = item.get("image_urls") if type(item) is dict else None
        if type(item) is dict and type(item.get("text")) is str:
            yield Located(Text(item["text"]), place, (Leaf("text", (*place, "text")),))
        elif type(urls) is list and len(urls) == 1 and type(urls[0]) is str:
            yield Located(Image(urls[0]), place, (Leaf("url", (*place, "image_urls", 0)),))
        else:
            yield Located(Opaque(string_of(item, "type") or "content", raw_at(text, place) or ""), place)


def _reasoning(event: dict[str, Any], at: Pointer) -> Iterator[Located]:
    blocks = event.get("thinking_blocks")
    for index, item in enumerate(blocks if type(blocks) is list else ()):
        place = (*at, "thinking_blocks", index)
        if string_of(item, "data"):
            yield Located(Thinking("", item["data"], True), place, (Leaf("signature", (*place, "data")),))
        else:
            leaves = (Leaf("content", (*place, "thinking")), Leaf("signature", (*place, "signature")))
            yield Located(Thinking(string_of(item, "thinking"), string_of(item, "signature")), place, leaves)
    if not blocks and string_of(event, "reasoning_content"):
        place = (*at, "reasoning_content")
        yield Located(Thinking(event["reasoning_content"]), place, (Leaf("content", place),))


def _call_v1(event: dict[str, Any], at: Pointer) -> Located:
    call = event.get("tool_call")
    inside: Pointer = ("tool_call", "function") if type(value_at(call, ("function",))) is dict else ("tool_call",)
    holder = value_at(event, inside)
    part = ToolCall(
        string_of(event, "tool_call_id") or string_of(call, "id"),
        string_of(event, "tool_name") or string_of(holder, "name"),
        string_of(holder, "arguments"),
    )
    leaves = (
        Leaf("id", (*at, "tool_call_id")), Leaf("id", (*at, "tool_call", "id")),
        Leaf("name", (*at, "tool_name")), Leaf("name", (*at, *inside, "name")),
        Leaf("arguments", (*at, *inside, "arguments")),
    )  # fmt: skip
    synced = (Leaf("arguments", (*at, "action"), _synced),) if type(event.get("action")) is dict else ()
    return Located(part, (), (*leaves, *synced))


def _element_value(item: dict[str, Any]) -> str | Image | None:
    urls = item.get("image_urls")
    if type(urls) is list and len(urls) == 1 and type(urls[0]) is str:
        return Image(urls[0])
    return string_of(item, "text") if type(item.get("text")) is str else None


def _new_text(text: str, speller: Speller) -> str:
    return speller.object({"type": '"text"', "text": speller.quote(text)})


def _new_media(part: Any, speller: Speller) -> str | None:
    url = part.url if isinstance(part, Image) else None
    return None if url is None else speller.object({"type": '"image"', "image_urls": speller.list([speller.quote(url)])})


_ELEMENTS = ResultElements(_element_value, _new_text, _new_media)


def _result_v1(event: dict[str, Any], text: str, at: Pointer) -> Located:
    id, name = string_of(event, "tool_call_id"), string_of(event, "tool_name")
    named = (Leaf("call_id", (*at, "tool_call_id")), Leaf("name", (*at, "tool_name")))
    if event["kind"] != "ObservationEvent":
        key = "error" if event["kind"] == "AgentErrorEvent" else "rejection_reason"
        return Located(ToolResult(id, name, string_of(event, key), True), (), (*named, Leaf("content", (*at, key))))
    place = (*at, "observation", "content")
    observed = event.get("observation")
    content, media = read_result_content(value_at(observed, ("content",)), text, place, _element_value)
    is_error = value_at(observed, ("is_error",)) is True
    leaves = (*named, *content_leaves(place, _ELEMENTS), Leaf("is_error", (*at, "observation", "is_error"), as_flag))
    return Located(ToolResult(id, name, content, is_error, media), (), leaves)


# New events leave ids and times to OpenHands. A result without the observation of its tool is an `AgentErrorEvent`, which holds
# a plain text.


_SPOKEN = {AI: ("agent", "assistant"), SYSTEM: ("environment", "system")}
"""By role: the source of the event, and the role of its message. Other roles are the user's."""


def new_event(message: Message, speller: Speller, response: str = "") -> str:
    """Return a message, an answer with one call, or a result. `response` names the answer to which several events belong."""
    if message.role == TOOL:
        return _result(next(part for part in message.parts if isinstance(part, ToolResult)), speller)
    call = next((part for part in message.parts if isinstance(part, ToolCall)), None)
    if message.role == AI and call is not None:
        return _new_action(message, call, speller, response or call.id)
    source, role = _SPOKEN.get(message.role, ("user", "user"))
    inner = {"role": speller.quote(role), "content": _content(text_of(message), speller)}
    return speller.object({
        "kind": '"MessageEvent"', "source": speller.quote(source), "llm_message": speller.object(inner),
    })  # fmt: skip


def _content(text: str, speller: Speller) -> str:
    items = [speller.object({"type": '"text"', "text": speller.quote(text)})] if text else []
    return speller.list(items)


def _new_action(message: Message, call: ToolCall, speller: Speller, response: str) -> str:
    quote = speller.quote
    inner = {"id": quote(call.id), "name": quote(call.name), "arguments": quote(call.arguments), "origin": '"completion"'}
    members = {"kind": '"ActionEvent"', "source": '"agent"', "thought": _content(text_of(message), speller)}
    thoughts = [each.content for each in reasoning_of(message) if each.content]
    if thoughts:
        members["reasoning_content"] = quote("\n\n".join(thoughts))
    named = {"tool_name": quote(call.name), "tool_call_id": quote(call.id), "tool_call": speller.object(inner)}
    return speller.object({**members, "action": "null", **named, "llm_response_id": quote(response)})


def _result(result: ToolResult, speller: Speller) -> str:
    return speller.object({
        "kind": '"AgentErrorEvent"', "source": '"agent"', "tool_name": speller.quote(result.name),
        "tool_call_id": speller.quote(result.call_id), "error": speller.quote(result.content),
    })  # fmt: skip
