"""OpenAI Chat Completions (2026-09): results directly after their call, each id answered once, any role may begin or end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from chainviz.core.chain.messages import AI, FREE_FORM, HUMAN, SYSTEM, TOOL, Message, Thinking, ToolCall, ToolResult
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.reasoning import thinks
from chainviz.core.chain.tree import Section
from chainviz.core.providers.contract import Broken, Called, Excerpt, Rule, Speaker, broken_arguments, repeated

REFERENCE = "platform.openai.com/docs/api-reference/chat/create"
LONGEST_ID, SAFE_ID = 64, 40
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ROLES = frozenset({SYSTEM, HUMAN, AI, TOOL, "function", "developer"})

MISSING = Rule(
    "result-missing", "error",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    "github.com/BerriAI/litellm/issues/10083",
)  # fmt: skip
ORPHAN = Rule(
    "result-without-call", "error",
    "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    "github.com/BerriAI/litellm/issues/4931",
)  # fmt: skip
REPEATED_RESULT = Rule("result-repeated", "error", "Duplicate value for 'tool_call_id'", REFERENCE)
SHARED = Rule("call-id-shared", "warning", "Duplicate value for 'tool_call_id'", REFERENCE)
SHARED_TWICE = replace(SHARED, severity="error")
ROLE = Rule(
    "role-unknown", "error",
    "Invalid value. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
    REFERENCE, ("note-role", "drop-message"),
)  # fmt: skip
EMPTY = Rule(
    "content-missing", "error", "Invalid value for 'content': expected a string, got null.", REFERENCE, ("drop-empty",)
)
LONG_ID = Rule(
    "call-id-too-long", "error", f"string too long. Expected a string with maximum length {LONGEST_ID}", REFERENCE,
    ("respell-id",),
)
LONGISH_ID = Rule(
    "call-id-long", "warning", f"string too long. Expected a string with maximum length {SAFE_ID}",
    "github.com/pydantic/pydantic-ai/issues/4389", ("respell-id",),
)  # fmt: skip
NAME = Rule(
    "tool-name", "error",
    "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", REFERENCE,
    ("respell-name",),
)  # fmt: skip
ARGUMENTS = Rule(
    "arguments-no-json", "warning", "function.arguments must be a valid JSON object string",
    "github.com/vllm-project/vllm/issues/47761", ("mend-arguments",),
)  # fmt: skip
NO_OBJECT = Rule(
    "arguments-no-object", "warning", "function.arguments must be a valid JSON object string",
    "github.com/vllm-project/vllm/issues/47761", ("wrap-arguments",),
)  # fmt: skip
NO_REASONING = Rule(
    "reasoning-missing", "info",
    "taken; DeepSeek's and Kimi's servers want the reasoning_content of every turn back in thinking mode, and none in the other",
    "github.com/langchain-ai/langchain/issues/34166", ("drop-thinking",),
)  # fmt: skip
MEDIA = Rule(
    "result-media", "warning", "Content blocks are expected to be either text or image_url type.", REFERENCE,
    ("media-to-human",),
)  # fmt: skip
USER_CALL = Rule(
    "call-by-user", "warning", "Additional properties are not allowed ('tool_calls' was unexpected)", REFERENCE,
    ("call-to-text",),
)  # fmt: skip
REUSED = Rule("call-id-reused", "info", "accepted: an id has to be unique within its turn only", REFERENCE)

FROM_TREE = {
    "pending-call": MISSING,
    "terminal-call": MISSING,
    "orphan-result": ORPHAN,
    "unmatched-result": ORPHAN,
    "duplicate-result": REPEATED_RESULT,
    "shared-call-id": SHARED,
}


class OpenAIChat:
    name = "openai-chat"
    label = "OpenAI Chat Completions"
    _speaker = Speaker(name, "OpenAI")

    def check_section(self, excerpt: Excerpt) -> Iterator[Problem]:
        say, section = self._speaker, excerpt.section
        yield from say.reworded(excerpt.problems, lambda problem: _rule_for(problem, section))
        yield from say.broken(excerpt, lambda message, _: _broken(message))
        if any(pair.ai is not None and thinks(pair.ai) for pair in section.body):
            yield from say.broken(excerpt, lambda message, _: _unthinking(message))

    def check_ids(self, calls: Iterable[Called]) -> Iterator[Problem]:
        for call, _ in repeated(calls):
            yield self._speaker.problem(
                REUSED, call.path, call.message, call.part, f"uses the call id “{call.id}” again"
            )


def _broken(message: Message) -> Iterator[Broken]:
    if message.role not in ROLES:
        yield ROLE, None, f"has the role “{message.role[:40]}”"
    if message.role == AI and not _has_content(message):
        yield EMPTY, None, "has neither text nor tool calls"
    for part, each in enumerate(message.parts):
        if isinstance(each, ToolCall) and each.has_function:
            if message.role != AI:
                yield USER_CALL, part, f"is of the role {message.role} and calls a tool"
            yield from _broken_by_call(part, each)
        elif isinstance(each, ToolResult) and each.media:
            yield MEDIA, part, "has an image or a file in a tool result"


def _unthinking(message: Message) -> Iterator[Broken]:
    if message.calls and not thinks(message):
        yield NO_REASONING, None, "calls tools without reasoning, which another message of its section has"


def _broken_by_call(part: int, call: ToolCall) -> Iterator[Broken]:
    if len(call.id) > SAFE_ID:
        yield LONG_ID if len(call.id) > LONGEST_ID else LONGISH_ID, part, f"has a call id of {len(call.id)} characters"
    if not _NAME.fullmatch(call.name):
        yield NAME, part, f"calls the tool “{call.name[:80]}”, whose name is not allowed"
    if call.type != FREE_FORM:
        yield from broken_arguments(part, call, ARGUMENTS, NO_OBJECT)


def _has_content(message: Message) -> bool:
    return any(not isinstance(part, Thinking) for part in message.parts)


def _rule_for(problem: Problem, section: Section[Message]) -> Rule | None:
    """Two results under one id are refused; one for both calls may pass."""
    rule = FROM_TREE.get(problem.rule)
    return SHARED_TWICE if rule is SHARED and _answered_twice(section, problem) else rule


def _answered_twice(section: Section[Message], problem: Problem) -> bool:
    pair = section.body[(problem.path.pair or 1) - 1]
    assert pair.ai is not None
    id = next(call.id for call in pair.ai.calls if call.part == problem.part)
    results = (result for message in pair.rest for result in message.results if result.id == id)
    return len(list(islice(results, 2))) > 1


PROVIDER = OpenAIChat()
