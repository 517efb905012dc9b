"""Message objects of frameworks as sources, and functions of the caller that write summaries and count tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from openai.types.responses import ResponseFunctionToolCall
from pydantic import BaseModel

import chainviz
from chainviz.core.errors import OptionsError
from tests.chains.making import STORY


class HumanMessage(BaseModel):
    """As LangChain's."""

    content: str
    type: Literal["human"] = "human"
    additional_kwargs: dict[str, Any] = {}
    response_metadata: dict[str, Any] = {}
    id: str | None = None


class AIMessage(HumanMessage):
    type: Literal["ai"] = "ai"  # type: ignore[assignment]
    tool_calls: list[dict[str, Any]] = []


@dataclass
class UserPromptPart:
    """As that of pydantic-ai."""

    content: str
    part_kind: Literal["user-prompt"] = "user-prompt"


@dataclass
class ModelRequest:
    parts: list[UserPromptPart]
    kind: Literal["request"] = "request"


@dataclass
class Item:
    """As an item of a run of the OpenAI Agents SDK."""

    raw: Any
    agent: object = field(default_factory=object)

    def to_input_item(self) -> Any:
        return self.raw


def test_objects_like_those_of_langchain() -> None:
    call = {"name": "look", "args": {}, "id": "c1", "type": "tool_call"}
    (chain,) = chainviz.load([HumanMessage(content="Look"), AIMessage(content="", tool_calls=[call])])
    assert chain.format == "langchain" and chain.messages[1].calls[0].name == "look"


def test_objects_like_those_of_pydantic_ai() -> None:
    (chain,) = chainviz.load([ModelRequest([UserPromptPart("Hi")])])
    assert (chain.format, len(chain)) == ("pydantic_ai", 1)


def test_items_like_those_of_openai_agents() -> None:
    call = ResponseFunctionToolCall(arguments="{}", call_id="c1", name="look", type="function_call")
    output = {"type": "function_call_output", "call_id": "c1", "output": "Nothing"}
    (chain,) = chainviz.load([{"role": "user", "content": "Look"}, Item(call), Item(output)])
    assert chain.format == "openai_responses" and chain.tree.sections[0].body[0].is_valid


def test_real_objects_of_langchain() -> None:
    messages = pytest.importorskip("langchain_core.messages", reason="langchain-core is not installed")
    call = {"name": "look", "args": {}, "id": "c1"}
    made = [messages.HumanMessage("Look"), messages.AIMessage("", tool_calls=[call]), messages.ToolMessage("x", tool_call_id="c1")]
    (chain,) = chainviz.load(made)
    assert chain.format == "langchain" and chain.tree.sections[0].body[0].is_valid


def test_real_objects_of_pydantic_ai() -> None:
    messages = pytest.importorskip("pydantic_ai.messages", reason="pydantic-ai is not installed")
    asked = messages.ModelRequest(parts=[messages.UserPromptPart("Hi")])
    (chain,) = chainviz.load([asked, messages.ModelResponse(parts=[messages.TextPart("Yes")])])
    assert (chain.format, len(chain)) == ("pydantic_ai", 2)


def test_other_objects_are_refused() -> None:
    with pytest.raises(OptionsError, match="cannot be written as JSON"):
        chainviz.load([object()])


def test_a_function_writes_summaries() -> None:
    chain = chainviz.generate(messages=300)
    prompts = list[str]()

    def write(prompt: str) -> str:
        prompts.append(prompt)
        return "It was short."

    made = chain.apply("summarize", writer=write)
    assert prompts and b"It was short." in made.chain.to_bytes()
    with pytest.raises(OptionsError, match="Only summarize and compact take a writer"):
        chain.apply("repair", writer=write)


def test_a_function_counts_tokens() -> None:
    (chain,) = chainviz.load(STORY)
    counted = list[str]()

    def count(text: str) -> int:
        counted.append(text)
        return 1_000

    assert chain.apply("compact", max_tokens=1_000_000, counter=count).chain is chain
    assert counted and chain.apply("compact", max_tokens=1_000, counter=count).chain is not chain
    with pytest.raises(OptionsError, match="Only compact takes a counter"):
        chain.apply("repair", counter=count)
