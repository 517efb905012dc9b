"""Servers that take OpenAI's chat messages and refuse more than OpenAI does: Groq, xAI, Moonshot, MiniMax, Vertex AI's partners and others.

No chain is judged by them, since most chains are never sent there. They lead a person who pastes one of their errors to its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from chainviz.core.chain.messages import AI, HUMAN, Message, Text, is_blank
from chainviz.core.chain.paths import Path
from chainviz.core.formats.vendors.openai_form.read import REASONING_COPIES
from chainviz.core.formats.vendors.openai_form.wire import check_chat
from chainviz.core.providers.contract import UNKNOWN_MEMBER, Broken, Excerpt, Provider, WireFault
from chainviz.core.providers.rules import Mark, Rule, SectionRule, Wording
from chainviz.core.providers.wire import sent_value

compatible_rule = partial(Rule, models="models of the server", since="2025-01", checked="2026-11-27")
EMPTY = compatible_rule(
    "content-missing", "error", "the message at position {index} with role '{role}' must not be empty",
    "github.com/anomalyco/opencode/issues/37887", ("drop-empty",),
)  # fmt: skip
CALLS_ALONE = compatible_rule(
    "call-without-text", "error", "Each message must have at least one content element.",
    "github.com/langchain-ai/langchain/issues/34140",
)  # fmt: skip
LIST = compatible_rule(
    "content-list", "error", "for 'role:{role}' the following must be satisfied[('messages.{index}.content' : value must be a string)]",
    "github.com/OpenHands/OpenHands/issues/4643", ("rewrite-message",),
)  # fmt: skip
REASONING = compatible_rule(
    "reasoning-refused", "error", "property 'reasoning_content' is unsupported",
    "github.com/tashfeenahmed/freellmapi/issues/1070", ("drop-reasoning",),
)  # fmt: skip
FORMATS = frozenset(("openai_chat", "hf_chat"))


def check_wire(message: Message) -> Iterator[WireFault]:
    """Find unknown members, and texts that are lists in other messages than the user's."""
    value = sent_value(message)
    for fault in check_chat(message):
        if fault.name == "field" and fault.detail not in REASONING_COPIES:
            yield replace(fault, rule=UNKNOWN_MEMBER)
    if message.role != HUMAN and isinstance(value, dict) and isinstance(value.get("content"), list):
        yield WireFault("", None, "has a list as content", rule=LIST)


def _calls_alone(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    for path, index, message in excerpt.messages:
        if message.role == AI and message.calls and not any(isinstance(part, Text) and not is_blank(part) for part in message.parts):
            yield path, index, (CALLS_ALONE, None, "calls tools without a text")


PROVIDER = Provider(
    "compatible",
    "Server with OpenAI's API",
    "The server",
    dict.fromkeys(("says-nothing", "no-parts", "empty-text", "blank-text"), EMPTY),
    formats=FORMATS,
    wire=check_wire,
    chosen_rules=(CALLS_ALONE, LIST),
    sent=(_calls_alone,),
    section_rules=(SectionRule(REASONING, Mark.THINKS, "has reasoning"),),
)

_OF_CHAT = ("openai-chat", "deepseek", "anthropic")
_OWN = ("compatible",)
ERRORS = (
    Wording("An empty message was provided. Every message needs at least one non-empty content element", _OWN, ("content-missing",)),
    Wording("Each message must have at least one content element", _OWN, ("content-missing",)),
    Wording("all elements in history must have a message", _OWN, ("content-missing",)),
    Wording("message must be at least 1 token long or tool results must be specified", _OWN, ("content-missing",)),
    Wording("property '{field}' is unsupported", _OWN, ("not-understood",)),
    Wording("value must be a string)]", _OWN, ("content-list",)),
    Wording("Cannot pass both content and thinking in an assistant message with tool calls!", _OWN, ("reasoning-refused",)),
    Wording("Extra inputs are not permitted, field: {field}.reasoning', value:", _OWN, ("reasoning-refused",)),
    Wording("tool_call_id {id} is not found", _OF_CHAT, ("result-without-call",)),
    Wording("tool id({id}) not found", _OF_CHAT, ("result-without-call",)),
    Wording("tool call result does not follow tool call", _OF_CHAT, ("result-without-call", "result-missing", "user-after-result")),
    Wording("invalid function arguments json string, tool_call_id: {id}", _OF_CHAT, ("arguments-no-json", "arguments-no-object")),
    Wording("reasoning_content is missing in assistant tool call message at index {index}", ("deepseek",), ("reasoning-missing",)),
)  # fmt: skip
"""Wordings of these servers, from public issues. The rules of the APIs that say the same find the place."""
