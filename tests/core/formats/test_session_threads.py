"""Branches and sub-agents of a Claude Code session are chains of their own, over the lines of one document."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import HUMAN, Message, Text, text_of
from chainviz.core.load import load_file, restyle
from tests.core.formats.chains import exported, values


def line(id: str, parent: str | None, kind: str, content: Any, **more: Any) -> str:
    message = {"role": kind, "content": content, **({"id": f"msg_{id}"} if kind == "assistant" else {})}
    return json.dumps({"parentUuid": parent, "isSidechain": False, "sessionId": "s", "type": kind, "message": message, "uuid": id} | more)


CALLS = [{"type": "tool_use", "id": "t1", "name": "Task", "input": {}}]
MORE = [{"type": "tool_use", "id": "t2", "name": "Read", "input": {}}]
ASIDE = {"isSidechain": True, "agentId": "agent7"}


def result(id: str) -> list[dict[str, str]]:
    return [{"type": "tool_result", "tool_use_id": id, "content": f"result {id}"}]


SESSION = "\n".join([
    line("w1", None, "user", "Warm up", **ASIDE),
    line("u1", None, "user", "Fix the build"),
    line("a1", "u1", "assistant", "First try"),
    line("u2", "a1", "user", "Not so"),
    line("a2", "u2", "assistant", "Sorry"),
    line("u3", "a1", "user", "Use a sub-agent"),
    line("a3", "u3", "assistant", CALLS),
    line("a4", "a3", "assistant", MORE) .replace("msg_a4", "msg_a3"),
    line("w2", "w1", "assistant", "Warm", **ASIDE),
    line("r1", "a3", "user", result("t1")),
    line("r2", "a4", "user", result("t2")),
    line("a5", "r2", "assistant", "Done"),
]) + "\n"  # fmt: skip
BYTES = SESSION.encode()


def words(messages: tuple[Message, ...]) -> list[str]:
    return [text_of(message) or message.role for message in messages]


def test_the_main_branch_comes_first_then_branches_and_sub_agents() -> None:
    main, left, agent = load_file(BYTES)
    assert words(main.messages) == ["Fix the build", "First try", "Use a sub-agent", "ai", "tool", "tool", "Done"]
    assert words(left.messages) == ["Fix the build", "First try", "Not so", "Sorry"]
    assert words(agent.messages) == ["Warm up", "Warm"]
    assert [chain.pointer for chain in (main, left, agent)] == [(), ("branch", "u2"), ("sidechain", "agent7")]
    assert len(main.messages[3].calls) == 2
    for chain in (main, left, agent):
        assert exported(BYTES, chain) == BYTES


def test_an_edit_of_a_sub_agent_leaves_the_other_lines() -> None:
    agent = load_file(BYTES)[2]
    new = restyle(agent.messages, 2, Message(HUMAN, (Text("Go on"),)), agent.format, agent.envelope)
    changed = replace(agent.messages[0], parts=(Text("Begin"),))
    lines = values(exported(BYTES, agent, (changed, agent.messages[1], new)))
    before = values(BYTES)
    added = next(each for each in lines if "Go on" in str(each["message"]["content"]))
    assert (added["parentUuid"], added["isSidechain"], added["agentId"]) == ("w2", True, "agent7")
    assert [each for each in lines if each["uuid"] not in (added["uuid"], "w1")] == [each for each in before if each["uuid"] != "w1"]


def test_a_session_of_a_sub_agent_alone_is_a_chain() -> None:
    content = "".join(each + "\n" for each in SESSION.splitlines() if "agent7" in each).encode()
    (agent,) = load_file(content)
    assert words(agent.messages) == ["Warm up", "Warm"]
    assert exported(content, agent) == content


def test_a_session_that_was_rewound_to_its_first_prompt_has_two_branches() -> None:
    before = [line("u1", None, "user", "Fix it"), line("a1", "u1", "assistant", "First try")]
    after = [line("u2", None, "user", "Fix the build"), line("a2", "u2", "assistant", "Done")]
    main, left = load_file(("\n".join(before + after) + "\n").encode())
    assert words(main.messages) == ["Fix the build", "Done"]
    assert (words(left.messages), left.pointer) == (["Fix it", "First try"], ("branch", "u1"))


def test_a_compaction_and_lines_without_links_are_no_rewind() -> None:
    before = [line("u1", None, "user", "Fix it"), line("a1", "u1", "assistant", "First try")]
    summary = [line("u2", None, "user", "Summary", isCompactSummary=True), line("a2", "u2", "assistant", "Done")]
    unlinked = [line(f"x{n}", None, kind, "Text") for n, kind in enumerate(["user", "assistant"] * 2)]
    for lines in (before + summary, unlinked):
        (only,) = load_file(("\n".join(lines) + "\n").encode())
        assert len(only.messages) == 4
