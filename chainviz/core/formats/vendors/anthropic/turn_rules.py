"""Rules of Anthropic's API about the order of messages, and about tools that a request defines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import Any, NamedTuple

from chainviz.core.chain.messages import AI, HUMAN, SLOT, SYSTEM, TOOL, Message, Opaque, Text
from chainviz.core.chain.paths import Path
from chainviz.core.chain.reasoning import thinks
from chainviz.core.documents.json.edit import value_of
from chainviz.core.formats.vendors.anthropic.wire import check_wire, claude_rule
from chainviz.core.providers.contract import UNUSUAL, Broken, Excerpt, WireFault
from chainviz.core.providers.rules import Rule
from chainviz.core.providers.server_blocks import is_programmatic, lone_calls

Found = Iterator[tuple[Path, int, Broken]]
FORMAT = "anthropic"
"""The format of requests. Chains in other formats are not checked by these rules."""
CHECKED = "2026-11-27"
SYSTEM_MESSAGES = "platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages"
FROM_OPUS_4_8 = "up to Claude 4.7"

PREFILL = claude_rule(
    "last-role", "error", "This model does not support assistant message prefill. The conversation must end with a user message.",
    "platform.claude.com/docs/en/api/errors#prefill-not-supported", ("append-human", "drop-last"),
    models="from Claude 4.6 on", since="2026-02", checked=CHECKED,
)  # fmt: skip
MAY_PREFILL = replace(PREFILL, severity="warning", note="it depends on the model: Claude accepts it up to 4.5")
TRAILING = claude_rule(
    "trailing-space", "error", "messages: final assistant content cannot end with trailing whitespace",
    "github.com/andrewyng/openworker/issues/369", ("trim-end",), models="up to Claude 4.5", checked=CHECKED,
)  # fmt: skip
MAY_TRAIL = replace(TRAILING, severity="warning", note="if the chain is sent as it is")
NO_SYSTEM = claude_rule(
    "system-in-messages", "error",
    'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input '
    "message role.",
    "github.com/anthropics/claude-agent-sdk-typescript/issues/350", ("note-system", "system-to-start"), models=FROM_OPUS_4_8,
    checked=CHECKED,
)  # fmt: skip
MAY_SYSTEM = replace(NO_SYSTEM, severity="warning", note="Claude Opus accepts it from 4.8 on, right behind a user message")
SYSTEM_FIRST = claude_rule(
    "system-first", "error", "messages.{index}: use the top-level 'system' parameter for the initial system prompt",
    "github.com/LeenHawk/gproxy/issues/209", ("system-to-slot", "note-system"), checked=CHECKED,
)  # fmt: skip
SYSTEM_PLACE = claude_rule(
    "system-place", "error",
    "A `system` message must immediately follow a `user` message, and must be last or be followed by an `assistant` message.",
    SYSTEM_MESSAGES, ("note-system", "system-to-start"), models="from Claude Opus 4.8 on", since="2026-05", checked=CHECKED,
)  # fmt: skip
BESIDE_RESULT = claude_rule(
    "text-beside-result", "error",
    "your response message must contain only `tool_result` blocks",
    "platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling", ("text-to-turn-start",),
    since="2025-11", checked=CHECKED,
)  # fmt: skip
UNKNOWN_REFERENCE = claude_rule(
    "tool-reference-unknown", "error", "Tool reference '{name}' not found in available tools",
    "github.com/anthropics/claude-code/issues/81863", ("reference-to-text",), since="2025-11", checked=CHECKED,
)  # fmt: skip
COMPACTION_PLACE = claude_rule(
    "compaction-not-first", "error", "The `compaction` block is not the first block",
    "anthropic/types/compaction_block_misplaced_error.py", ("compaction-first",), since="2026-01", checked=CHECKED,
)  # fmt: skip
NO_THINKING = claude_rule(
    "thinking-enabled", "warning",
    "Expected `thinking` or `redacted_thinking`, but found `{type}`. When `thinking` is enabled, a final `assistant` message must start "
    "with a thinking block",
    "github.com/BerriAI/litellm/issues/9020", (), checked=CHECKED,
    note="accepted by API versions that switch thinking off for such a request",
)  # fmt: skip
RULES = (
    PREFILL, MAY_PREFILL, TRAILING, MAY_TRAIL, NO_SYSTEM, MAY_SYSTEM, SYSTEM_FIRST, SYSTEM_PLACE, BESIDE_RESULT, UNKNOWN_REFERENCE,
    COMPACTION_PLACE, NO_THINKING,
)  # fmt: skip


def check_end(excerpt: Excerpt) -> Found:
    """Check a final assistant message. Claude 4.6 and later do not continue it; older models refuse white space at its end."""
    path, index, message = excerpt.messages[-1]
    request = excerpt.request
    if message.role != AI or not message.parts or request.ends_with_answer or next(lone_calls(message), None):
        return
    model = claude_model(request.model)
    is_sent = excerpt.format == FORMAT or (model is not None and "max_tokens" in request.members)
    if is_sent and not message.calls and (model is None or not model.takes_prefill):
        yield path, index, (MAY_PREFILL if model is None else PREFILL, None, "ends the request with the assistant's words")
    end = message.parts[-1]
    if isinstance(end, Text) and end.text.strip() and end.text[-1].isspace() and (model is None or model.takes_prefill):
        rule = TRAILING if is_sent and model is not None else MAY_TRAIL
        yield path, index, (rule, len(message.parts) - 1, "ends the chain with white space")


def check_thinking(excerpt: Excerpt) -> Found:
    """Check the last tool turn of a request with `thinking` enabled: one of its assistant messages must think."""
    if excerpt.request.thinking != "enabled" or excerpt.messages[-1][2].role != TOOL:
        return
    turn = takewhile(lambda each: each[2].role in (AI, TOOL), reversed(excerpt.messages))
    answers = [each for each in turn if each[2].role == AI]
    if answers and not any(thinks(message) for _, _, message in answers):
        path, index, _ = answers[0]
        yield path, index, (NO_THINKING, None, "calls tools without thinking, which the request enables")


def check_neighbours(excerpt: Excerpt) -> Found:
    """Find the rules that a message breaks by its place in the request, or by tools that the request does not define."""
    for place, (path, index, message) in enumerate(excerpt.messages):
        if message.role == SYSTEM:
            rule = _system_rule(excerpt, index, message)
            yield from ((path, index, (broken, None, "is a system message")) for broken in ([rule] if rule else ()))
        elif message.role == TOOL:
            yield from _unknown_references(excerpt, path, index, message)
        elif message.role == AI:
            yield from _late_compaction(path, index, message)
            yield from _texts_beside(excerpt, place)


def unusual_in_turn(message: Message) -> Iterator[WireFault]:
    """Yield something if `check_neighbours` or `check_wire` may find more in a message than its contents tell."""
    if message.role == SYSTEM or any('"caller"' in each.text or '"tool_reference"' in each.text for each in message.source):
        yield UNUSUAL
    yield from check_wire(message)


def _system_rule(excerpt: Excerpt, index: int, message: Message) -> Rule | None:
    """Choose the rule for a system message in the list. The `system` prompt beside the list is not checked."""
    if not message.source or message.source[0].ordinal == SLOT:
        return None
    if index == 0 and excerpt.format == FORMAT:
        return SYSTEM_FIRST
    before, after = excerpt.roles_around(index)
    model = claude_model(excerpt.request.model)
    if model is None or model.takes_system_messages is None:
        return MAY_SYSTEM
    if not model.takes_system_messages:
        return NO_SYSTEM
    is_placed = before in (HUMAN, TOOL, AI) and after in (AI, None) and (before != AI or _ends_with_server_call(excerpt, index))
    return None if is_placed else SYSTEM_PLACE


def _ends_with_server_call(excerpt: Excerpt, index: int) -> bool:
    """Return True if the assistant message before this one ends with a server tool call, or is not in the excerpt."""
    place = index - excerpt.first_message
    parts = excerpt.messages[place - 1][2].parts if place else ()
    return not place or (bool(parts) and isinstance(parts[-1], Opaque))


def _texts_beside(excerpt: Excerpt, place: int) -> Found:
    """Find user text in the turn that answers programmatic calls. The problem is reported at the last result before the text."""
    if not is_programmatic(excerpt.messages[place][2]):
        return
    results = [each for each in _behind(excerpt, place) if each[2].role == TOOL]
    if not results:
        return
    path, index, _ = results[-1]
    if excerpt.roles_around(index)[1] == HUMAN:
        yield path, index, (BESIDE_RESULT, None, "answers a programmatic call and has text of the user behind it")
    for path, index, message in results:
        text = next((i for i, part in enumerate(message.parts) if isinstance(part, Text)), None)
        if text is not None:
            yield path, index, (BESIDE_RESULT, text, "has text beside the result of a programmatic call")


def _behind(excerpt: Excerpt, place: int) -> Iterator[tuple[Path, int, Message]]:
    """Yield the tool messages directly after a message of the excerpt."""
    for each in excerpt.messages[place + 1 :]:
        if each[2].role != TOOL:
            return
        yield each


def _unknown_references(excerpt: Excerpt, path: Path, index: int, message: Message) -> Found:
    known = excerpt.request.tools
    if known is None:
        return
    for part, name in references_in(message):
        if name not in known:
            yield path, index, (UNKNOWN_REFERENCE, part, f"refers to the tool “{name[:80]}”, which the request does not define")


def references_in(message: Message) -> Iterator[tuple[int, str]]:
    """Yield the tools that results of a message refer to (`tool_reference`): the index of the part and the name of the tool."""
    if not any('"tool_reference"' in fragment.text for fragment in message.source):
        return
    part = 0
    for fragment in message.source:
        value = value_of(fragment)
        content = value.get("content") if isinstance(value, dict) else None
        blocks = content if isinstance(content, list) else []
        for at in fragment.blocks or range(len(blocks)):
            yield from ((part, name) for name in _names_in(blocks[at]))
            part += 1


def _names_in(block: Any) -> Iterator[str]:
    inside = block.get("content") if isinstance(block, dict) else None
    for each in inside if isinstance(inside, list) else ():
        if isinstance(each, dict) and each.get("type") == "tool_reference" and isinstance(each.get("tool_name"), str):
            yield each["tool_name"]


def _late_compaction(path: Path, index: int, message: Message) -> Found:
    for part, each in enumerate(message.parts):
        if part and isinstance(each, Opaque) and each.kind == "compaction":
            yield path, index, (COMPACTION_PLACE, part, "has a compaction block behind other content")


_NEW = re.compile(r"claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
"""`claude-opus-4-8`, `us.anthropic.claude-opus-4-6-v1:0`, `anthropic/claude-opus-4.6`, `claude-sonnet-4-20250514`."""
_OLD = re.compile(r"claude-(?:instant-)?v?(\d)(?:[-.](\d))?(?:-(opus|sonnet|haiku))?(?!\d)")
"""`claude-3-5-sonnet-20241022`, `claude-2.1`."""


class ClaudeModel(NamedTuple):
    family: str
    version: tuple[int, int]

    @property
    def takes_prefill(self) -> bool:
        """Whether a request may end with the beginning of the answer. Models up to version 4.5 accept it."""
        return self.version < (4, 6)

    @property
    def takes_system_messages(self) -> bool | None:
        """Whether the message list may contain system messages. Opus 4.8 and later accept them; None if unknown."""
        if self.version < (4, 8):
            return False
        return True if self.family == "opus" else None


def claude_model(name: str) -> ClaudeModel | None:
    """Return the family and version of a Claude model; None for any other model, or a name without a version."""
    new = _NEW.search(name.lower())
    if new is not None:
        return ClaudeModel(new[1], (int(new[2]), int(new[3] or 0)))
    old = _OLD.search(name.lower())
    return ClaudeModel(old[3] or "", (int(old[1]), int(old[2] or 0))) if old is not None else None
