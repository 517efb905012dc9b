"""The output of `codex exec --json` is read as a chain without its prompt."""

from __future__ import annotations

import json
from typing import Any

from chainviz.core.chain.messages import AI, TOOL, Opaque, Text, Thinking, ToolCall, ToolResult
from chainviz.core.load import LoadedChain, load_file
from tests.core.formats.chains import exported


def event(state: str, id: str, kind: str, **members: Any) -> dict[str, Any]:
    return {"type": f"item.{state}", "item": {"id": id, "type": kind, **members}}


STARTED = event("started", "item_1", "command_execution", command="ls", aggregated_output="", exit_code=None, status="in_progress")
ENDED = event("completed", "item_1", "command_execution", command="ls", aggregated_output="a.txt\n", exit_code=0, status="completed")
TURN = ({"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"})
SAID = event("completed", "item_3", "agent_message", text="There is one file.")


def loaded(*events: dict[str, Any]) -> LoadedChain:
    content = "".join(json.dumps(each) + "\n" for each in events).encode()
    (chain,) = load_file(content)
    assert chain.format == "codex_exec"
    assert chain.envelope.unread == ()
    assert exported(content, chain) == content
    return chain


def test_a_command_is_a_call_with_its_result() -> None:
    notice = event("completed", "item_0", "error", message="Model metadata not found, the fallback is used.")
    thought = event("completed", "item_2", "reasoning", text="I list the files.")
    chain = loaded(*TURN, notice, thought, STARTED, ENDED, SAID, {"type": "turn.completed", "usage": {"output_tokens": 5}})
    assert [message.role for message in chain.messages] == [AI, TOOL, AI]
    assert chain.messages[0].parts == (Thinking("I list the files."), ToolCall("item_1", "command_execution", '{"command": "ls"}'))
    assert chain.messages[1].parts == (ToolResult("item_1", "command_execution", "a.txt\n"),)


def test_a_command_that_never_ended_is_a_call() -> None:
    assert [message.role for message in loaded(*TURN, STARTED).messages] == [AI]


def test_other_tools() -> None:
    result = {"content": [{"type": "text", "text": "dock 4"}], "structured_content": None}
    tool = {"server": "depot", "tool": "docks"}
    called = event("completed", "m", "mcp_tool_call", **tool, arguments={"free": True}, result=result, status="completed")
    failed = event("completed", "n", "mcp_tool_call", **tool, arguments={}, error={"message": "No such dock."}, status="failed")
    changed = event("completed", "f", "file_change", changes=[{"path": "/srv/a.txt", "kind": "update"}], status="completed")
    listed = event("completed", "l", "todo_list", items=[{"text": "Count the docks", "completed": True}])
    chain = loaded(*TURN, called, failed, changed, listed, SAID)
    results = [part for message in chain.messages for part in message.parts if isinstance(part, ToolResult)]
    assert [(each.content, each.is_error) for each in results] == [("dock 4", False), ("No such dock.", True), ("completed", False)]
    assert [type(part) for part in chain.messages[-1].parts] == [Opaque, Text]
