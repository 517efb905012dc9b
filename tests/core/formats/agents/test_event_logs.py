"""Logs whose records say part of a message, and what of them is no message."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chainviz.core.chain.messages import Message, Opaque, Text, Thinking, ToolCall, ToolResult
from chainviz.core.errors import DocumentError
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Style
from chainviz.core.load import load_file
from tests.core.formats.chains import exported
from tests.shared_folder import SAMPLES


def read(name: str, *, without: int | None = None, more: tuple[Any, ...] = ()) -> tuple[Message, ...]:
    """The messages of a sample, without one of its lines, or with more lines."""
    lines = (SAMPLES / name).read_text().splitlines()
    kept = [line for place, line in enumerate(lines) if place != without] + [json.dumps(each) for each in more]
    (chain,) = load_file("\n".join(kept).encode())
    assert chain.format == name.partition("/")[0]
    return chain.messages


def test_cursor_calls_have_no_ids() -> None:
    assert read("cursor_agent/ok_transcript.jsonl")[1].parts == (Text("[REDACTED]"), ToolCall("", "Read", '{"path": "docks.txt"}'))


def test_a_final_text_that_repeats_the_answer_counts_once() -> None:
    assert [message.role for message in read("droid_stream/ok_exec.jsonl")] == ["human", "ai", "tool", "ai"]
    assert read("droid_stream/ok_exec.jsonl", without=5)[-1].parts == (Text("Four docks."),)


def test_pieces_of_a_text_are_one_text() -> None:
    assert read("grok_stream/ok_stream.jsonl")[0].parts == (Thinking("The docks."), Text("Four docks."))
    asked, answered = read("acp_updates/ok_updates.jsonl")[:2]
    assert asked.parts == (Text("How many docks?"),)
    assert answered.parts == (Thinking("Look."), Text("I look."), ToolCall("c1", "Read docks.txt", '{"path": "docks.txt"}'))


def test_a_failed_call_has_an_error_as_its_result() -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c2", "status": "failed", "rawOutput": {"error": "gone"}}
    call = {"sessionUpdate": "tool_call", "toolCallId": "c2", "title": "Read", "rawInput": {}}
    messages = read("acp_updates/ok_updates.jsonl", more=({"params": {"update": call}}, {"params": {"update": update}}))
    assert messages[-1].parts == (ToolResult("c2", "", '{"error": "gone"}', is_error=True),)


def test_an_action_without_a_call_is_shown_as_one() -> None:
    messages = read("antigravity/ok_transcript.jsonl")
    assert messages[2].parts == (ToolResult("", "view_file", "4 docks"),)
    assert messages[3].parts == (ToolCall("", "run_command", "{}"),)
    without_plan = read("antigravity/ok_transcript.jsonl", without=2)
    assert without_plan[1].parts == (ToolCall("", "view_file", "{}"),)


def test_a_step_of_windsurf_is_a_call_and_what_it_returned() -> None:
    messages = read("windsurf/ok_transcript.jsonl")
    assert messages[1].parts[1] == ToolCall("", "view_file", '{"end_line": 1, "path": "file:///w/docks.txt", "start_line": 0}')
    assert messages[2].parts == (ToolResult("", "view_file", "4 docks"),)
    assert "No such file" in messages[4].parts[0].content  # type: ignore[union-attr]


def test_changes_of_a_chat_are_applied() -> None:
    messages = read("vscode_chat_log/ok_log.jsonl")
    assert [message.parts for message in messages[:3]] == [(Text("How many docks?"),), (Text("Four docks."),), (Text("Where?"),)]
    assert messages[4].parts == (ToolResult("c1", "read_file", "harbour: 4 docks"),)


def test_a_change_of_a_request_that_is_missing_is_shown() -> None:
    change = {"kind": 2, "k": ["requests", 7, "response"], "v": [{"value": "Lost."}]}
    (part,) = read("vscode_chat_log/ok_log.jsonl", more=(change,))[-1].parts
    assert isinstance(part, Opaque)
    assert "Lost." in part.text


def test_a_log_without_its_first_line_is_exported_byte_for_byte() -> None:
    content = b"\x01" + (SAMPLES / "vscode_chat_log/ok_log.jsonl").read_bytes()
    (chain,) = load_file(content)
    assert exported(content, chain) == content
    assert [type(part) for part in chain.messages[0].parts] == [Opaque]


@pytest.mark.parametrize("kind", [{"kind": 3, "k": ["requests", 0, "response"]}, {"kind": 1, "k": ["requests", 0, "response"], "v": []}])
def test_an_answer_may_be_taken_back(kind: dict[str, Any]) -> None:
    assert [each.role for each in read("vscode_chat_log/ok_log.jsonl", more=(kind,))] == ["human", "human", "ai", "tool", "ai"]


def test_a_message_is_equal_to_itself_when_it_is_read_again() -> None:
    for name in ("vscode_chat_log/ok_log.jsonl", "antigravity/ok_transcript.jsonl", "acp_updates/ok_updates.jsonl"):
        form = get_format(name.partition("/")[0])
        for message in read(name):
            assert form.message(message.role, message.source) == message


def test_specstory_tells_thoughts_calls_and_results() -> None:
    (chain,) = load_file(SAMPLES / "specstory/ok_history.md")
    answer, result = chain.messages[1:3]
    assert answer.parts[:2] == (Thinking("Look."), Text("I look."))
    assert answer.parts[2].name == "Read"  # type: ignore[union-attr]
    assert result.parts == (ToolResult("", "", "4 docks"),)


def test_a_history_with_other_line_ends_says_the_same() -> None:
    content = (SAMPLES / "specstory/ok_history.md").read_bytes()
    (chain,), (other,) = load_file(content), load_file(content.replace(b"\n", b"\r\n"))
    assert [(each.role, len(each.parts)) for each in other.messages] == [(each.role, len(each.parts)) for each in chain.messages]
    assert other.messages[2].parts[0].content.strip() == "4 docks"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("cursor_agent/ok_transcript.jsonl", {"type": "turn_ended", "status": "success"}),
        ("kiro_session/ok_session.jsonl", {"version": "v1", "kind": "Clear", "data": None}),
    ],
)
def test_marks_of_a_session_are_known(name: str, mark: dict[str, Any]) -> None:
    content = (SAMPLES / name).read_text() + json.dumps(mark) + "\n"
    (chain,) = load_file(content.encode())
    assert not chain.envelope.unread


def test_older_histories_of_specstory_have_no_times() -> None:
    text = "## Docks (3/8/2025)\n\n_**User**_\n\nHow many?\n\n---\n\n_**Assistant**_\n\nI look.\n\n---\n\n_****_\n\nFour.\n"
    (chain,) = load_file(text.encode())
    assert [(each.role, each.parts) for each in chain.messages] == [
        ("human", (Text("How many?"),)), ("ai", (Text("I look."),)), ("ai", (Text("Four."),)),
    ]  # fmt: skip


def test_pieces_of_an_answer_are_no_chains() -> None:
    (chain,) = load_file(SAMPLES / "claude_code/ok_partial_messages.jsonl")
    assert [each.parts for each in chain.messages] == [(Text("Four docks."),)]


def partial(count: int, *, before: str = "") -> bytes:
    """The first lines of a stream with partial messages, after some of another answer."""
    head, *lines = (SAMPLES / "claude_code/ok_partial_messages.jsonl").read_text().splitlines()
    return "".join(f"{line}\n" for line in (head, *filter(None, [before]), *lines[:count])).encode()


def test_an_answer_that_broke_off_is_shown_as_far_as_it_came() -> None:
    call = {"type": "assistant", "message": {"id": "msg_0", "role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls",
            "input": {}}]}, "session_id": "s", "parent_tool_use_id": None, "uuid": "v"}  # fmt: skip
    for before, roles in (("", ["ai"]), (json.dumps(call), ["ai", "ai"])):
        content = partial(4, before=before)
        (chain,) = load_file(content)
        assert [each.role for each in chain.messages] == roles
        assert chain.messages[-1].parts == (Text("Four docks."),)
        assert exported(content, chain) == content
        changed = Message("ai", (Text("Four."),), source=chain.messages[-1].source)
        (line,) = get_format("claude_code").write(changed, Style())
        assert json.loads(line.text)["message"]["content"] == [{"type": "text", "text": "Four."}]


def test_a_request_inside_a_string_does_not_hide_the_attributes_beside_it() -> None:
    request = json.dumps({"messages": [{"role": "user", "content": "How many?"}]})
    attributes = {
        "input.value": request,
        "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "How many?",
        "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "Four.",
    }  # fmt: skip
    for document in (attributes, [{"name": "span", "attributes": attributes}]):
        (chain,) = load_file(json.dumps(document).encode())
        assert chain.format == "openinference"
        assert [each.parts for each in chain.messages] == [(Text("How many?"),), (Text("Four."),)]


def test_a_call_gets_its_arguments_from_a_later_update() -> None:
    assert read("acp_updates/ok_requests.jsonl")[1].parts == (Text("I look."), ToolCall("c1", "Read docks.txt", '{"path": "docks.txt"}'))


def test_pieces_count_where_the_log_ends_before_the_whole_answer() -> None:
    lines = (SAMPLES / "deepseek_harness/ok_session.jsonl").read_text().splitlines()
    more = {"type": "assistant/chunk", "seq": 3, "data": {"chunk": {"type": "text-delta", "text": "look."}}}
    (chain,) = load_file("\n".join([*lines[:3], json.dumps(more)]).encode())
    assert chain.messages[-1].parts == (Text("I look."),)


def test_the_last_state_of_an_interrupted_message_counts() -> None:
    lines = (SAMPLES / "pi_events/ok_events.jsonl").read_text().splitlines()
    (chain,) = load_file("\n".join(lines[:7]).encode())
    assert [(each.role, each.parts) for each in chain.messages] == [("human", (Text("How many docks?"),)), ("ai", (Text("I look."),))]


def test_pieces_that_cursor_prints_come_before_the_whole() -> None:
    head, asked, answered, *rest = (SAMPLES / "cursor_stream/ok_stream.jsonl").read_text().splitlines()
    pieces = [json.dumps({**json.loads(answered), "timestamp_ms": place, "message": {"role": "assistant", "content": [part]}})
              for place, part in enumerate([{"type": "text", "text": "I "}, {"type": "text", "text": "look."}])]  # fmt: skip
    (chain,) = load_file("\n".join([head, asked, *pieces, answered, *rest]).encode())
    assert [type(part) for part in chain.messages[1].parts] == [Text, ToolCall]
    (cut,) = load_file("\n".join([head, asked, *pieces]).encode())
    assert cut.messages[-1].parts == (Text("I look."),)


def test_messages_of_pi_in_a_record_of_telemetry() -> None:
    start = {"type": "agent.start", "sessionKey": "agent:main", "prompt": "How many docks?", "seq": 1}
    (chain,) = load_file(json.dumps(start).encode() + b"\n" + (SAMPLES / "pi_messages/ok_agent_end.jsonl").read_bytes())
    assert chain.format == "pi_messages"
    assert chain.messages[2].parts == (ToolResult("c1", "exec", "4 docks"),)


def test_roles_of_the_kiro_editor() -> None:
    (chain,) = load_file(SAMPLES / "kiro_chat/ok_session.chat.json")
    assert [each.role for each in chain.messages] == ["human", "ai", "human", "ai", "tool", "ai"]


ASKED = [{"role": "user", "content": "How many?"}]


@pytest.mark.parametrize("prompt", [{"system": "Be brief.", "messages": ASKED}, {"prompt": "How many?"}])
def test_the_outer_span_of_the_vercel_sdk_counts_alone(prompt: dict[str, Any]) -> None:
    attributes = {"ai.operationId": "ai.generateText", "ai.prompt": json.dumps(prompt), "ai.response.text": "Four."}
    (chain,) = load_file(json.dumps([{"name": "ai.generateText", "attributes": attributes}]).encode())
    assert [each.parts for each in chain.messages][-2:] == [(Text("How many?"),), (Text("Four."),)]
    assert len(chain.messages) == len(prompt) + 1


def renamed(value: Any, key: str) -> Any:
    """The value with another name for a member, wherever it has one of that name."""
    if isinstance(value, dict):
        return {f"{name}Of" if name == key else name: renamed(each, key) for name, each in value.items()}
    return [renamed(each, key) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("cursor_agent/ok_transcript.jsonl", "text"),
        ("droid_session/ok_session.jsonl", "input"),
        ("droid_stream/ok_exec.jsonl", "parameters"),
        ("grok_build/ok_chat_history.jsonl", "arguments"),
        ("acp_updates/ok_updates.jsonl", "text"),
        ("hf_traces/ok_trace.jsonl", "toolCalls"),
        ("deepseek_harness/ok_session.jsonl", "text"),
        ("windsurf/ok_transcript.jsonl", "response"),
        ("kiro_session/ok_session.jsonl", "input"),
        ("kiro_conversation/ok_conversation.json", "tool_uses"),
        ("google_adk_eval/ok_set.evalset.json", "tool_uses"),
        ("vscode_chat_log/ok_log.jsonl", "requestId"),
        ("vscode_chat_log/ok_log.jsonl", "value"),
        ("pi_events/ok_events.jsonl", "arguments"),
    ],
)
def test_a_log_in_another_spelling_is_not_fully_read(name: str, key: str) -> None:
    text = (SAMPLES / name).read_text()
    lines = [json.loads(line) for line in text.splitlines()] if name.endswith("l") else [json.loads(text)]
    try:
        chains = load_file("\n".join(json.dumps(renamed(line, key)) for line in lines).encode(), name.partition("/")[0])
    except DocumentError:
        return
    assert any(chain.envelope.unread for chain in chains)
