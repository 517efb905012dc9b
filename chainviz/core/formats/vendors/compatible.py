"""Servers that take OpenAI's chat messages and refuse more than OpenAI does: Groq, xAI, Moonshot, MiniMax, Vertex AI's partners and others.

No chain is judged by them, since most chains are never sent there. They lead a person who pastes one of their errors to its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, Message, Text, is_blank
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
REASONER = "github.com/deepseek-ai/DeepSeek-R1/issues/21"
ALTERNATE = compatible_rule(
    "roles-alternate", "warning",
    "deepseek-reasoner does not support successive user or assistant messages (messages[{index}] and messages[{index}] in your input).",
    REASONER, ("merge-human",), checked="2026-11-28",
)  # fmt: skip
TWO_ANSWERS = replace(ALTERNATE, id="assistants-alternate", fixes=())
FIRST_ROLE = compatible_rule(
    "first-role", "warning",
    "The first message (except the system message) of deepseek-reasoner must be a user message, but an assistant message detected.",
    "github.com/ChatGPTNextWeb/NextChat/issues/6343", ("insert-opening",), checked="2026-11-28",
)  # fmt: skip
LAST_ROLE = compatible_rule(
    "last-role", "warning",
    "The last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode on",
    "github.com/BerriAI/litellm/issues/8090", ("append-human", "drop-last"), checked="2026-11-28",
)  # fmt: skip
FORMATS = frozenset(("openai_chat", "hf_chat"))


def check_wire(message: Message) -> Iterator[WireFault]:
    """Find unknown members, messages without content, and texts that are lists in other messages than the user's."""
    value = sent_value(message)
    for fault in check_chat(message):
        if fault.name == "content_missing":
            yield replace(fault, rule=EMPTY)
        if fault.name == "field" and fault.detail not in REASONING_COPIES:
            yield replace(fault, rule=UNKNOWN_MEMBER)
    if message.role != HUMAN and isinstance(value, dict) and isinstance(value.get("content"), list):
        yield WireFault("", None, "has a list as content", rule=LIST)


def _calls_alone(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    for path, index, message in excerpt.messages:
        if message.role == AI and message.calls and not any(isinstance(part, Text) and not is_blank(part) for part in message.parts):
            yield path, index, (CALLS_ALONE, None, "calls tools without a text")


def _opening(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    section = excerpt.section
    if section.header and section.body and all(message.role == SYSTEM for message in section.header):
        yield Path(excerpt.number, 0, 0), 0, (FIRST_ROLE, None, "is followed by an AI message")


def _end(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    path, index, message = excerpt.messages[-1]
    if message.role == AI:
        yield path, index, (LAST_ROLE, None, "ends the chain with an answer")


PROVIDER = Provider(
    "compatible",
    "Server with OpenAI's API",
    "The server",
    {
        **dict.fromkeys(("says-nothing", "no-parts", "empty-text", "blank-text"), EMPTY),
        "human-after-human": ALTERNATE,
        "double-ai": TWO_ANSWERS,
        "first-message": FIRST_ROLE,
    },
    formats=FORMATS,
    wire=check_wire,
    chosen_rules=(CALLS_ALONE, LIST, LAST_ROLE),
    sent=(_calls_alone,),
    opening=(_opening,),
    ending=(_end,),
    section_rules=(SectionRule(REASONING, Mark.THINKS, "has reasoning"),),
)

_OF_CHAT = ("openai-chat", "deepseek", "anthropic")
_OWN = ("compatible",)
ERRORS = (
    Wording("An empty message was provided. Every message needs at least one non-empty content element", _OWN, ("content-missing",)),
    Wording("Each message must have at least one content element", _OWN, ("content-missing",)),
    Wording("all elements in history must have a message", _OWN, ("content-missing",)),
    Wording("message must be at least 1 token long or tool results must be specified", _OWN, ("content-missing",)),
    Wording("property 'reasoning' is unsupported", _OWN, ("reasoning-refused",)),
    Wording("property '{field}' is unsupported", _OWN, ("not-understood",)),
    Wording('can only concatenate str (not "list") to str', _OWN, ("content-list",)),
    Wording('can only concatenate str (not "NoneType") to str', _OWN, ("content-missing",)),
    Wording("Cannot have {number} or more assistant messages at the end of the list", _OWN, ("last-role", "assistants-alternate")),
    Wording("value must be a string)]", _OWN, ("content-list",)),
    Wording("Invalid 'content' type. Expected one of: ['str'], got list", _OWN, ("content-list",)),
    Wording(
        "After the (optional) system message(s), user and assistant roles should be alternating", _OWN,
        ("roles-alternate", "assistants-alternate", "first-role"),
    ),
    Wording(
        "After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s)", _OWN,
        ("roles-alternate", "assistants-alternate", "first-role"),
    ),
    Wording("Last message must have role `user`", _OWN, ("last-role",)),
    Wording("Expected last role to be one of: [user, tool] but got assistant", ("compatible", "mistral"), ("last-role",)),
    Wording("Cannot pass both content and thinking in an assistant message with tool calls!", _OWN, ("reasoning-refused",)),
    Wording("Extra inputs are not permitted, field: {field}.reasoning', value:", _OWN, ("reasoning-refused",)),
    Wording("tool_call_id {id} is not found", _OF_CHAT, ("result-without-call",)),
    Wording("tool id({id}) not found", _OF_CHAT, ("result-without-call",)),
    Wording("tool call result does not follow tool call", _OF_CHAT, ("result-without-call", "result-missing", "user-after-result")),
    Wording("invalid function arguments json string, tool_call_id: {id}", _OF_CHAT, ("arguments-no-json", "arguments-no-object")),
    Wording("reasoning_content is missing in assistant tool call message at index {index}", ("deepseek",), ("reasoning-missing",)),
)  # fmt: skip
"""Wordings of these servers, from public issues. The rules of the APIs that say the same find the place."""
