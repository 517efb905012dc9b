"""Amp and AgentScope: Anthropic's blocks with results of another form."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Message, Text, ToolResult
from chainviz.core.chain.problems import tree_problems
from chainviz.core.chain.tree import parse
from chainviz.core.load import load_file, restyle
from tests.core.formats.chains import differing, edited, exported
from tests.shared_folder import SAMPLES

AMP = (SAMPLES / "amp" / "ok_thread.json").read_bytes()
AGENTSCOPE = (SAMPLES / "agentscope" / "ok_state.json").read_bytes()

SESSION = (SAMPLES / "agentscope_session" / "ok_session.json").read_bytes()


@pytest.mark.parametrize("document", [AMP, AGENTSCOPE, SESSION])
def test_every_result_answers_its_call(document: bytes) -> None:
    (chain,) = load_file(document)
    assert not list(tree_problems(parse(chain.messages)))


def test_a_run_of_amp_is_a_result() -> None:
    (chain,) = load_file(AMP)
    assert [message.role for message in chain.messages] == [HUMAN, AI, TOOL, AI]
    assert chain.messages[2].parts == (
        ToolResult("TU-1", "", "ci.yml\n"),
        ToolResult("TU-2", "", "File does not exist.", True),
        ToolResult("TU-3", "", "The log is empty."),
    )


@pytest.mark.parametrize(("part", "at"), [
    (0, ("run", "result", "output")), (1, ("run", "error", "message")), (2, ("run", "result")),
])  # fmt: skip
def test_an_edit_of_a_run_stays_in_its_text(part: int, at: tuple[str, ...]) -> None:
    (chain,) = load_file(AMP)
    parts = list(chain.messages[2].parts)
    parts[part] = replace(parts[part], content="x")
    after = edited(AMP, chain, 2, replace(chain.messages[2], parts=tuple(parts)))
    assert differing(json.loads(AMP), after) == {("messages", 2, "content", part, *at)}


def test_a_new_result_of_amp_says_how_its_run_ended() -> None:
    (chain,) = load_file(AMP)
    new = Message(TOOL, (ToolResult("TU-4", "Read", "ok"), ToolResult("TU-5", "Read", "no", True)))
    styled = restyle(chain.messages, 3, new, chain.format, chain.envelope)
    document = json.loads(exported(AMP, chain, (*chain.messages[:3], styled, *chain.messages[3:])))
    assert document["messages"][3] == {"role": "user", "content": [
        {"type": "tool_result", "toolUseID": "TU-4", "run": {"result": "ok", "status": "done"}},
        {"type": "tool_result", "toolUseID": "TU-5", "run": {"result": "no", "status": "error"}},
    ]}  # fmt: skip


def test_a_result_of_agentscope_is_no_system_message() -> None:
    (chain,) = load_file(AGENTSCOPE)
    assert [message.role for message in chain.messages] == [HUMAN, AI, TOOL, TOOL, AI]
    assert chain.messages[2].parts == (ToolResult("call_1", "ls", "ci.yml"),)
    assert chain.messages[3].parts == (ToolResult("call_2", "cat", "no path", True),)


def test_an_edit_of_an_output_keeps_the_rest() -> None:
    (chain,) = load_file(AGENTSCOPE)
    result = replace(chain.messages[2].parts[0], content="x", name="list")
    after = edited(AGENTSCOPE, chain, 2, replace(chain.messages[2], parts=(result,)))
    at = ("agent", "memory", "content", 2, "content", 0)
    assert differing(json.loads(AGENTSCOPE), after) == {(*at, "output", 0, "text"), (*at, "name")}


def test_a_new_message_of_agentscope_has_a_speaker() -> None:
    (chain,) = load_file(AGENTSCOPE)
    new = Message(TOOL, (ToolResult("call_3", "ls", "ok"),))
    styled = restyle(chain.messages, 4, new, chain.format, chain.envelope)
    document = json.loads(exported(AGENTSCOPE, chain, (*chain.messages[:4], styled, *chain.messages[4:])))
    block = {"type": "tool_result", "id": "call_3", "name": "ls", "output": "ok"}
    assert document["agent"]["memory"]["content"][4] == {"name": "system", "role": "system", "content": [block]}


def test_a_session_of_agentscope_keeps_the_marks() -> None:
    (chain,) = load_file(SESSION)
    assert [message.role for message in chain.messages] == [HUMAN, AI, TOOL, TOOL, AI]
    assert chain.messages == load_file(AGENTSCOPE)[0].messages
    after = edited(SESSION, chain, 2, replace(chain.messages[2], parts=(replace(chain.messages[2].parts[0], content="x"),)))
    at = ("agent", "memory", "content", 2, 0, "content", 0)
    assert differing(json.loads(SESSION), after) == {(*at, "output", 0, "text")}
    new = restyle(chain.messages, 5, Message(HUMAN, (Text("Thanks"),)), chain.format, chain.envelope)
    document = json.loads(exported(SESSION, chain, (*chain.messages, new)))
    assert document["agent"]["memory"]["content"][-1] == [{"name": "user", "role": "user", "content": "Thanks"}, []]
