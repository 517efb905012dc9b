"""Redaction against the outcomes of the reference and of Anthropic's peer (form: the meta of each file)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.chain.messages import AI, HUMAN, TOOL, Message, Text, ToolCall, ToolResult
from chainviz.core.load import load_file
from chainviz.core.operations.contract import OFF, VARIABLE, Context, read_redaction_switch
from chainviz.core.operations.redact import REDACT, RedactOptions, decide
from tests import ROOT
from tests.shared_folder import CASES


def cases(name: str) -> list[Any]:
    found = json.loads((CASES / "redaction" / name).read_text("utf-8"))["cases"]
    return [pytest.param(case, id=case["id"]) for case in found]


def messages_of(case: dict[str, Any]) -> tuple[Message, ...]:
    if not case["messages"]:
        return ()
    return load_file(json.dumps(case["messages"]).encode(), "openai_chat")[0].messages


def options_of(case: dict[str, Any], policy: str, **more: Any) -> RedactOptions:
    tools = tuple(case["config"]["tools"])
    return RedactOptions(policy=policy, tools=tools, enabled=case["config"]["enabled"], min_bytes_saved=0, **more)


@pytest.mark.parametrize("policy", ["seed", "reference"])
@pytest.mark.parametrize("case", cases("redaction.json"))
def test_each_result_is_decided_as_expected(case: dict[str, Any], policy: str) -> None:
    table = decide(MemoryChain(messages_of(case)), options_of(case, policy))
    ours = [
        {
            "index": row.message,
            "tool_call_id": row.call_id,
            "tools": sorted(row.candidate.tools) if row.call_id or row.candidate.tools else [],
            "followed_by": table.followed_by(row),
            "scenario": row.matrix_row,
            "decision": row.decision,
            "skip_reason": row.skip or None,
        }
        for row in table.rows
        # a legacy function message is a result to us, with a row of its own
        if case["messages"][row.message]["role"] == "tool"
    ]
    expected = case["expected"][f"{policy}_policy"]
    for row in expected:
        row["tools"] = sorted(row["tools"]) if row["tool_call_id"] else []
    assert ours == expected


@pytest.mark.parametrize("policy", ["seed", "reference"])
@pytest.mark.parametrize("case", cases("redaction.json"))
def test_only_the_decided_contents_change_and_a_second_pass_changes_nothing(case: dict[str, Any], policy: str) -> None:
    before = messages_of(case)
    options = options_of(case, policy)
    after = apply_splices(before, REDACT.run(MemoryChain(before), options, Context()).changes)
    expected = [row["index"] for row in case["expected"][f"{policy}_policy"] if row["decision"] == "redact"]
    assert [i for i, (old, new) in enumerate(zip(before, after, strict=True)) if old != new] == expected
    assert [(m.role, m.calls, [r.id for r in m.results]) for m in before] == [(m.role, m.calls, [r.id for r in m.results]) for m in after]
    assert REDACT.run(MemoryChain(after), options, Context()).changes == ()


@pytest.mark.parametrize("case", cases("redaction.json"))
def test_without_growth_allowed_nothing_grows(case: dict[str, Any]) -> None:
    before = messages_of(case)
    options = RedactOptions(tools=tuple(case["config"]["tools"]))
    for change in REDACT.run(MemoryChain(before), options, Context()).changes:
        assert change.messages[0].size < before[change.start].size


@pytest.mark.parametrize("case", cases("env_switch.json"))
def test_the_switch_reads_the_environment_as_the_reference(case: dict[str, Any]) -> None:
    """Save for the words that mean off to a person, which the reference takes for on (issue 7)."""
    value = case["value"]
    switch = read_redaction_switch({} if value is None else {VARIABLE: value})
    assert switch.is_on is (case["expected"] and value not in ("off", "no", "disabled"))


@pytest.mark.parametrize("value", ["nope", " false", "false ", "fAlSe", "-1", "00", "null", "none", "disable", "n"])
def test_spelling_that_is_not_documented_leaves_redaction_on_and_warns(value: str) -> None:
    switch = read_redaction_switch({VARIABLE: value})
    assert switch.is_on and "neither true nor false" in switch.warning


@pytest.mark.parametrize("word", OFF)
def test_documented_spellings_turn_redaction_off(word: str) -> None:
    assert f"`{word}`" in (ROOT / "chainviz/help/settings.md").read_text()
    assert not any(read_redaction_switch({VARIABLE: value}).is_on for value in (word, word.upper(), word.capitalize()))


ARGUMENTS = '{"query": "0123456789012345"}'


def peer_chain(case: dict[str, Any]) -> tuple[Message, ...]:
    names = case["tool_names"] or ["t"] * len(case["result_sizes"])
    messages = [Message(HUMAN, (Text("0123456789"),))]
    for number, (name, size) in enumerate(zip(names, case["result_sizes"], strict=True)):
        messages.append(Message(AI, (ToolCall(f"c{number}", name, ARGUMENTS),)))
        messages.append(Message(TOOL, (ToolResult(f"c{number}", name, "x" * size),)))
    return tuple(messages)


def counted(messages: tuple[Message, ...]) -> int:
    """The peer's size: texts, results and arguments, without ids and names."""
    sizes = {Text: lambda p: p.size, ToolCall: lambda p: len(p.arguments), ToolResult: lambda p: len(p.content)}
    return sum(sizes[type(part)](part) for message in messages for part in message.parts)


@pytest.mark.parametrize("case", cases("peer_clear_tool_uses.json"))
def test_clear_tool_uses_clears_what_the_peer_clears(case: dict[str, Any]) -> None:
    before, config, expected = peer_chain(case), case["config"], case["expected"]
    assert counted(before) == expected["size_before"]
    # the peer counts no ids and names: a trigger that its size just meets is ours just met
    trigger = config["trigger"]
    if trigger == expected["size_before"]:
        trigger = sum(message.size for message in before)
    options = RedactOptions(
        policy="clear_tool_uses", trigger=trigger, keep=config.get("keep", 3), bytes_per_token=1, min_bytes_saved=0,
        exclude_tools=tuple(config.get("exclude_tools", ())), clear_at_least=config.get("clear_at_least", 0),
        clear_tool_inputs=config.get("clear_tool_inputs", False), at_least="then_stop", placeholder="[cleared]",
    )  # fmt: skip
    after = apply_splices(before, REDACT.run(MemoryChain(before), options, Context()).changes)
    assert counted(after) == expected["size_after"]
    results = [m for m in after if m.role == TOOL]
    assert [i for i, m in enumerate(results) if m.parts[0].content == "[cleared]"] == expected["cleared_results"]  # type: ignore[union-attr]
    calls = [m for m in after if m.role == AI]
    assert [i for i, m in enumerate(calls) if m.parts[0].arguments == "{}"] == expected["cleared_inputs"]  # type: ignore[union-attr]


def test_anthropic_itself_clears_all_or_nothing() -> None:
    case = next(c.values[0] for c in cases("peer_clear_tool_uses.json") if c.id == "pe-atleast-unreachable")
    options = RedactOptions(policy="clear_tool_uses", trigger=10, keep=2, bytes_per_token=1, clear_at_least=1_000_000)
    outcome = REDACT.run(MemoryChain(peer_chain(case)), options, Context())
    assert outcome.changes == ()
    assert "less than 1,000,000 tokens" in outcome.report[0].reason
