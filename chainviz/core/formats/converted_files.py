"""Read files of frameworks that spell messages of another format differently: as the events of a stream, as the items of a run, or
nested in records. Each is converted to a document of that format, and the original file is kept beside it
(documents/wrapped/unwrap.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.wrapped.kinds import Documents, Kind
from chainviz.core.documents.wrapped.values import read_json
from chainviz.core.formats.streams import append_text, events, object_at

Value = dict[str, Any]


def _kind(name: str, mark: str, documents: Documents) -> Kind:
    """Return a kind of file whose beginning matches `mark`."""
    return name, lambda head: re.search(mark, head) is not None, documents


def _records(text: str) -> list[Value]:
    """Return the objects of a list, or those that are written one after another; [] if the text contains anything else."""
    whole = read_json(text)
    found = whole if isinstance(whole, list) else [event.value for event in events(text)]
    return found if all(isinstance(each, dict) for each in found) else []


def _streamed_messages(text: str) -> Iterator[tuple[str, str]]:
    """Yield the messages of a recorded stream of the Vercel AI SDK. An event `start` begins the next message."""
    messages: list[list[Value]] = [[]]
    for event in events(text):
        if isinstance(event.value, dict):
            messages += [[]] if event.value.get("type") == "start" and messages[-1] else []
            messages[-1].append(event.value)
    yield "stream", json.dumps({"messages": [_joined(chunks) for chunks in messages]})


_PIECES = {"text-delta": "text", "reasoning-delta": "reasoning"}
_STATES = {"input-start": "input-streaming", "input-delta": "input-streaming", "input-error": "output-error"}
"""The states of a tool part that differ from the name of the event, without its prefix."""


def _joined(chunks: list[Value]) -> Value:
    parts: list[Value] = []
    by_id: dict[tuple[str, str], Value] = {}
    for chunk in chunks:
        kind = string_of(chunk, "type")
        if kind in _PIECES:
            part = _part(parts, by_id, (kind, string_of(chunk, "id")), {"type": _PIECES[kind], "text": ""})
            append_text(part, "text", chunk.get("delta"))
        elif kind in ("text-end", "reasoning-end"):
            part = by_id.pop((kind.replace("end", "delta"), string_of(chunk, "id")), {})
            part.update({key: chunk[key] for key in ("providerMetadata",) if key in chunk})
        elif kind.startswith("tool-") and "toolCallId" in chunk:
            name = "dynamic-tool" if chunk.get("dynamic") or "toolName" not in chunk else f"tool-{chunk['toolName']}"
            part = _part(parts, by_id, ("tool", chunk["toolCallId"]), {"type": name})
            event = kind.removeprefix("tool-")
            part.update({key: value for key, value in chunk.items() if key not in ("type", "inputTextDelta")})
            part["state"] = _STATES.get(event, event)
        elif kind == "start-step" or kind in ("source-url", "source-document", "file") or kind.startswith("data-"):
            parts.append(chunk)
            parts[-1]["type"] = kind.replace("start-step", "step-start")
        elif kind == "error":
            parts.append({"type": "data-error", "data": chunk.get("errorText")})
    return {"id": next(filter(None, (string_of(each, "messageId") for each in chunks)), ""), "role": "assistant", "parts": parts}


def _part(parts: list[Value], by_id: dict[tuple[str, str], Value], key: tuple[str, str], new: Value) -> Value:
    """Return the part of an event, which is added to the parts if it is the first one of its id."""
    if key not in by_id:
        by_id[key] = new
        parts.append(new)
    return by_id[key]


def _messages_without_parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield a document of UI messages of the Vercel AI SDK before 4.2, whose calls are in `toolInvocations`, with parts."""
    document = read_json(text)
    messages = objects_of(document, "messages") if isinstance(document, dict) else document
    if isinstance(messages, list) and all(
        type(each) is dict and "parts" not in each and type(each.get("content")) is str for each in messages
    ):
        for message in messages:
            message["parts"] = _parts_of(message)
        yield "messages", json.dumps(document)


def _parts_of(message: Value) -> list[Value]:
    """Return the parts of a message in the order in which the SDK sends them: its text follows calls that have results."""
    thought, content = string_of(message, "reasoning"), string_of(message, "content")
    reasoning = [{"type": "reasoning", "reasoning": thought, "details": [{"type": "text", "text": thought}]}] if thought else []
    text = [{"type": "text", "text": content}] if content else []
    invocations = objects_of(message, "toolInvocations")
    calls = [{"type": "tool-invocation", "toolInvocation": each} for each in invocations]
    files = [
        {"type": "file", "mimeType": string_of(each, "contentType"), "url": string_of(each, "url")}
        for each in objects_of(message, "experimental_attachments")
    ]
    is_answered = all(each.get("state") == "result" for each in invocations)
    return [*reasoning, *(calls + text if is_answered else text + calls), *files]


def _run_items(text: str) -> Iterator[tuple[str, str]]:
    """Yield the input and the items of a run of the OpenAI Agents SDK, in Python's or JavaScript's spelling."""
    state = read_json(text)
    if isinstance(state, dict):
        asked = state.get("original_input", state.get("originalInput"))
        items = [{"role": "user", "content": asked}] if isinstance(asked, str) else list(asked or ())
        for item in (*objects_of(state, "generated_items"), *objects_of(state, "generatedItems")):
            if item.get("type") != "tool_approval_item":  # it repeats the call that waits for approval
                items.append(object_at(item, "raw_item") or object_at(item, "rawItem"))
        yield "run", json.dumps({"input": [_item(each) if isinstance(each, dict) else each for each in items]})


def _item(item: Value) -> Value:
    """Return an item of a run as the Responses API spells it."""
    renamed = {"call_id" if key == "callId" else key: value for key, value in item.items() if key not in ("providerData",)}
    kind, output = string_of(renamed, "type"), renamed.get("output")
    if kind == "function_call_result":
        text = output.get("text") if isinstance(output, dict) and output.get("type") in ("text", "input_text") else output
        return {"type": "function_call_output", "call_id": renamed.get("call_id"), "output": text}
    if kind == "reasoning" and "summary" not in renamed:
        thoughts = [{"type": "summary_text", "text": string_of(each, "text")} for each in objects_of(renamed, "content")]
        return {**{key: value for key, value in renamed.items() if key != "content"}, "summary": thoughts}
    return renamed


def _session_messages(text: str) -> Iterator[tuple[str, str]]:
    """Yield the messages of a session of Strands Agents. A redacted message replaces the original."""
    records = _records(text)
    if len(records) > 1 and all("message" in each and isinstance(each.get("message_id"), int) for each in records):
        messages = [each.get("redact_message") or each["message"] for each in sorted(records, key=lambda each: each["message_id"])]
        yield "messages", json.dumps({"messages": json.loads(json.dumps(messages), object_hook=_plain_bytes)})


def _plain_bytes(value: Value) -> Any:
    return value.get("data") if value.get("__bytes_encoded__") is True else value


def _nested_spans(text: str) -> Iterator[tuple[str, str]]:
    """Yield the messages of each span of OpenInference whose attributes are nested, as the user interface of Phoenix shows them."""
    waiting = [read_json(text)] if read_json(text) is not None else list[Any](_records(text))[::-1]
    number = 0
    while waiting:
        value = waiting.pop()
        called = object_at(value, "llm")
        messages = [object_at(each, "message") for key in ("input_messages", "output_messages") for each in objects_of(called, key)]
        if messages:
            number += 1
            yield f"call {number}", json.dumps({"model": called.get("model_name"), "messages": [_flat_calls(each) for each in messages]})
        elif isinstance(value, dict | list):
            waiting += [*(value.values() if isinstance(value, dict) else value)][::-1]


def _flat_calls(message: Value) -> Value:
    """Return a message as OpenAI's chat spells it."""
    calls = [{"type": "function", **object_at(each, "tool_call")} for each in objects_of(message, "tool_calls")]
    contents = [object_at(each, "message_content") for each in objects_of(message, "contents")]
    blocks = [
        {"type": "image_url", "image_url": {"url": string_of(object_at(object_at(each, "image"), "image"), "url")}}
        if "image" in each
        else each
        for each in contents
    ]
    own = {key: value for key, value in message.items() if key not in ("tool_calls", "contents")}
    return {**own, **({"content": blocks} if blocks else {}), **({"tool_calls": calls} if calls else {})}


CONVERTED: tuple[Kind, ...] = (
    _kind(
        "a recorded stream of the Vercel AI SDK",
        r'\A\s*(?:event:.*\n)?data: ?\{"type": ?"(?:start|text-|reasoning-|tool-input|data-)[^{}]*\}',
        _streamed_messages,
    ),
    _kind("a chat of the Vercel AI SDK before 4.2", r'"toolInvocations"\s*:\s*\[\s*\{', _messages_without_parts),
    _kind("the state of a run of the OpenAI Agents SDK", r'"\$schemaVersion"[\s\S]*"original_?[iI]nput"\s*:', _run_items),
    _kind("a session of Strands Agents", r'"message_id"\s*:\s*\d', _session_messages),
    _kind("a trace of OpenInference with nested attributes", r'"(?:in|out)put_messages"\s*:\s*\[\s*\{\s*"message"\s*:\s*\{', _nested_spans),
)
"""The kinds of files that are converted to a document of another format."""
