"""A document that is one message, such as a provider's answer, never loses it: nothing could be written in its place."""

from __future__ import annotations

import json

import pytest

import chainviz
from chainviz.core.errors import Refused
from chainviz.core.formats.vendors import PROVIDERS

REFUSAL = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "stop_reason": "refusal"}
EMPTY = {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": ""}}]}


@pytest.mark.parametrize("document", [REFUSAL, EMPTY, {"role": "assistant", "content": "  "}])
@pytest.mark.parametrize("goal", ["", *(provider.name for provider in PROVIDERS)])
def test_a_repair_keeps_the_only_message(document: dict[str, object], goal: str) -> None:
    (chain,) = chainviz.load(json.dumps(document).encode())
    made = chain.apply("repair", **({"goal": goal} if goal else {"content": True, "only": ["drop-empty"]}))
    (again,) = chainviz.load(made.chain.to_bytes())
    assert len(made.chain) == len(again) == 1


def test_the_only_message_cannot_be_deleted() -> None:
    (chain,) = chainviz.load(json.dumps(REFUSAL).encode())
    with pytest.raises(Refused, match="a single message"):
        chain.apply("edit", action="delete", path="s1.p1.m0")
