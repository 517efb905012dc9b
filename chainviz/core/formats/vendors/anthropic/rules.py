"""Rules of Anthropic Messages (2026-09): results in the next user turn, unique ids, no empty text, signed thinking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chainviz.core.chain.messages import AI, HUMAN, SLOT, SYSTEM, Message, Thinking, is_blank
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.reasoning import thinks
from chainviz.core.chain.tree import Section
from chainviz.core.formats.vendors.anthropic.turn_rules import (
    CHECKED,
    FORMAT,
    MAY_SYSTEM,
    check_end,
    check_neighbours,
    check_thinking,
    unusual_in_turn,
)
from chainviz.core.formats.vendors.anthropic.turn_rules import RULES as OF_TURNS
from chainviz.core.formats.vendors.anthropic.wire import BLOCKS, PICTURE_BY_ASSISTANT, REFERENCE, check_session, check_wire, claude_rule
from chainviz.core.formats.vendors.anthropic.wire import RULES as WIRE_RULES
from chainviz.core.pictures import LONGEST_OF_MANY, LONGEST_SIDE
from chainviz.core.providers.contract import Broken, Called, CallIds, Choice, Excerpt, Provider
from chainviz.core.providers.rule_choices import NAME_OR_NOTE, NOTE, PictureRules, id_unlike, system_only, unless_joined
from chainviz.core.providers.rules import Mark, Rule, SectionRule, Wording
from chainviz.core.providers.server_blocks import misplaced_server_calls
from chainviz.core.providers.wire import sent_value

MISSING = claude_rule(
    "result-missing", "error", "tool_use ids were found without tool_result blocks immediately after",
    "github.com/anthropics/claude-code/issues/1237",
)  # fmt: skip
OPEN_END = claude_rule(
    "result-missing-at-end", "warning",
    "tool_use ids were found without tool_result blocks immediately after",
    "github.com/anthropics/claude-code/issues/1237", note="as soon as a message follows",
)  # fmt: skip
SERVER_KIND = replace(MISSING, source="github.com/danny-avila/LibreChat/issues/12639", fixes=("call-to-server",), checked="2026-11-28")
ORPHAN = claude_rule(
    "result-without-call", "error",
    "unexpected tool_use_id found in tool_result blocks: each tool_result block must have a corresponding tool_use block "
    "in the previous message",
    "github.com/anthropics/claude-code/issues/13460",
)  # fmt: skip
REPEATED_RESULT = claude_rule(
    "result-repeated", "error",
    "each tool_use must have a single result. Found multiple tool_result blocks with id",
    "github.com/BerriAI/litellm/issues/23510",
)  # fmt: skip
TWICE = claude_rule("call-id-reused", "error", "tool_use ids must be unique", "github.com/BerriAI/litellm/issues/23510", ("rename-calls",))
REUSED = replace(TWICE, severity="warning")
"""A warning, because a recorded request with the same id in two turns was accepted."""
ROLE = claude_rule("role-unknown", "error", 'messages: Unexpected role. Allowed roles are "user" or "assistant"', REFERENCE)
FIRST_ROLE = claude_rule("first-role", "warning", 'messages: first message must use the "user" role', REFERENCE, ("insert-opening",))
EMPTY_TEXT = claude_rule(
    "text-empty", "error", "messages: text content blocks must be non-empty",
    "github.com/anthropics/anthropic-sdk-python/issues/461", ("drop-empty",),
)  # fmt: skip
BLANK_TEXT = claude_rule(
    "text-blank", "error", "messages: text content blocks must contain non-whitespace text",
    "github.com/anthropics/claude-code/issues/23440", ("drop-empty",),
)  # fmt: skip
BLANK_BESIDE = replace(BLANK_TEXT, severity="warning", checked=CHECKED, note="accepted beside a tool call by some models")
"""A warning, because Claude Haiku 4.5 accepted such a request (recorded by simonw/llm-anthropic)."""
EMPTY = claude_rule(
    "content-missing", "error",
    "all messages must have non-empty content except for the optional final assistant message", REFERENCE, ("drop-empty",),
)  # fmt: skip
ID = claude_rule("call-id-pattern", "error", "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", REFERENCE, ("respell-id",))
NAME = claude_rule(
    "tool-name", "error", "tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", REFERENCE, ("respell-name",)
)
ARGUMENTS = claude_rule("arguments-no-json", "error", "tool_use.input: Input should be a valid dictionary", REFERENCE, ("mend-arguments",))
NO_INPUT = claude_rule(
    "arguments-missing", "error", "tool_use.input: Field required", "github.com/openclaw/openclaw/issues/5957", ("mend-arguments",)
)
NO_OBJECT = claude_rule(
    "arguments-no-object", "error", "tool_use.input: Input should be a valid dictionary", REFERENCE, ("wrap-arguments",)
)
USER_CALL = claude_rule("call-by-user", "error", "`tool_use` blocks can only be in `assistant` messages", REFERENCE, ("user-call-to-text",))
TEXT_FIRST = claude_rule(
    "result-after-text", "error",
    "tool_use ids were found without tool_result blocks immediately after", REFERENCE,
    ("results-first",), note="results come before any text",
)  # fmt: skip
UNSIGNED = claude_rule(
    "thinking-unsigned",
    "error",
    "Invalid `signature` in `thinking` block",
    "github.com/anthropics/claude-code/issues/63203",
    ("drop-thinking",),
)
CUT = claude_rule(
    "thinking-signature-cut", "warning", "Invalid `signature` in `thinking` block",
    "github.com/anthropics/claude-code/issues/21726", ("drop-thinking",),
    note="refused if the signature was cut short; nobody but Anthropic can check one",
)  # fmt: skip
EMPTIED = claude_rule(
    "thinking-emptied", "info",
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
    "github.com/anthropics/claude-code/issues/63246", ("drop-thinking",),
    note="accepted if the model itself sent this one without text",
)  # fmt: skip
LAST_BLOCK = claude_rule(
    "thinking-last-block", "error", "The final block in an assistant message cannot be `thinking`.",
    "github.com/anthropics/claude-code/issues/25361", ("drop-thinking",),
)  # fmt: skip
FINAL_THINKING = claude_rule(
    "thinking-final", "info",
    "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.",
    "forgecode issue 1853", ("drop-thinking",), note="refused only where thinking is switched off",
)  # fmt: skip
NO_THINKING = claude_rule(
    "thinking-missing", "warning",
    "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` "
    "message must start with a thinking block",
    "github.com/run-llama/llama_index/pull/18834", ("drop-thinking",),
)  # fmt: skip
SERVER_RESULT = claude_rule(
    "server-result-without-call", "error",
    "unexpected tool_use_id found in server tool results: each must have a corresponding server_tool_use block before it",
    "github.com/anthropics/claude-code/issues/64383", ("server-result-to-text",),
)  # fmt: skip
SERVER_CALL = claude_rule(
    "server-call-without-result", "error", "tool use with id was found without a corresponding `web_search_tool_result` block",
    REFERENCE, ("call-to-text",),
)  # fmt: skip
LARGE_PICTURE = claude_rule(
    "image-too-large", "error", f"image exceeds 5 MB maximum, or image dimensions exceed max allowed size: {LONGEST_SIDE} pixels",
    "github.com/anthropics/claude-code/issues/13480", ("image-to-text",),
)  # fmt: skip
PICTURES = PictureRules(
    broken=claude_rule(
        "image-broken", "error", "Could not process image", "github.com/anthropics/claude-code/issues/60920", NOTE, checked=CHECKED
    ),
    type=claude_rule(
        "image-type", "error",
        "{place}.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
        "github.com/anomalyco/opencode/pull/5704", NOTE, checked=CHECKED,
    ),
    mislabelled=claude_rule(
        "image-mislabelled", "error",
        "The image was specified using the {type} media type, but the image appears to be a {type} image",
        "github.com/vybestack/llxprt-code/issues/2130", NAME_OR_NOTE, checked=CHECKED,
    ),
    empty=claude_rule("image-empty", "error", "image.source.base64.data: image cannot be empty", REFERENCE, NOTE),
)  # fmt: skip
SURROGATE = claude_rule(
    "text-surrogate", "error", "The request body is not valid JSON: no low surrogate in string",
    "github.com/anthropics/claude-code/issues/558", ("respell-text",),
)  # fmt: skip
MARKS = claude_rule(
    "cache-marks", "error", "A maximum of 4 blocks with cache_control may be provided.",
    "github.com/tghamm/Anthropic.SDK/issues/50", ("drop-cache-marks",),
)  # fmt: skip
LARGISH_PICTURE = claude_rule(
    "image-large", "info",
    f"image dimensions exceed max allowed size for many-image requests: {LONGEST_OF_MANY} pixels",
    "github.com/anthropics/claude-code/issues/24695", note="accepted with few images",
)  # fmt: skip

NO_MESSAGES = claude_rule("messages-missing", "error", "messages: at least one message is required", REFERENCE)


def _missing(excerpt: Excerpt, problem: Problem) -> Rule:
    """Choose the rule for a missing result. If the call is in the last message, the API refuses it only when a message follows. The
    call of a server tool has its result in its own message."""
    if problem.part in dict(misplaced_server_calls(excerpt.message(problem))):
        return SERVER_KIND
    return OPEN_END if problem.message == excerpt.end else MISSING


def _empty(excerpt: Excerpt, problem: Problem) -> Rule | None:
    """Choose the rule for an empty message. Only a final assistant message may be empty."""
    is_ai = excerpt.message(problem).role == AI
    return None if is_ai and problem.message == excerpt.end else EMPTY


def _empty_text(excerpt: Excerpt, problem: Problem) -> Rule | None:
    """Choose the rule for an empty text. An empty string as content is not a block and counts as empty content."""
    message = excerpt.message(problem)
    value = sent_value(message)
    is_string = len(message.parts) == 1 and (value is None or (isinstance(value, dict) and value.get("content") == ""))
    return None if is_string and _empty(excerpt, problem) is None else EMPTY_TEXT


def _blank_text(excerpt: Excerpt, problem: Problem) -> Rule:
    """Choose the rule for a blank text. Some models accept it in an answer with other text or calls."""
    message = excerpt.message(problem)
    is_beside = message.role == AI and not all(is_blank(part) or isinstance(part, Thinking) for part in message.parts)
    return BLANK_BESIDE if is_beside else BLANK_TEXT


def _mid_system(excerpt: Excerpt, problem: Problem) -> Rule | None:
    """Choose the rule for a late system message. In the API's own format, turn_rules.py checks its place instead."""
    message = excerpt.message(problem)
    is_listed = bool(message.source) and message.source[0].ordinal != SLOT
    return None if excerpt.format in FORMATS and is_listed else MAY_SYSTEM


def _server_call(excerpt: Excerpt, problem: Problem) -> Rule | None:
    """Choose the rule for an open server call. Its turn may continue in the next assistant message or after other tools' results."""
    return SERVER_CALL if excerpt.roles_around(problem.message)[1] == HUMAN else None


def _last_block(excerpt: Excerpt, problem: Problem) -> Rule | None:
    """Choose the rule for thinking at the end of a message. The API joins consecutive assistant messages into one turn."""
    return None if excerpt.roles_around(problem.message)[1] == AI else LAST_BLOCK


def _input_rule(excerpt: Excerpt, problem: Problem) -> Rule | None:
    """Choose the rule for missing arguments. pi and OpenClaw send the stored call; other programs send {} instead."""
    return NO_INPUT if excerpt.format == "pi_session" else None


RULES: dict[str, Choice] = {
    "pending-call": unless_joined(_missing),
    "terminal-call": _missing,
    "orphan-result": unless_joined(ORPHAN),
    "unmatched-result": unless_joined(ORPHAN),
    "duplicate-result": REPEATED_RESULT,
    "mid-system": _mid_system,
    "unknown-role": ROLE,
    "first-message": FIRST_ROLE,
    "no-parts": _empty,
    "empty-text": _empty_text,
    "blank-text": _blank_text,
    "call-by-other": USER_CALL,
    "no-json-arguments": ARGUMENTS,
    "free-form-arguments": ARGUMENTS,
    "no-arguments": _input_rule,
    "no-object-arguments": NO_OBJECT,
    "text-before-result": TEXT_FIRST,
    "unsigned-thinking": UNSIGNED,
    "cut-signature": CUT,
    "emptied-thinking": EMPTIED,
    "huge-image": LARGE_PICTURE,
    "large-image": LARGISH_PICTURE,
    "server-call-alone": _server_call,
    "answer-media": PICTURE_BY_ASSISTANT,
    "thinking-last": _last_block,
    **PICTURES.choices,
    "lone-surrogate": SURROGATE,
    "escaped-surrogate": SURROGATE,
    "odd-id": ID,
    "no-id": id_unlike("[a-zA-Z0-9_-]+", ID),
    "odd-name": NAME,
    "very-long-name": NAME,
}


LAST_TURN = SectionRule(NO_THINKING, Mark.NOT_FIRST, "calls tools without the thinking of its turn", where_thinking=True, at_end=True)
"""The last tool turn has no thinking although its section has some, which was probably removed."""
LATE_RESULT = SectionRule(
    SERVER_RESULT, Mark.SERVER_LATE, "has a result of the API's own tool without its call before it", unless=Mark.SERVER_OPEN, of_part=True
)
"""A result of the API's own tool without its call. After the results of programmatic calls comes the result of the code that made
them; its call is at the beginning of the turn."""
FORMATS = frozenset((FORMAT, "goaitools_state_anthropic"))


def _opening(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    section = excerpt.section
    if section.header and section.header[0].role == SYSTEM and _opens_with_ai(section):
        yield Path(excerpt.number, 0, 0), 0, (FIRST_ROLE, None, "is followed by an AI message")


def _opens_with_ai(section: Section[Message]) -> bool:
    return all(message.role == SYSTEM for message in section.header) and bool(section.body)


def _end(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    path, index, message = excerpt.messages[-1]
    if message.role == AI and thinks(message):
        yield path, index, (FINAL_THINKING, None, "ends the chain with its thinking")


def _reused(call: Called, before: Called) -> Rule:
    return TWICE if before.message == call.message else REUSED


CHOSEN = (
    PICTURES.type,
    MISSING, OPEN_END, SERVER_KIND,
    EMPTY, EMPTY_TEXT, SERVER_CALL, LAST_BLOCK, NO_INPUT, ID, FIRST_ROLE, FINAL_THINKING, TWICE, REUSED, NO_MESSAGES,
    BLANK_TEXT, BLANK_BESIDE, ORPHAN,
)  # fmt: skip

PROVIDER = Provider(
    "anthropic",
    "Anthropic Messages",
    "Anthropic",
    RULES,
    _reused,
    message_place="messages.{}",
    vendor="anthropic",
    call_ids=CallIds("toolu_{r:24:b}", "[a-zA-Z0-9_-]+", unique=True),
    formats=FORMATS,
    clients=FORMATS | {"claude_code"},
    kinds=BLOCKS,
    wire=check_wire,
    unusual=unusual_in_turn,
    sessions={"claude_code": check_session},
    opening=(_opening, system_only(NO_MESSAGES)),
    section_rules=(LAST_TURN, LATE_RESULT),
    sent=(check_neighbours,),
    cache_rule=MARKS,
    chosen_rules=(*CHOSEN, *OF_TURNS, *WIRE_RULES),
    ending=(_end, check_end, check_thinking),
)


ERRORS = (
    Wording(
        "tool_use ids were found without tool_result blocks immediately after: {ids}",
        ("anthropic",), ("result-missing", "result-missing-at-end", "result-after-text"),
    ),
    Wording("unexpected tool_use_id found in tool_result blocks: {id}", ("anthropic",), ("result-without-call",)),
    Wording(
        "unexpected tool_use_id found in {kind} blocks: {id}. Each must have a corresponding server_tool_use block",
        ("anthropic",), ("server-result-without-call",),
    ),
    Wording("unexpected tool_use_id found in {kind} blocks: {id}", ("anthropic",), ("server-result-without-call",)),
    Wording("tool use with id {id} was found without a corresponding {kind} block", ("anthropic",), ("server-call-without-result",)),
    Wording(
        "each tool_use must have a single result. Found multiple tool_result blocks with id: {id}",
        ("anthropic",), ("result-repeated",),
    ),
    Wording("Did not find {number} tool_result block(s) at the beginning of this message", ("anthropic", "bedrock"), ("result-missing",)),
    Wording("Expected thinking or redacted_thinking, but found", ("anthropic",), ("thinking-missing", "thinking-enabled")),
    Wording(
        "thinking or redacted_thinking blocks in the latest assistant message cannot be modified",
        ("anthropic",), ("thinking-emptied", "thinking-unsigned"), ("drop-signed",),
    ),
    Wording("Invalid signature in thinking block", ("anthropic",), ("thinking-unsigned", "thinking-emptied"), ("drop-signed",)),
    Wording("assistant message in the final position cannot contain thinking", ("anthropic",), ("thinking-final",)),
    Wording("final block in an assistant message cannot be thinking", ("anthropic",), ("thinking-last-block",)),
    Wording("text content blocks must be non-empty", ("anthropic",), ("text-empty",)),
    Wording("must contain non-whitespace text", ("anthropic",), ("text-blank", "text-empty")),
    Wording(
        "all messages must have non-empty content except for the optional final assistant message",
        ("anthropic",), ("content-missing", "text-empty"),
    ),
    Wording("must have non-empty content", ("anthropic", "gemini-3", "gemini-2.5", "bedrock"), ("content-missing", "text-empty")),
    Wording("image exceeds {size} MB maximum", ("anthropic",), ("image-too-large",)),
    Wording("Could not process image", ("anthropic",), ("image-broken",)),
    Wording("{place}.source.base64.data: Image format {type} not supported", ("anthropic",), ("image-type",)),
    Wording("Image does not match the provided media type", ("anthropic",), ("image-mislabelled",)),
    Wording("image dimensions exceed max allowed size", ("anthropic",), ("image-too-large", "image-large")),
    Wording(
        "The image was specified using the {type} media type, but the image appears to be a {type} image",
        ("anthropic",), ("image-mislabelled",),
    ),
    Wording("cannot end with trailing whitespace", ("anthropic",), ("trailing-space",)),
    Wording("no low surrogate in string", ("anthropic",), ("text-surrogate",)),
    Wording("cache_control cannot be set for empty text blocks", ("anthropic",), ("text-empty",)),
    Wording("thinking.signature: Field required", ("anthropic", "bedrock"), ("thinking-unsigned",)),
    Wording(
        "tool_result block(s) provided when previous message does not contain any tool_use blocks", ("anthropic",), ("result-without-call",)
    ),
    Wording("Invalid first message. Should always start with 'role'='user'", ("anthropic",), ("first-role",)),
    Wording("Extra inputs are not permitted", ("anthropic", "mistral", "compatible"), ("not-understood",)),
    Wording(
        "API Error: 400 due to tool use concurrency issues", ("anthropic",),
        ("result-missing", "result-without-call", "result-after-text", "call-id-reused"),
    ),
    Wording("first message must use the user role", ("anthropic", "bedrock"), ("first-role",)),
)  # fmt: skip
"""Other wordings of the API's errors, from public issues about other versions and gateways."""
