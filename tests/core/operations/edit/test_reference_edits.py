"""Going on and answering against outcomes of the reference. Packaging may differ: ours keeps one result a message."""

from __future__ import annotations

from typing import Any

import pytest

from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.chain.messages import Message
from chainviz.core.chain.tree import PairType, parse
from chainviz.core.operations.contract import Context
from chainviz.core.operations.edit import Edit, EditOptions
from chainviz.core.reference import parsed_by_reference
from tests.core.cases import cases, read_messages, same_tree


def edited(messages: tuple[Message, ...], **options: Any) -> tuple[Message, ...]:
    outcome = Edit().run(MemoryChain(messages), EditOptions(**options), Context())
    return apply_splices(messages, outcome.changes)


def given_messages(request: dict[str, Any]) -> tuple[Message, ...]:
    return parsed_by_reference(read_messages(request), force=request["force"])


def accepted(op: str) -> list[Any]:
    found = [case for case in cases(op) if case[2]["error"] is None and not case[2].get("op_error")]
    return [pytest.param(request, expected, id=name) for name, request, expected in found]


@pytest.mark.parametrize(("request_", "expected"), accepted("append_human"))
def test_a_human_message_is_appended_as_the_reference_does(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    new = edited(given_messages(request_), action="append_human", text=request_["text"])
    same_tree(parse(new), expected["tree"])


@pytest.mark.parametrize(("request_", "expected"), accepted("add_tool_response"))
def test_a_call_is_answered_as_the_reference_does(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    messages = given_messages(request_)
    path = next(
        path
        for path, pair in parse(messages).pairs()
        if pair.type is PairType.REQUEST_RESPONSE and pair.ai and any(c.id == request_["id"] for c in pair.ai.calls)
    )
    new = parse(
        edited(
            messages, action="answer", path=str(path), call_id=request_["id"], name=request_["name"],
            text=request_["content"],
        )
    )  # fmt: skip
    assert new.size == expected["tree"]["size"]
    ours = [pair.tool_calls for _, pair in new.pairs()]
    theirs = [pair for section in expected["tree"]["sections"] for pair in section["body"]]
    assert [list(calls.completed) for calls in ours] == [sorted(pair["completed"]) for pair in theirs]
    assert [list(calls.pending) for calls in ours] == [sorted(pair["pending"]) for pair in theirs]
