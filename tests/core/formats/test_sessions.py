"""Session logs and trajectories have more than messages: compactions, aborted turns, and observations without a call."""

from __future__ import annotations

import json

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Text, ToolCall, ToolResult
from chainviz.core.load import load_file, restyle
from tests.core.formats.chains import exported, values
from tests.shared_folder import SAMPLES

PI = (SAMPLES / "pi_session" / "ok_session.jsonl").read_bytes()
ATIF = (SAMPLES / "atif" / "ok_trajectory.json").read_bytes()


def test_a_compaction_of_pi_is_told_to_the_model() -> None:
    (chain,) = load_file(PI)
    assert [message.role for message in chain.messages] == [HUMAN, AI, TOOL, TOOL, AI, HUMAN, AI, HUMAN]
    summary, aborted, shell = chain.messages[5:]
    assert (summary.label, summary.parts) == ("compaction", (Text("CI is red because ci.yml has no steps."),))
    assert aborted.note == "aborted: Request was aborted"
    assert (shell.label, shell.parts) == ("bashExecution", (Text("git status"), Text("clean")))
    assert [span.ordinal for span in chain.envelope.carried] == [0, 1, 10]


def test_a_new_line_of_pi_follows_the_line_before_it() -> None:
    (chain,) = load_file(PI)
    styled = restyle(chain.messages, 5, Message(HUMAN, (Text("And now?"),)), chain.format, chain.envelope)
    lines = values(exported(PI, chain, (*chain.messages[:5], styled, *chain.messages[5:])))
    assert lines[7]["message"] == {"role": "user", "content": [{"type": "text", "text": "And now?"}]}
    assert (lines[7]["parentId"], lines[8]["parentId"]) == ("a5", lines[7]["id"])


def test_a_step_of_atif_is_a_call_with_its_result() -> None:
    (chain,) = load_file(ATIF)
    assert [message.role for message in chain.messages] == [SYSTEM, HUMAN, AI, TOOL, AI, HUMAN, AI]
    assert chain.messages[3].parts == (ToolResult("call_1", "read", "steps: []"), ToolResult("call_2", "bash", "ci.yml"))
    assert chain.messages[5].label == "observation"
    document = exported(ATIF, chain, (*chain.messages[:3], *chain.messages[4:]))
    assert [message.role for message in load_file(document)[0].messages] == [SYSTEM, HUMAN, AI, AI, HUMAN, AI]


def test_a_step_of_atif_that_loses_its_ai_message_keeps_only_the_observation() -> None:
    (chain,) = load_file(ATIF)
    document = exported(ATIF, chain, (*chain.messages[:2], chain.messages[3], *chain.messages[5:]))
    called, told = json.loads(document)["steps"][2:4]
    assert (called.keys(), called["message"]) == ({"step_id", "source", "message", "observation"}, "")
    assert called["observation"] == json.loads(ATIF)["steps"][2]["observation"]
    assert (told["message"], told["observation"]) == ("", json.loads(ATIF)["steps"][3]["observation"])
    (again,) = load_file(document)
    assert [message.role for message in again.messages] == [SYSTEM, HUMAN, TOOL, HUMAN, AI]
    assert exported(document, again) == document


def test_a_new_result_joins_the_step_of_its_call() -> None:
    (chain,) = load_file(ATIF)
    call = Message(AI, (Text("I try."), ToolCall("call_9", "bash", '{"cmd": "make"}')))
    result = Message(TOOL, (ToolResult("call_9", "bash", "ok"),))
    messages = chain.messages
    for message in (call, result):
        messages = (*messages, restyle(messages, len(messages), message, chain.format, chain.envelope))
    (again,) = load_file(exported(ATIF, chain, messages))
    assert again.messages[-2:] == (call, result)


def test_a_history_of_pairs_is_one_chain() -> None:
    """The form is that of OpenHands in 2024: each element is an action with its observation."""
    nothing = {"message": "No observation", "observation": "null", "content": "", "extras": {}}
    action = {"source": "user", "message": "hi", "action": "message", "args": {"content": "hi"}}
    content = json.dumps({"instance_id": 1, "history": [[action, nothing], [action | {"source": "agent"}, nothing]]}).encode()
    (chain,) = load_file(content)
    assert [message.role for message in chain.messages] == [HUMAN, AI]
    assert exported(content, chain) == content


def test_an_evaluation_run_has_a_chain_on_each_line_that_recorded_events() -> None:
    """An instance that failed before its first event has no history."""
    event = {"source": "user", "message": "hi", "action": "message", "args": {"content": "hi"}}
    run = {"instance_id": "a__b-1", "metadata": {"agent_class": "CodeActAgent"}, "test_result": {"git_patch": ""}, "error": None}
    lines = [run | {"history": [event, event | {"source": "agent"}]}, *(run | {"history": none, "error": "lost"} for none in ([], None))]
    content = "\n".join(map(json.dumps, reversed(lines))).encode()
    (chain,) = load_file(content)
    assert (chain.format, chain.title, [message.role for message in chain.messages]) == ("openhands", "line 3 · a__b-1", [HUMAN, AI])
    assert exported(content, chain) == content.splitlines()[-1]


def test_events_of_a_run_that_tell_its_state_are_no_strangers() -> None:
    """A run of version 1 may begin with several of them."""
    head = {"id": "1", "timestamp": "2026-01-05T10:00:00"}
    state = head | {"source": "environment", "kind": "ConversationStateUpdateEvent", "key": "execution_status", "value": "running"}
    said = head | {"source": "user", "kind": "MessageEvent", "llm_message": {"role": "user", "content": [{"type": "text", "text": "hi"}]}}
    content = json.dumps({"instance_id": "a__b-1", "history": [*[state] * 4, said], "test_result": {}}).encode()
    (chain,) = load_file(content)
    assert (chain.format, [message.role for message in chain.messages], len(chain.envelope.carried)) == ("openhands", [HUMAN], 4)
    assert chain.envelope.unread == ()
