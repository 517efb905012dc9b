"""Mistral chat (2026-09): as many results as calls, no system message after an answer, and a form of ids by tokenizer.

Models with the tokenizers V3 to V11 want ids of nine letters and digits; V13 and later take any id but an empty one and "null"
(mistral-common).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from chainviz.core.chain.messages import AI, SYSTEM, TOOL
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.providers.contract import Broken, CallIds, Choice, Excerpt, Provider
from chainviz.core.providers.rules.picture_rules import NAME_OR_NOTE, NOTE, PictureRules
from chainviz.core.providers.rules.rule import ALL_MODELS, Rule
from chainviz.core.providers.rules.rule_choices import where_role
from chainviz.core.providers.rules.section_rules import Mark, SectionRule
from chainviz.core.providers.wire.openai import ChatForm, check_chat

IMAGES = "docs.mistral.ai/capabilities/vision"
REFERENCE = "docs.mistral.ai/api"
COMMON = "github.com/mistralai/mistral-common (validator.py)"
mistral_rule = partial(Rule, models=ALL_MODELS, since="2024-02", checked="2026-11-23")

COUNTS = mistral_rule("result-count", "error", "Not the same number of function calls and responses", COMMON)
ORPHAN = mistral_rule("result-without-call", "error", "Unexpected role 'tool' after role '{role}'", COMMON)
MID_SYSTEM = mistral_rule(
    "system-in-messages",
    "error",
    "Unexpected role 'system' after role '{role}'",
    COMMON,
    ("note-system", "system-to-start"),
)
ROLE = mistral_rule(
    "role-unknown",
    "error",
    "Input tag found using 'role' does not match any of the expected tags",
    COMMON,
    ("note-role", "drop-message"),
)
EMPTY = mistral_rule(
    "content-missing",
    "warning",
    "Assistant message must have either content or tool_calls, but not none.",
    COMMON,
    ("drop-empty",),
)
EMPTY_SYSTEM = mistral_rule("text-empty", "error", "Invalid system prompt: it must not be empty", COMMON, ("drop-empty",))
NAME = mistral_rule(
    "tool-name", "error",
    "Function name must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.", COMMON,
    ("respell-name",),
)  # fmt: skip
NINE = mistral_rule(
    "call-id-form", "warning", "Tool call id must be a-z, A-Z, 0-9, with a length of 9.", COMMON, ("respell-id",)
)
ODD_ID = "has a call id that is not nine letters and digits; older models refuse such ids"
NULL_ID = mistral_rule("call-id-pattern", "error", "Tool call id must not be empty or null", COMMON, ("respell-id",))
SHARED = mistral_rule("call-id-shared", "error", "Duplicate tool call id in assistant message", COMMON, ("rename-calls",))
ARGUMENTS = mistral_rule(
    "arguments-no-json", "warning", "Invalid function arguments: not valid JSON", COMMON, ("mend-arguments",)
)
PICTURES = PictureRules(
    broken=mistral_rule(
        "image-broken", "error", "Image could not be loaded as base64 or URL: cannot identify image file", IMAGES, NOTE,
        checked="2026-11-27",
    ),
    type=mistral_rule(
        "image-type", "error", "Image could not be loaded: unsupported image format {type}", IMAGES, NOTE, checked="2026-11-27"
    ),
    mislabelled=mistral_rule(
        "image-mislabelled", "warning", "Image could not be loaded as base64 or URL: cannot identify image file", IMAGES,
        NAME_OR_NOTE, checked="2026-11-27", note="where a server trusts the named type",
    ),
    empty=mistral_rule(
        "image-empty", "error", "Image could not be loaded as base64 or URL: cannot identify image file", IMAGES, NOTE,
        checked="2026-11-27",
    ),
)  # fmt: skip
USER_CALL = mistral_rule("call-by-user", "error", "Extra inputs are not permitted: tool_calls", COMMON, ("user-call-to-text",))
LAST_ROLE = mistral_rule(
    "last-role", "warning",
    "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant", COMMON,
)  # fmt: skip


def _mid_system(excerpt: Excerpt, problem: Problem) -> Rule | None:
    """A system message may follow the user's."""
    return MID_SYSTEM if excerpt.roles_around(problem.message)[0] in (AI, TOOL) else None


RULES: dict[str, Choice] = {
    "pending-call": COUNTS,
    "terminal-call": COUNTS,
    "unmatched-result": COUNTS,
    "duplicate-result": COUNTS,
    "orphan-result": ORPHAN,
    "shared-call-id": SHARED,
    "mid-system": _mid_system,
    "unknown-role": ROLE,
    "says-nothing": EMPTY,
    "empty-text": where_role(SYSTEM, EMPTY_SYSTEM),
    "blank-text": where_role(SYSTEM, EMPTY_SYSTEM),
    "no-id": NULL_ID,
    "odd-name": NAME,
    "long-name": NAME,
    "very-long-name": NAME,
    "no-json-arguments": ARGUMENTS,
    "free-form-arguments": ARGUMENTS,
    "call-by-other": USER_CALL,
    **PICTURES.choices,
}
_CONTENT = mistral_rule("content-type", "error", "Input should be a valid string or list", REFERENCE)
_CHUNKS = frozenset(("text", "image_url", "document_url", "file", "reference", "input_audio", "thinking"))
FORM = ChatForm(
    fields=frozenset(("prefix", "index")),
    parts={"system": frozenset(("text", "thinking")), "user": _CHUNKS, "assistant": _CHUNKS, "tool": _CHUNKS},
    value=mistral_rule("field-type", "error", "Input should be valid", REFERENCE),
    role=ROLE,
    content_type=_CONTENT,
    content_missing=mistral_rule("content-missing", "error", "Field required: content", REFERENCE, ("drop-empty",)),
    part_type=mistral_rule(
        "part-type", "error", "Input tag found using 'type' does not match any of the expected tags", REFERENCE
    ),
    member=mistral_rule("member-missing", "error", "Field required", REFERENCE),
    empty_calls=mistral_rule(
        "tool-calls-empty", "warning", "Assistant message must have either content or tool_calls, but not both.",
        "github.com/langchain-ai/langchain/issues/21196",
    ),
    short_parts=True,
)


def _end(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    path, index, message = excerpt.messages[-1]
    if message.role == AI and not message.calls:
        yield path, index, (LAST_ROLE, None, "ends the chain with an answer")


PROVIDER = Provider(
    "mistral",
    "Mistral chat",
    "Mistral",
    RULES,
    call_ids=CallIds("{r:9:x}", "[a-zA-Z0-9]{9}"),
    formats=frozenset(("mistral", "openai_chat")),
    clients=frozenset(("mistral",)),
    wire=check_chat,
    wire_rule=FORM,
    chosen_rules=(PICTURES.type, MID_SYSTEM, EMPTY_SYSTEM, LAST_ROLE, *FORM.rules),
    section_rules=(SectionRule(NINE, Mark.ODD_ID, ODD_ID, once=True),),
    ending=(_end,),
)
