"""Rules of Amazon Bedrock Converse (2026-09), and checks of the JSON of its messages (botocore, bedrock-runtime)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, SLOT, TOOL, Message, Text
from chainviz.core.chain.paths import Path
from chainviz.core.documents.units import Pointer
from chainviz.core.providers.contract import NOT_UNDERSTOOD, Broken, CallIds, Choice, Excerpt, Provider, WireFault
from chainviz.core.providers.rule_choices import NAME_OR_NOTE, NOTE, PictureRules, id_unlike, system_only, where_claude
from chainviz.core.providers.rules import ALL_MODELS, Mark, Rule, SectionRule, Wording
from chainviz.core.providers.wire import (
    Each,
    Fault,
    Fields,
    Form,
    OneOf,
    Spelled,
    Words,
    faults_of,
    in_blocks,
    kind_name,
    misfits,
    sent_value,
    unknown_members,
)

WIRE_REFERENCE = "docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html"
bedrock_rule = partial(Rule, models=ALL_MODELS, since="2024-05", checked="2026-11-23")
CONTENT = bedrock_rule("content-type", "error", "Invalid type for parameter messages.content, valid types: list, tuple", WIRE_REFERENCE)
BLOCK = bedrock_rule(
    "part-twofold", "error", "Invalid number of parameters set for tagged union structure messages.content. Can only set one of the keys",
    WIRE_REFERENCE,
)  # fmt: skip
FAILED_RESULT = bedrock_rule(
    "result-empty",
    "error",
    "The content field of a toolResult with the status error is empty. Add text and try again.",
    WIRE_REFERENCE,
    ("note-result",),
)

MEMBER = bedrock_rule("member-missing", "error", "Missing required parameter in messages.content", WIRE_REFERENCE)
VALUE = bedrock_rule("field-type", "error", "Invalid type or value for parameter messages.content", WIRE_REFERENCE)
RESULT_JSON = bedrock_rule(
    "result-json", "error", "The format of the value at {place}.json is invalid. Provide a json object for the field and try again.",
    "github.com/sigoden/aichat/issues/1542", ("rewrite-message",), checked="2026-11-27",
)  # fmt: skip
DOCUMENT_NAME = bedrock_rule(
    "document-name", "error",
    "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets.",
    "github.com/aws-samples/generative-ai-use-cases/issues/1671", ("rewrite-message",), checked="2026-11-28",
)  # fmt: skip
USER_ONLY = bedrock_rule("part-role", "error", "Images, documents and videos can only be in messages with the role user", WIRE_REFERENCE)
TOO_MANY = bedrock_rule("parts-too-many", "error", "Too many images or documents in a message", "botocore, Message")
LONELY_DOCUMENT = bedrock_rule(
    "document-without-text", "error", "A text block is required when a document block is included in the message.",
    "botocore, Message",
)  # fmt: skip

WIRE_RULES = (CONTENT, BLOCK, FAILED_RESULT, MEMBER, VALUE, RESULT_JSON, DOCUMENT_NAME, USER_ONLY, TOO_MANY, LONELY_DOCUMENT)
_SOURCE: dict[str, Form] = {"bytes": str, "s3Location": Fields({"uri": str}, {"bucketOwner": str})}
_IMAGE = Fields({"format": Words(("png", "jpeg", "gif", "webp")), "source": OneOf(_SOURCE)})
_NAME = Spelled(re.compile(r"(?!.*  )[A-Za-z0-9_()\[\] -]{1,200}"), "document name that Bedrock accepts")
"""An underscore is accepted too (measured in aws-samples/generative-ai-use-cases#1671, vercel/ai#20366)."""
_DOCUMENT = Fields(
    {"name": _NAME, "source": OneOf({**_SOURCE, "text": str, "content": Each(Fields({"text": str}))})},
    {
        "format": Words(("pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md")),
        "context": str,
        "citations": Fields({"enabled": bool}),
    },
)
_VIDEO = Fields({"format": str, "source": OneOf(_SOURCE)})
_RESULT = OneOf({"text": str, "json": dict, "image": _IMAGE, "document": _DOCUMENT, "video": _VIDEO, "searchResult": dict})
_FORMS: dict[str, Form] = {
    "text": str,
    "image": _IMAGE,
    "document": _DOCUMENT,
    "video": _VIDEO,
    "audio": _VIDEO,
    "toolUse": Fields({"toolUseId": str, "name": str, "input": object}, {"type": Words(("server_tool_use",))}),
    "toolResult": Fields(
        {"toolUseId": str, "content": Each(_RESULT)}, {"status": Words(("success", "error")), "type": str}
    ),
    "reasoningContent": OneOf(
        {"reasoningText": Fields({"text": str}, {"signature": str}), "redactedContent": str}
    ),
    "cachePoint": Fields({"type": Words(("default",))}, {"ttl": Words(("5m", "1h"))}),
}  # fmt: skip
"""The members of each kind of block that is checked."""
_OF_USER = frozenset(("image", "document", "video", "audio"))
_MOST = {"image": 20, "document": 5}
_BLOCKS = (
    "text", "image", "document", "video", "audio", "toolUse", "toolResult", "reasoningContent", "guardContent", "cachePoint",
    "citationsContent", "searchResult", "toolAddition", "toolRemoval",
)  # fmt: skip
KINDS = frozenset(_BLOCKS)


def check_wire(message: Message) -> Iterator[WireFault]:
    value = sent_value(message)
    if isinstance(value, dict) and message.source[0].ordinal != SLOT:
        yield from in_blocks(message, _faults(value), "content")


def has_own_unit(message: Message) -> bool:
    """Return True if a message of the request begins with this one. A user message becomes two if it has results and other blocks."""
    blocks = message.source[0].blocks if message.source else None
    return blocks is None or 0 in blocks


def _faults(value: dict[str, Any]) -> Iterator[Fault]:
    yield from unknown_members(value, ("role", "content"))
    content = value.get("content")
    if not isinstance(content, list):
        yield CONTENT, (), f"has {kind_name(content)} as content"
        return
    yield from _count_faults([key for block in content if isinstance(block, dict) for key in block])
    for index, block in enumerate(content):
        yield from _block_faults(block, ("content", index), value.get("role"))


def _count_faults(kinds: list[str]) -> Iterator[Fault]:
    for kind, most in _MOST.items():
        if kinds.count(kind) > most:
            yield TOO_MANY, (), f"contains {kinds.count(kind)} {kind}s, more than {most}"
    if "document" in kinds and "text" not in kinds:
        yield LONELY_DOCUMENT, (), "contains a document and no text"


def _block_faults(block: Any, place: Pointer, role: Any) -> Iterator[Fault]:
    keys = list(block) if isinstance(block, dict) else []
    known = [key for key in keys if key in KINDS]
    if not isinstance(block, dict) or len(known) > 1 or not keys:
        yield BLOCK, place, f"has {kind_name(block)} with {len(known)} contents in one block"
    elif not known:
        yield NOT_UNDERSTOOD, place, f"contains a block “{keys[0][:40]}”, which is not checked"
    elif known[0] in _OF_USER and role != "user":
        yield USER_ONLY, place, f"has the role {role} and contains a block “{known[0]}”"
    elif _is_empty_error(block.get("toolResult")):
        yield FAILED_RESULT, place, "has an error result without content"
    else:
        yield from _member_faults(block, known[0], place)


def _member_faults(block: dict[str, Any], kind: str, place: Pointer) -> Iterator[Fault]:
    found = misfits(block, Fields({kind: _FORMS.get(kind, dict)}), place)
    for rule, at, what in faults_of(found, MEMBER, VALUE, f"a block “{kind}”"):
        if rule is VALUE and at[-2:] == ("document", "name"):
            rule = DOCUMENT_NAME
        yield RESULT_JSON if rule is VALUE and at[-1] == "json" else rule, at, what


def _is_empty_error(result: Any) -> bool:
    return isinstance(result, dict) and result.get("status") == "error" and result.get("content") == []


CHECKED = "2026-11-27"
CLAUDE_CODE = "github.com/anthropics/claude-code/issues/60920"
REFERENCE = "docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html"

MISSING = bedrock_rule(
    "result-missing", "error", "Expected toolResult blocks at messages.content for the following Ids",
    "github.com/anthropics/claude-code/issues/5060",
)  # fmt: skip
OPEN_END = replace(MISSING, id="result-missing-at-end", severity="warning", note="as soon as a message follows")
NO_TOOLS = bedrock_rule(
    "tools-undefined", "error", "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    "github.com/anomalyco/opencode/issues/34089", ("define-tools",), checked=CHECKED,
)  # fmt: skip
ORPHAN = bedrock_rule(
    "result-without-call", "error",
    "The number of toolResult blocks at messages.content exceeds the number of toolUse blocks of previous turn.", REFERENCE,
)  # fmt: skip
TWICE = bedrock_rule(
    "call-id-shared", "error", "The toolUse blocks at messages.content contain duplicate Ids",
    "github.com/westonbrown/Cyber-AutoAgent/issues/72", ("rename-calls",),
)  # fmt: skip
REPEATED_RESULT = bedrock_rule("result-repeated", "error", "The toolResult blocks at messages.content contain duplicate Ids", REFERENCE)
FIRST_ROLE = bedrock_rule(
    "first-role", "error",
    "A conversation must start with a user message. Try again with a conversation that starts with a user message.", REFERENCE,
    ("insert-opening",),
)  # fmt: skip
MAY_FIRST = replace(
    FIRST_ROLE, severity="warning", checked=CHECKED, note="it depends on the model: Claude accepts an assistant message first"
)
ALTERNATE = bedrock_rule(
    "roles-alternate", "error", 'messages: roles must alternate between "user" and "assistant", but found multiple roles in a row',
    "github.com/aws-samples/bedrock-access-gateway/issues/25", ("merge-human",),
)  # fmt: skip
SPLIT = bedrock_rule(
    "results-split", "error", "Expected toolResult blocks at messages.content for the following Ids",
    "botocore, Message: all results are in the next user message", ("join-turns",),
)  # fmt: skip
TEXT_APART = replace(ALTERNATE, fixes=("join-turns",))
TEXT_WITH_RESULT = bedrock_rule(
    "text-beside-result", "error",
    "messages.content: Conversation blocks and tool result blocks cannot be provided in the same turn.",
    "github.com/strands-agents/harness-sdk/issues/1223", ("insert-answer",), checked="2026-11-28", models="Llama",
)  # fmt: skip
TEXT_WITH_CALL = bedrock_rule(
    "text-beside-call", "error",
    "messages.content: Conversation blocks and tool use blocks cannot be provided in the same turn.",
    "github.com/quarkiverse/quarkus-langchain4j/issues/1983", ("split-calls",), checked="2026-11-28", models="Llama",
)  # fmt: skip
TWO_ANSWERS = bedrock_rule(
    "assistants-alternate", "warning",
    'messages: roles must alternate between "user" and "assistant", but found multiple "assistant" roles in a row',
    "github.com/BerriAI/litellm/issues/3474",
)  # fmt: skip
SYSTEM = bedrock_rule(
    "system-in-messages", "warning", "Member must satisfy enum value set: [user, assistant]", REFERENCE,
    ("note-system", "system-to-start"),
)  # fmt: skip
ROLE = bedrock_rule(
    "role-unknown", "error", "Member must satisfy enum value set: [user, assistant]", REFERENCE, ("note-role", "drop-message")
)
EMPTY = bedrock_rule(
    "content-missing", "error",
    "The content field in the Message object at messages is empty. Add a ContentBlock object "
    "to the content field and try again.",
    REFERENCE, ("drop-empty",),
)  # fmt: skip
BLANK = bedrock_rule(
    "text-blank", "error",
    "The text field in the ContentBlock object at messages.content is blank. Add text to the text field, and try again.", REFERENCE,
    ("drop-empty",),
)  # fmt: skip
ID = bedrock_rule(
    "call-id-pattern", "error",
    "Value {value} at '{place}.toolUse.toolUseId' failed to satisfy constraint: Member must satisfy regular "
    "expression pattern: [a-zA-Z0-9_.:-]+",
    "botocore, ToolUseId", ("respell-id",),
)  # fmt: skip
LONG_ID = bedrock_rule(
    "call-id-too-long", "error", "Value {value} at '{place}.toolUse.toolUseId' failed to satisfy constraint: Member "
    "must have length less than or equal to 64",
    "botocore, ToolUseId", ("respell-id",),
)  # fmt: skip
NAME = bedrock_rule(
    "tool-name", "error",
    "Value {value} at '{place}.toolUse.name' failed to satisfy constraint: Member must satisfy regular "
    "expression pattern: [a-zA-Z0-9_-]+",
    "botocore, ToolName", ("respell-name",),
)  # fmt: skip
ARGUMENTS = bedrock_rule(
    "arguments-no-json", "error", "The format of the value at messages.content.toolUse.input is "
    "invalid. Provide a json object for the field and try again.",
    REFERENCE, ("mend-arguments",),
)  # fmt: skip
NO_OBJECT = bedrock_rule("arguments-no-object", "error", ARGUMENTS.says, REFERENCE, ("wrap-arguments",))
PICTURES = PictureRules(
    broken=bedrock_rule("image-broken", "error", "Could not process image", CLAUDE_CODE, NOTE, checked=CHECKED),
    type=bedrock_rule(
        "image-type", "error",
        "Value {value} at '{place}.image.format' failed to satisfy constraint: Member must satisfy enum value set: [png, jpeg, gif, webp]",
        "botocore, ImageFormat", NOTE, checked=CHECKED,
    ),
    mislabelled=bedrock_rule(
        "image-mislabelled", "warning",
        "The image was specified using the {type} media type, but the image appears to be a {type} image",
        "github.com/vybestack/llxprt-code/issues/2130", NAME_OR_NOTE, checked=CHECKED, models="Claude",
    ),
    empty=bedrock_rule(
        "image-empty", "error", "The bytes field in the ImageSource object is empty.", REFERENCE, NOTE, checked=CHECKED
    ),
)  # fmt: skip
UNSIGNED = bedrock_rule(
    "thinking-unsigned", "error", "{place}.thinking.signature: Field required", REFERENCE,
    ("drop-thinking",), models="Claude", since="2025-02", checked="2026-11-28",
)  # fmt: skip
MAY_UNSIGNED = replace(UNSIGNED, severity="warning", note="it depends on the model: only Claude requires a signature")
USER_CALL = bedrock_rule("call-by-user", "error", "User messages cannot contain toolUse blocks.", REFERENCE, ("user-call-to-text",))
NO_MESSAGES = bedrock_rule("messages-missing", "error", FIRST_ROLE.says, REFERENCE)
PREFILL = bedrock_rule(
    "last-role", "info", "", REFERENCE, note="accepted as the beginning of the answer; some models want a user message at the end"
)


_OF_REQUEST = frozenset(("modelId", "inferenceConfig", "system", "additionalModelRequestFields", "guardrailConfig"))
"""Members that distinguish a request from a bare message list, which may be sent with any of them."""
_BEYOND_LIST = _OF_REQUEST | {"toolConfig", "output"}
UNDEFINED = SectionRule(
    NO_TOOLS,
    Mark.CALLS,
    "calls a tool, and the request has no toolConfig",
    once=True,
    in_own_form=True,
    when=lambda request: bool(_OF_REQUEST & set(request.members)) and "toolConfig" not in request.members,
)
NO_TOOLS_IN_LIST = replace(
    NO_TOOLS, id="tools-undefined-in-list", severity="warning", fixes=(),
    note="a list of messages alone does not say; send toolConfig with it",
)  # fmt: skip
IN_LIST = replace(
    UNDEFINED,
    rule=NO_TOOLS_IN_LIST,
    what="calls a tool",
    when=lambda request: not (request.is_answer or _BEYOND_LIST & set(request.members)),
)
RULES: dict[str, Choice] = {
    "pending-call": MISSING,
    "terminal-call": OPEN_END,
    "orphan-result": ORPHAN,
    "unmatched-result": ORPHAN,
    "duplicate-result": REPEATED_RESULT,
    "shared-call-id": TWICE,
    "first-message": where_claude(MAY_FIRST, None, FIRST_ROLE),
    "human-after-human": ALTERNATE,
    "double-ai": TWO_ANSWERS,
    "mid-system": SYSTEM,
    "unknown-role": ROLE,
    "no-parts": EMPTY,
    "empty-text": BLANK,
    "blank-text": BLANK,
    "odd-id": id_unlike(r"[a-zA-Z0-9_.:-]+", ID),
    "no-id": id_unlike(r"[a-zA-Z0-9_.:-]+", ID),
    "very-long-id": LONG_ID,
    "odd-name": NAME,
    "long-name": NAME,
    "very-long-name": NAME,
    "no-json-arguments": ARGUMENTS,
    "free-form-arguments": ARGUMENTS,
    "no-object-arguments": NO_OBJECT,
    "call-by-other": USER_CALL,
    "unsigned-thinking": where_claude(MAY_UNSIGNED, UNSIGNED, None),
    **PICTURES.choices,
}


def _turns(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    """Find results in several user messages, and user text in another message than the results before it: Llama refuses both forms."""
    before = excerpt.before
    for path, index, message in excerpt.messages:
        if before == TOOL and has_own_unit(message):
            if message.role == TOOL:
                yield path, index, (SPLIT, None, "has results separate from those before it")
            elif message.role == HUMAN and not _is_llama(excerpt):
                yield path, index, (TEXT_APART, None, "is a user message directly after one with results")
        before = message.role


def _mixed_turns(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    """Find texts beside results or calls, which Llama refuses."""
    if not _is_llama(excerpt):
        return
    before = excerpt.before
    for path, index, message in excerpt.messages:
        if before == TOOL and message.role == HUMAN:
            yield path, index, (TEXT_WITH_RESULT, None, "has a text in the message with the results")
        elif message.calls and any(isinstance(part, Text) for part in message.parts):
            yield path, index, (TEXT_WITH_CALL, None, "has a text beside its calls")
        before = message.role


def _is_llama(excerpt: Excerpt) -> bool:
    return "llama" in excerpt.request.model.lower()


def _end(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    path, index, message = excerpt.messages[-1]
    if message.role == AI and not message.calls:
        yield path, index, (PREFILL, None, "ends the chain with an answer")


PROVIDER = Provider(
    "bedrock",
    "Amazon Bedrock Converse",
    "Bedrock",
    RULES,
    message_place="messages.{}",
    call_ids=CallIds("tooluse_{r:22:x}", "[a-zA-Z0-9_.:-]{1,64}"),
    formats=frozenset(("bedrock_converse",)),
    clients=frozenset(("bedrock_converse",)),
    kinds=KINDS,
    wire=check_wire,
    section_rules=(UNDEFINED, IN_LIST),
    sent=(_turns, _mixed_turns),
    chosen_rules=(
        PICTURES.type,
        FIRST_ROLE,
        MAY_FIRST,
        UNSIGNED,
        MAY_UNSIGNED,
        ID,
        SPLIT,
        TEXT_APART,
        TEXT_WITH_RESULT,
        TEXT_WITH_CALL,
        PREFILL,
        NO_MESSAGES,
        *WIRE_RULES,
    ),
    opening=(system_only(NO_MESSAGES),),
    ending=(_end,),
)


ERRORS = (
    Wording(
        "roles must alternate between user and assistant, but found multiple {role} roles in a row",
        ("bedrock", "vllm", "anthropic"), ("roles-alternate", "assistants-alternate"),
    ),
    Wording("conversation must start with a user message", ("bedrock",), ("first-role",)),
    Wording("toolUse blocks at {place} contain duplicate Ids: {ids}", ("bedrock",), ("call-id-shared",)),
    Wording("toolResult blocks at {place} contain duplicate Ids: {ids}", ("bedrock",), ("result-repeated",)),
    Wording("Expected toolResult blocks at {place} for the following Ids: {ids}", ("bedrock",), ("result-missing", "results-split")),
    Wording("ContentBlock object at {place} is blank", ("bedrock",), ("text-blank",)),
    Wording("message object at {place} is empty", ("bedrock",), ("content-missing",)),
    Wording("The content field at {place} cannot be empty when status value is error", ("bedrock",), ("result-empty",)),
    Wording("The text in content block cannot be null or empty", ("bedrock",), ("text-blank", "content-missing")),
    Wording(
        "A conversation must alternate between user and assistant roles", ("bedrock",), ("roles-alternate", "assistants-alternate")
    ),
)  # fmt: skip
"""Other wordings of the API's errors, from public issues about other versions and gateways."""
