"""Google's Agent Development Kit: sessions and evaluation sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Opaque, Text, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.blocks import Content
from chainviz.core.formats.read_only import ReadOnlyUnits, Turn, as_text, call_arguments, inner
from chainviz.core.formats.vendors.google.read import read_parts, role_runs

_SESSION_WORDS = {HUMAN: "user", AI: "assistant", TOOL: "tool"}

_WITHOUT_CONTENT = frozenset(
    ("id", "author", "timestamp", "actions", "branch", "partial", "interrupted", "invocation_id", "invocationId", "turn_complete",
     "turnComplete", "error_code", "errorCode", "error_message", "errorMessage", "long_running_tool_ids", "longRunningToolIds",
     "custom_metadata", "customMetadata", "usage_metadata", "usageMetadata", "grounding_metadata", "groundingMetadata")
)  # fmt: skip
"""Members of an event that only changes the state of its session."""


class GoogleADK(ReadOnlyUnits):
    """Sessions of Google's Agent Development Kit: each event holds a content of Gemini and says which agent is its author."""

    name = "google_adk"
    label = "Google ADK session"
    api = "gemini"
    tested_with = "source of google-adk 1.x"
    hints = ("author",)

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("author"), str):
            return False
        return isinstance(inner(value, "content").get("parts"), list)

    def is_carried(self, value: object) -> bool:
        return isinstance(value, dict) and isinstance(value.get("author"), str) and value.keys() <= _WITHOUT_CONTENT

    def messages_in(self, value: Any) -> Sequence[Turn]:
        content = value["content"]
        text = dump(content["parts"])
        runs = [(role, Content(content["parts"], text, own=blocks)) for role, blocks in role_runs(content)]
        return [(_SESSION_WORDS.get(role, role), read_parts(parts, role)) for role, parts in runs]


_EVAL_WORDS = {HUMAN: "user", AI: "assistant", TOOL: "tool"}
_KEYS = {
    "user_content": "userContent", "final_response": "finalResponse", "intermediate_data": "intermediateData",
    "tool_uses": "toolUses", "tool_responses": "toolResponses", "intermediate_responses": "intermediateResponses",
    "invocation_events": "invocationEvents",
}  # fmt: skip
"""The names of members in Python, and in camel case."""
_OLD = frozenset(("query", "expected_tool_use", "expected_intermediate_agent_responses", "reference"))
_INTERMEDIATE = ("tool_uses", "tool_responses", "intermediate_responses", "invocation_events")


class GoogleADKEval(ReadOnlyUnits):
    """Evaluation sets of Google's Agent Development Kit: what a user asks, which tools the agent is expected to call, and its
    answer. New sets (`*.evalset.json`) hold invocations with Gemini's contents; old ones (`*.test.json`) hold plain texts.
    """

    name = "google_adk_eval"
    label = "Google ADK evaluation set"
    tested_with = "source of google-adk 0.x, 1.x"
    carried_fields = frozenset(("rubrics", "app_details", "appDetails"))
    hints = (*_KEYS, *_KEYS.values(), "expected_tool_use", "reference")

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict):
            return False
        is_old = isinstance(value.get("query"), str) and value.keys() <= _OLD and len(value) > 1
        return is_old or isinstance(_member(value, "user_content").get("parts"), list)

    def messages_in(self, value: Any) -> Sequence[Turn]:
        if isinstance(value.get("query"), str):
            return _expected(value)
        answer = _member(value, "final_response")
        return [*_contents(_member(value, "user_content")), *_between(_member(value, "intermediate_data")), *_contents(answer)]


def _member(value: dict[str, Any], key: str) -> dict[str, Any]:
    return inner(value, key) or inner(value, _KEYS[key])


def _objects(value: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return objects_of(value, key) or objects_of(value, _KEYS[key])


def _expected(value: dict[str, Any]) -> list[Turn]:
    """Return the messages of an old set's item."""
    calls = [
        ToolCall("", string_of(item, "tool_name"), call_arguments(item.get("tool_input")))
        for item in objects_of(value, "expected_tool_use")
    ]
    results = [
        ToolResult("", string_of(item, "tool_name"), as_text(item["mock_tool_output"]))
        for item in objects_of(value, "expected_tool_use") if item.get("mock_tool_output") is not None
    ]  # fmt: skip
    texts = [string_of(item, "text") for item in objects_of(value, "expected_intermediate_agent_responses")]
    answers = [*texts, string_of(value, "reference")]
    said: list[Turn] = [("user", [Text(value["query"])]), *([("assistant", calls)] if calls else [])]
    said += [("tool", results)] if results else []
    return [*said, *(("assistant", [Text(text)]) for text in answers if text)]


def _between(data: dict[str, Any]) -> Iterator[Turn]:
    """Yield what the agent did before its answer."""
    known = {spelled for key in _INTERMEDIATE for spelled in (key, _KEYS[key])}
    others = {key: value for key, value in data.items() if value and key not in known}
    if others:
        yield "assistant", [Opaque("intermediate data", dump(others))]
    for event in _objects(data, "invocation_events"):
        yield from _contents(inner(event, "content"))
    calls = _objects(data, "tool_uses")
    if calls:
        yield "assistant", [ToolCall(string_of(item, "id"), string_of(item, "name"), call_arguments(item.get("args"))) for item in calls]
    results = _objects(data, "tool_responses")
    if results:
        shown = [(item, item.get("response")) for item in results]
        yield "tool", [ToolResult(string_of(item, "id"), string_of(item, "name"), as_text(said)) for item, said in shown]
    pairs = data.get("intermediate_responses") or data.get(_KEYS["intermediate_responses"])
    lists = [each[1] for each in pairs if isinstance(each, list) and len(each) > 1] if isinstance(pairs, list) else []
    yield from chain.from_iterable(_contents({"role": "model", "parts": parts}) for parts in lists)


def _contents(content: dict[str, Any]) -> Iterator[Turn]:
    """Yield the messages of a Gemini content."""
    parts = content.get("parts")
    if isinstance(parts, list) and parts:
        text = dump(parts)
        for role, blocks in role_runs(content):
            yield _EVAL_WORDS.get(role, role), read_parts(Content(parts, text, own=blocks), role)
