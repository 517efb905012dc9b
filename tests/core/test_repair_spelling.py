"""Ids, names and arguments that some APIs refuse by their form are mended on demand, and results follow."""

from __future__ import annotations

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Message, Text, ToolCall, ToolResult
from chainviz.core.chain.tree import parse
from chainviz.core.operations.repair import RepairOptions, propose, repaired
from tests.core.provider_problems import provider_problems

LONG = "x" * 90
CHAIN = (
    Message("human", (Text("Hi"),)),
    Message("ai", (ToolCall("a.1", "files/read", "[1]"), ToolCall("a:1", "grep", "{}"), ToolCall(LONG, "grep", "{}"))),
    Message("tool", (ToolResult("a.1", "files/read", "one"),)),
    Message("tool", (ToolResult("a:1", "grep", "two"),)),
    Message("tool", (ToolResult(LONG, "grep", "three"),)),
    Message("ai", (ToolCall("a.1", "files/read", "{}"),)),
    Message("tool", (ToolResult("a.1", "files/read", "four"),)),
    Message("ai", (Text("Done."),)),
)
ALL = RepairOptions(only=("respell-id", "respell-name", "wrap-arguments"))


def test_nothing_of_it_happens_unasked() -> None:
    assert repaired(CHAIN) == CHAIN
    assert {fix.name for fix in propose(MemoryChain(CHAIN))} >= {"respell-id", "respell-name", "wrap-arguments"}


def test_results_follow_and_ids_stay_apart() -> None:
    mended = repaired(CHAIN, ALL)
    calls = [part for message in mended for part in message.parts if isinstance(part, ToolCall)]
    results = [part for message in mended for part in message.parts if isinstance(part, ToolResult)]
    assert [call.id for call in calls] == [result.call_id for result in results]
    assert len({call.id for call in calls}) == len(calls)
    assert [call.name for call in calls] == [result.name for result in results] == ["files_read", "grep", "grep", "files_read"]
    assert calls[0].arguments == '{"value": [1]}'
    assert repaired(mended, ALL) == mended


def test_no_provider_refuses_their_form_afterwards() -> None:
    form = {"call-id-pattern", "call-id-too-long", "call-id-long", "tool-name", "arguments-no-object"}
    assert {problem.rule for problem in provider_problems(parse(CHAIN))} >= form - {"call-id-long"}
    assert not {problem.rule for problem in provider_problems(parse(repaired(CHAIN, ALL)))} & form
