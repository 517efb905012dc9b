"""Random requests of the types that vendors publish: chainviz reads every part of them, and its rules accept them."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from anthropic.types.beta import BetaRequestDocumentBlockParam, BetaSearchResultBlockParam, BetaTextBlockParam, BetaToolUseBlockParam
from mistralai.client.models import SystemMessage, TextChunk
from openai.types.chat import ChatCompletionContentPartParam, ChatCompletionSystemMessageParam
from openai.types.responses import EasyInputMessageParam

from chainviz import load
from tests.core.oracle.plain_types import plain
from tests.core.oracle.random_values import Maker

REQUESTS = 60
HI = {"role": "user", "content": "hi"}
Make = Callable[[Maker], dict[str, Any]]


def _anthropic(block: Any) -> Make:
    return lambda make: {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [make.value(plain(block))]}]}


def _anthropic_call(make: Maker) -> dict[str, Any]:
    call = make.value(plain(BetaToolUseBlockParam))
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": [make.value(plain(BetaTextBlockParam))]}
    messages = [HI, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return {"model": "m", "max_tokens": 9, "tools": [{"name": call["name"], "input_schema": {"type": "object"}}], "messages": messages}


KINDS: dict[str, tuple[str, Make]] = {
    "anthropic text": ("anthropic", _anthropic(BetaTextBlockParam)),
    "anthropic search result": ("anthropic", _anthropic(BetaSearchResultBlockParam)),
    "anthropic document": ("anthropic", _anthropic(BetaRequestDocumentBlockParam)),
    "anthropic call": ("anthropic", _anthropic_call),
    "chat parts": ("openai-chat", lambda make: {"model": "m", "messages": [
        {"role": "user", "content": [make.value(plain(ChatCompletionContentPartParam))]}]}),
    "chat system": ("openai-chat", lambda make: {"model": "m", "messages": [make.value(plain(ChatCompletionSystemMessageParam)), HI]}),
    "responses message": ("openai-responses", lambda make: {"model": "m", "input": [
        {"role": "user", "content": make.value(plain(EasyInputMessageParam))["content"]}]}),
    "mistral text": ("mistral", lambda make: {"model": "m", "messages": [{**make.value(SystemMessage), "role": "system"}, {
        "role": "user", "content": [{**make.value(TextChunk), "type": "text"}]}]}),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_random_request_is_read_and_accepted(kind: str) -> None:
    provider, make = KINDS[kind]
    for seed in range(REQUESTS):
        request = make(Maker(Random(seed)))
        (chain,) = load(json.dumps(request).encode())
        assert all(message.parts for message in chain.messages), request
        assert chain.verdict(provider).text == "accepted", request
