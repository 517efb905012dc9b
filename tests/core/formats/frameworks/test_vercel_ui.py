"""A UIMessage holds calls with their results: both halves are edited apart and put together again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Message, Text, ToolCall, ToolResult
from chainviz.core.formats import get_format
from chainviz.core.load import LoadedChain, document_in, load_file, restyle
from tests.core.formats.chains import exported
from tests.shared_folder import SAMPLES

OK = (SAMPLES / "vercel_ui" / "ok_messages.json").read_bytes()
V4 = (SAMPLES / "vercel_ui" / "ok_v4_toolinvocation.json").read_bytes()


def edited(chain: LoadedChain, at: int, message: Message) -> tuple[Message, ...]:
    return (*chain.messages[:at], restyle(chain.messages, at, message, chain.format, chain.envelope), *chain.messages[at + 1 :])


def with_part(message: Message, place: int, **changes: Any) -> Message:
    parts = list(message.parts)
    parts[place] = replace(parts[place], **changes)
    return replace(message, parts=tuple(parts))


def test_both_halves_of_a_call_can_be_edited() -> None:
    (chain,) = load_file(OK)
    messages = edited(chain, 1, with_part(chain.messages[1], 2, arguments='{"path": "/tmp"}'))
    chain_after = replace(chain, messages=messages)
    messages = edited(chain_after, 2, with_part(chain.messages[2], 0, content="nothing"))
    part = json.loads(exported(OK, chain, messages))["messages"][1]["parts"][3]
    assert part == {
        "type": "tool-list_files", "toolCallId": "call_Z8ofZnYOCeOnpu0h2auwOgeR", "state": "output-available",
        "input": {"path": "/tmp"}, "output": "nothing",
    }  # fmt: skip


def test_results_without_an_id_stay_with_their_calls() -> None:
    """This also holds beside other parts, which have no ids either."""
    tool = {"type": "dynamic-tool", "toolName": "cat", "state": "output-available", "input": {}, "output": "same"}
    parts = [{"type": "step-start"}, {"type": "text", "text": "I look."}, tool, tool, {**tool, "output": "other"}]
    content = json.dumps([{"id": "m1", "role": "assistant", "parts": parts}]).encode()
    (chain,) = load_file(content, "vercel_ui")
    assert len(chain.messages[1].parts) == 3 and exported(content, chain) == content
    messages = edited(chain, 1, with_part(chain.messages[1], 2, content="gone"))
    after = [part.get("output") for part in json.loads(exported(content, chain, messages))[0]["parts"]]
    assert after == [None, None, "same", "same", "gone"]


def test_without_its_tool_message_a_call_is_pending() -> None:
    (chain,) = load_file(OK)
    document = exported(OK, chain, (*chain.messages[:2], chain.messages[3]))
    parts = json.loads(document)["messages"][1]["parts"]
    assert [part.get("state") for part in parts[3:5]] == ["input-available", "input-available"]
    assert "README" not in document.decode()
    (again,) = load_file(document)
    assert [message.role for message in again.messages] == [HUMAN, AI]


def test_a_new_result_is_written_into_the_part_of_its_call() -> None:
    content = (SAMPLES / "vercel_ui" / "broken_interrupted.json").read_bytes()
    (chain,) = load_file(content)
    answer = Message(TOOL, (ToolResult("call_q0Wc5sXK4wJmT2pFvB7nYd1L", "read_file", "ENOENT", is_error=True),))
    styled = restyle(chain.messages, 2, answer, chain.format, chain.envelope)
    document = exported(content, chain, (*chain.messages, styled))
    part = json.loads(document)[1]["parts"][2]
    assert (part["state"], part["errorText"], part["input"]) == ("output-error", "ENOENT", {"path": "x"})
    (again,) = load_file(document)
    assert again.messages[2] == answer


def test_version_4_keeps_its_copies_in_step() -> None:
    (chain,) = load_file(V4)
    messages = edited(chain, 1, with_part(chain.messages[1], 0, content="[gone]"))
    document = exported(V4, chain, messages)
    assert "README" not in document.decode()
    messages = edited(chain, 2, Message(AI, (replace(chain.messages[2].parts[0], text="Ready."),), source=chain.messages[2].source))  # type: ignore[call-arg]
    (unit,) = json.loads(exported(V4, chain, messages))
    assert unit["content"] == unit["parts"][1]["text"] == "Ready."


def test_a_chain_of_another_format_gets_its_results_beside_its_calls() -> None:
    messages = (
        Message(HUMAN, (Text("hi"),)),
        Message(AI, (ToolCall("a", "ls", '{"p": 1}'), ToolCall("b", "cat", "{}"))),
        Message(TOOL, (ToolResult("a", "ls", "x"), ToolResult("b", "cat", '{"y": 1}'))),
        Message(AI, (Text("done"),)),
    )
    (chain,) = load_file(b"".join(document_in(get_format("vercel_ui"), messages)), "vercel_ui")
    assert chain.messages == messages
