"""The JSON of Ollama's chat messages (api/types.go): texts as content, objects as arguments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from chainviz.core.chain.messages import Message
from chainviz.core.providers.contract import WireFault
from chainviz.core.providers.rules.rule import ALL_MODELS, Rule
from chainviz.core.providers.wire.forms import BASE64, Each, Fields, faults_of, misfits
from chainviz.core.providers.wire.message import Fault, kind_name, sent_value, unknown_members

REFERENCE = "docs.ollama.com/api/chat"
ollama_rule = partial(Rule, models=ALL_MODELS, since="2024-07", checked="2026-11-23")
CONTENT = ollama_rule(
    "content-type",
    "error",
    "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
    REFERENCE,
)
ARGUMENTS = ollama_rule(
    "arguments-type", "error",
    "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments", REFERENCE,
)  # fmt: skip
NO_NAME = ollama_rule(
    "result-without-name", "info", "", REFERENCE, note="accepted; the template may need tool_name to know which tool answered"
)
FIELD = ollama_rule("field-type", "error", "json: cannot unmarshal into Go struct field ChatRequest.messages", REFERENCE)
RULES = (CONTENT, ARGUMENTS, NO_NAME, FIELD)
_FORM = Fields(
    {}, {"images": Each(BASE64), "thinking": str, "tool_name": str, "tool_call_id": str, "tool_calls": Each(dict)}
)
_FIELDS = ("role", "content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id")


def check_wire(message: Message) -> Iterator[WireFault]:
    value = sent_value(message)
    if isinstance(value, dict):
        for rule, _, what in _faults(value):
            yield WireFault("", None, what, rule=rule)


def _faults(value: dict[str, Any]) -> Iterator[Fault]:
    yield from unknown_members(value, _FIELDS)
    content = value.get("content")
    if content is not None and not isinstance(content, str):
        yield CONTENT, ("content",), f"has {kind_name(content)} as content"
    known = {key: each for key, each in value.items() if key in _FORM.optional}
    yield from faults_of(misfits(known, _FORM), FIELD, FIELD, "a message")
    calls = value.get("tool_calls")
    for index, call in enumerate(calls if isinstance(calls, list) else ()):
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and not isinstance(function.get("name", ""), str):
            yield FIELD, ("tool_calls", index), f"has a tool call with {kind_name(function['name'])} as name"
        arguments = function.get("arguments", {}) if isinstance(function, dict) else None
        if not isinstance(arguments, dict):
            yield ARGUMENTS, ("tool_calls", index), f"has a tool call with {kind_name(arguments)} as arguments"
    if value.get("role") == "tool" and not isinstance(value.get("tool_name"), str):
        yield NO_NAME, (), "is a tool message without tool_name"
