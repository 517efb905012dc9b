"""Anthropic Messages (2026-09): all results in the next user turn, ids unique in the request, no empty text, signed thinking."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SYSTEM,
    TOOL,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    is_blank,
)
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.reasoning import acts_unthinking, is_emptied, is_unsigned, thinks
from chainviz.core.chain.tree import Section
from chainviz.core.dialects.server_tools import lone_results
from chainviz.core.pictures import LONGEST_OF_MANY, LONGEST_SIDE, Picture, bytes_and_sides, is_too_large, pictures_in
from chainviz.core.providers.contract import Broken, Called, Excerpt, Rule, Speaker, broken_arguments, repeated

REFERENCE = "docs.claude.com/en/api/messages"
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")

MISSING = Rule(
    "result-missing", "error", "tool_use ids were found without tool_result blocks immediately after",
    "github.com/anthropics/claude-code/issues/1237",
)  # fmt: skip
OPEN_END = Rule(
    "result-missing-at-end", "warning",
    "tool_use ids were found without tool_result blocks immediately after (as soon as a message follows)",
    "github.com/anthropics/claude-code/issues/1237",
)  # fmt: skip
ORPHAN = Rule(
    "result-without-call", "error",
    "unexpected tool_use_id found in tool_result blocks: each tool_result block must have a corresponding tool_use block "
    "in the previous message",
    "github.com/anthropics/claude-code/issues/13460",
)  # fmt: skip
REPEATED_RESULT = Rule(
    "result-repeated", "error",
    "each tool_use must have a single result. Found multiple tool_result blocks with id",
    "github.com/BerriAI/litellm/issues/23510",
)  # fmt: skip
TWICE = Rule(
    "call-id-reused", "error", "tool_use ids must be unique", "github.com/BerriAI/litellm/issues/23510", ("rename-calls",)
)
REUSED = replace(TWICE, severity="warning")
"""A recorded request with one id in two turns was taken."""
ROLE = Rule("role-unknown", "error", 'messages: Unexpected role. Allowed roles are "user" or "assistant"', REFERENCE)
MID_SYSTEM = Rule(
    "system-in-messages", "warning",
    'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter',
    "docs.litellm.ai (mid-conversation system messages)", ("note-system", "system-to-start"),
)  # fmt: skip
FIRST_ROLE = Rule(
    "first-role", "warning", 'messages: first message must use the "user" role', REFERENCE, ("insert-opening",)
)
EMPTY_TEXT = Rule(
    "text-empty", "error", "messages: text content blocks must be non-empty",
    "github.com/anthropics/anthropic-sdk-python/issues/461", ("drop-empty",),
)  # fmt: skip
BLANK_TEXT = Rule(
    "text-blank", "error", "messages: text content blocks must contain non-whitespace text",
    "github.com/anthropics/claude-code/issues/23440", ("drop-empty",),
)  # fmt: skip
EMPTY = Rule(
    "content-missing", "error",
    "all messages must have non-empty content except for the optional final assistant message", REFERENCE, ("drop-empty",),
)  # fmt: skip
ID = Rule("call-id-pattern", "error", "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", REFERENCE, ("respell-id",))
NAME = Rule("tool-name", "error", "tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", REFERENCE, ("respell-name",))
ARGUMENTS = Rule(
    "arguments-no-json", "error", "tool_use.input: Input should be a valid dictionary", REFERENCE, ("mend-arguments",)
)
NO_OBJECT = Rule("arguments-no-object", "error", "tool_use.input: Input should be a valid dictionary", REFERENCE, ("wrap-arguments",))
USER_CALL = Rule(
    "call-by-user", "error", "`tool_use` blocks can only be in `assistant` messages", REFERENCE, ("call-to-text",)
)
TEXT_FIRST = Rule(
    "result-after-text", "error",
    "tool_use ids were found without tool_result blocks immediately after (results come before any text)", REFERENCE,
    ("results-first",),
)  # fmt: skip
UNSIGNED = Rule(
    "thinking-unsigned",
    "error",
    "Invalid `signature` in `thinking` block",
    "github.com/anthropics/claude-code/issues/63203",
    ("drop-thinking",),
)
EMPTIED = Rule(
    "thinking-emptied", "info",
    "`thinking` blocks cannot be modified; taken where the model itself gave this one without text",
    "github.com/anthropics/claude-code/issues/63246", ("drop-thinking",),
)  # fmt: skip
FINAL_THINKING = Rule(
    "thinking-final", "info",
    "with thinking switched off, an `assistant` message in the final position cannot contain `thinking`",
    "forgecode issue 1853", ("drop-thinking",),
)  # fmt: skip
NO_THINKING = Rule(
    "thinking-missing", "warning",
    "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` "
    "message must start with a thinking block",
    "github.com/run-llama/llama_index/pull/18834", ("drop-thinking",),
)  # fmt: skip
TRAILING = Rule(
    "trailing-space", "warning", "messages: final assistant content cannot end with trailing whitespace", REFERENCE,
    ("trim-end",),
)  # fmt: skip
SERVER_RESULT = Rule(
    "server-result-without-call", "error",
    "unexpected tool_use_id found in server tool results: each must have a corresponding server_tool_use block before it",
    "github.com/anthropics/claude-code/issues/64383", ("server-result-to-text",),
)  # fmt: skip
LARGE_PICTURE = Rule(
    "image-too-large", "error", f"image exceeds 5 MB maximum, or image dimensions exceed max allowed size: {LONGEST_SIDE} pixels",
    "github.com/anthropics/claude-code/issues/13480", ("image-to-text",),
)  # fmt: skip
LARGISH_PICTURE = Rule(
    "image-large", "info",
    f"image dimensions exceed max allowed size for many-image requests: {LONGEST_OF_MANY} pixels; taken where there are few",
    "github.com/anthropics/claude-code/issues/24695",
)  # fmt: skip

FROM_TREE = {
    "pending-call": MISSING,
    "terminal-call": MISSING,
    "orphan-result": ORPHAN,
    "unmatched-result": ORPHAN,
    "duplicate-result": REPEATED_RESULT,
    "mid-system": MID_SYSTEM,
    "unknown-role": ROLE,
    "first-message": FIRST_ROLE,
}


class Anthropic:
    name = "anthropic"
    label = "Anthropic Messages"
    _speaker = Speaker(name, "Anthropic")

    def check_section(self, excerpt: Excerpt) -> Iterator[Problem]:
        say, section, end = self._speaker, excerpt.section, excerpt.end
        yield from say.reworded(excerpt.problems, lambda problem: _rule_for(problem, end))
        if excerpt.first_message == 0 and section.header and section.header[0].role == SYSTEM and _opens_with_ai(section):
            yield say.problem(FIRST_ROLE, Path(excerpt.number, 0, 0), 0, None, "is followed by an AI message")
        roles = [excerpt.before, *(message.role for message in section.messages)]

        def rules(message: Message, index: int) -> Iterable[Broken]:
            follows_ai = roles[index - excerpt.first_message] == AI
            return chain(_broken(message, index == end), () if follows_ai else _lone_results(message))

        yield from say.broken(excerpt, rules)
        if excerpt.is_last:
            yield from self._thinking(excerpt)

    def _thinking(self, excerpt: Excerpt) -> Iterator[Problem]:
        """The last tool turn lacks thinking although its section has some: it was probably cut out."""
        section = excerpt.section
        if not section.body or section.body[-1].ai is None:
            return
        ai = section.body[-1].ai
        if acts_unthinking(ai) and any(pair.ai is not None and thinks(pair.ai) for pair in section.body):
            index = excerpt.first_message + len(section) - len(section.body[-1].messages)
            path = Path(excerpt.number, len(section.body), 0)
            yield self._speaker.problem(NO_THINKING, path, index, None, "calls tools without the thinking of its turn")

    def check_ids(self, calls: Iterable[Called]) -> Iterator[Problem]:
        for call, before in repeated(calls):
            rule = TWICE if before.message == call.message else REUSED
            yield self._speaker.problem(rule, call.path, call.message, call.part, f"uses the call id “{call.id}” again")


def _rule_for(problem: Problem, end: int | None) -> Rule | None:
    """An unanswered call in the message that ends the request is refused only once something follows it."""
    rule = FROM_TREE.get(problem.rule)
    return OPEN_END if rule is MISSING and problem.message == end else rule


def _broken(message: Message, final: bool) -> Iterator[Broken]:
    if not message.parts and message.role in (HUMAN, AI) and not (final and message.role == AI):
        yield EMPTY, None, "has no content"
    text_before = False
    for part, each in enumerate(message.parts):
        match each:
            case Text() if each.text.strip() or is_blank(each):
                text_before = True
                yield from _broken_by_text(part, each)
            case ToolCall(has_function=True):
                yield from _broken_by_call(part, each, message.role)
            case ToolResult() if text_before and message.role == TOOL:
                yield TEXT_FIRST, part, "has text before a tool result"
            case Thinking() if message.role == AI and is_unsigned(each):
                yield UNSIGNED, part, "has thinking without a signature"
            case Thinking() if message.role == AI and is_emptied(each):
                yield EMPTIED, part, "has signed thinking without text"
        for picture in pictures_in(each):
            yield from _broken_by_picture(part, picture)
    if final and message.role == AI and message.parts:
        yield from _broken_at_end(message)


def _lone_results(message: Message) -> Iterator[Broken]:
    for i, part in lone_results(message) if message.role == AI else ():
        yield SERVER_RESULT, i, f"holds a {part.kind} without its call before it"


def _broken_by_picture(part: int, picture: Picture) -> Iterator[Broken]:
    _, width, height = bytes_and_sides(picture)
    if is_too_large(picture):
        yield LARGE_PICTURE, part, f"has a picture of {width:,} × {height:,} pixels"
    elif max(width, height) > LONGEST_OF_MANY:
        yield LARGISH_PICTURE, part, f"has a picture of {width:,} × {height:,} pixels"


def _broken_at_end(message: Message) -> Iterator[Broken]:
    if thinks(message):
        yield FINAL_THINKING, None, "ends the chain with its thinking"
    end = message.parts[-1]
    if isinstance(end, Text) and end.text.strip() and end.text[-1].isspace():
        yield TRAILING, len(message.parts) - 1, "ends the chain with white space"


def _broken_by_text(part: int, text: Text) -> Iterator[Broken]:
    if not text.text:
        yield EMPTY_TEXT, part, "has an empty text"
    elif text.text.isspace():
        yield BLANK_TEXT, part, "has a text of white space only"


def _broken_by_call(part: int, call: ToolCall, role: str) -> Iterator[Broken]:
    if role != AI:
        yield USER_CALL, part, f"is of the role {role} and calls a tool"
    if not _ID.fullmatch(call.id):
        yield ID, part, f"has the call id “{call.id[:80]}”, which is not allowed"
    if not _NAME.fullmatch(call.name):
        yield NAME, part, f"calls the tool “{call.name[:80]}”, whose name is not allowed"
    yield from broken_arguments(part, call, ARGUMENTS, NO_OBJECT)


def _opens_with_ai(section: Section[Message]) -> bool:
    return all(message.role == SYSTEM for message in section.header) and bool(section.body)


PROVIDER = Anthropic()
