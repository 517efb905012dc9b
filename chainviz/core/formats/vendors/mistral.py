"""Mistral chat: OpenAI's messages, with reasoning as a list of chunks inside the content, and the rules of the API (2026-09).

The API requires as many results as calls, and no system message after an answer. Valid call ids depend on the tokenizer: V3 to V11
require nine letters and digits; V13 and later accept any id except an empty one and "null" (mistral-common).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Sample
from chainviz.core.formats.contract import Accepts
from chainviz.core.formats.requests.settings import EFFORTS
from chainviz.core.formats.vendors.openai_form.chat_format import ChatFormat
from chainviz.core.formats.vendors.openai_form.request import OpenAILikeForm
from chainviz.core.formats.vendors.openai_form.wire import ChatForm, check_chat, unusual_chat
from chainviz.core.formats.vendors.openai_form.write import Accent
from chainviz.core.providers.contract import Broken, CallIds, Choice, Excerpt, Provider
from chainviz.core.providers.rule_choices import NAME_OR_NOTE, NOTE, PictureRules, where_role
from chainviz.core.providers.rules import ALL_MODELS, Mark, Rule, SectionRule, Wording

_MODELS = ("mistral", "magistral", "codestral", "ministral", "devstral", "pixtral", "voxtral", "open-mi")
_OWN = ("random_seed", "safe_prompt", "prompt_mode")
"""Request members that only this API has."""
_CHUNKS = ("document_url", "reference")


class MistralForm(OpenAILikeForm):
    """Requests of Mistral chat (mistralai, models/chatcompletionrequest.py)."""

    family = "mistral"
    numbers = {
        "max_tokens": (("max_tokens",),), "temperature": (("temperature",),), "top_p": (("top_p",),), "top_k": (("top_k",),),
        "seed": (("random_seed",),), "presence_penalty": (("presence_penalty",),), "frequency_penalty": (("frequency_penalty",),),
    }  # fmt: skip
    limits = {"temperature": (0, 1.5), "top_p": (0, 1)}
    stop_at = (("stop",),)
    efforts = EFFORTS


class Mistral(ChatFormat):
    name = "mistral"
    label = "Mistral chat"
    api = "mistral"
    accepts = Accepts(reasoning=True)
    tested_with = "mistralai 3.7"
    template = '{"messages": [\n]}\n'
    accent = Accent(reasoning="")
    request = MistralForm()

    def confidence(self, sample: Sample) -> float:
        is_request = sample.key in ("messages", "")
        rates = [_rate(value, is_request=is_request) for value in sample.values if self.is_message(value)]
        if not rates:
            return 0.0
        model = sample.beside.get("model")
        is_own = any(key in sample.beside for key in _OWN)
        is_named = is_own or (isinstance(model, str) and model.rpartition("/")[2].lower().startswith(_MODELS))
        return max(*rates, 0.96 if is_named and is_request else 0.0)


def _rate(value: dict[str, Any], *, is_request: bool) -> float:
    """Return the confidence in one message or document. Mistral's clients write calls without a type, but others do too."""
    content = value.get("content")
    blocks = [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []
    if any(item.get("type") in _CHUNKS or isinstance(item.get("thinking"), list) for item in blocks):
        return 0.97
    if isinstance(value.get("prefix"), bool) and value.get("role") == "assistant":
        return 0.95
    calls = value.get("tool_calls")
    first = calls[0] if isinstance(calls, list) and calls else None
    is_bare = is_request and isinstance(first, dict) and "type" not in first and isinstance(first.get("id"), str)
    return 0.86 if is_bare and isinstance(first, dict) and isinstance(first.get("function"), dict) else 0.0


IMAGES = "docs.mistral.ai/capabilities/vision"
REFERENCE = "docs.mistral.ai/api"
COMMON = "github.com/mistralai/mistral-common (validator.py)"
mistral_rule = partial(Rule, models=ALL_MODELS, since="2024-02", checked="2026-11-23")

COUNTS = mistral_rule("result-count", "error", "Not the same number of function calls and responses", COMMON)
ORPHAN = mistral_rule("result-without-call", "error", "Unexpected role 'tool' after role '{role}'", COMMON)
AFTER_RESULT = mistral_rule(
    "user-after-result", "error", "Unexpected role 'user' after role 'tool'", COMMON, ("insert-answer",), checked="2026-11-27"
)
MID_SYSTEM = mistral_rule(
    "system-in-messages", "error", "Unexpected role 'system' after role '{role}'", COMMON, ("note-system", "system-to-start")
)
ROLE = mistral_rule(
    "role-unknown", "error", "Input tag found using 'role' does not match any of the expected tags", COMMON, ("note-role", "drop-message")
)
EMPTY = mistral_rule(
    "content-missing", "warning", "Assistant message must have either content or tool_calls, but not none.", COMMON, ("drop-empty",)
)
EMPTY_SYSTEM = mistral_rule("text-empty", "error", "Invalid system prompt: it must not be empty", COMMON, ("drop-empty",))
NAME = mistral_rule(
    "tool-name", "error",
    "Function name must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.", COMMON,
    ("respell-name",),
)  # fmt: skip
NINE = mistral_rule("call-id-form", "warning", "Tool call id must be a-z, A-Z, 0-9, with a length of 9.", COMMON, ("shorten-id",))
ODD_ID = "has a call id that is not nine letters and digits; older models refuse such ids"
NULL_ID = mistral_rule("call-id-pattern", "error", "Tool call id must not be empty or null", COMMON, ("respell-id",))
SHARED = mistral_rule("call-id-shared", "error", "Duplicate tool call id in assistant message", COMMON, ("rename-calls",))
ARGUMENTS = mistral_rule("arguments-no-json", "warning", "Invalid function arguments: not valid JSON", COMMON, ("mend-arguments",))
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
    ("append-human", "drop-last"),
)  # fmt: skip


def _mid_system(excerpt: Excerpt, problem: Problem) -> Rule | None:
    """Choose the rule for a late system message. It may follow a user message."""
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
_RULE_CHUNKS = frozenset(("text", "image_url", "document_url", "file", "reference", "input_audio", "thinking"))
FORM = ChatForm(
    fields=frozenset(("prefix", "index")),
    parts={"system": frozenset(("text", "thinking")), "user": _RULE_CHUNKS, "assistant": _RULE_CHUNKS, "tool": _RULE_CHUNKS},
    value=mistral_rule("field-type", "error", "Input should be valid", REFERENCE),
    role=ROLE,
    content_type=_CONTENT,
    content_missing=mistral_rule("content-missing", "error", "Field required: content", REFERENCE, ("drop-empty",)),
    part_type=mistral_rule("part-type", "error", "Input tag found using 'type' does not match any of the expected tags", REFERENCE),
    member=mistral_rule("member-missing", "error", "Field required", REFERENCE),
    empty_calls=mistral_rule(
        "tool-calls-empty",
        "warning",
        "Assistant message must have either content or tool_calls, but not both.",
        "github.com/langchain-ai/langchain/issues/21196",
    ),
    short_parts=True,
)


def _is_prefix(message: Message) -> bool:
    """Return True if a message is the beginning of an answer that the model must continue."""
    return any('"prefix"' in part.text and parse(part.text).get("prefix") is True for part in message.source)


def _after_results(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    before = excerpt.before
    for place, message in enumerate(excerpt.section.messages):
        if (before, message.role) == (TOOL, HUMAN):
            yield *excerpt.messages[place][:2], (AFTER_RESULT, None, "is a user message directly after a tool result")
        before = message.role


def _end(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    path, index, message = excerpt.messages[-1]
    if message.role == AI and not message.calls and not _is_prefix(message):
        yield path, index, (LAST_ROLE, None, "ends the chain with an answer")


PROVIDER = Provider(
    "mistral",
    "Mistral chat",
    "Mistral",
    RULES,
    vendor="mistral",
    call_ids=CallIds("{r:9:x}", "[a-zA-Z0-9]{9}"),
    formats=frozenset(("mistral", "openai_chat")),
    clients=frozenset(("mistral",)),
    wire=check_chat,
    unusual=unusual_chat,
    wire_rule=FORM,
    chosen_rules=(PICTURES.type, AFTER_RESULT, MID_SYSTEM, EMPTY_SYSTEM, LAST_ROLE, *FORM.rules),
    section_rules=(SectionRule(NINE, Mark.ODD_ID, ODD_ID, once=True),),
    sent=(_after_results,),
    ending=(_end,),
)


ERRORS = (
    Wording("Unexpected role system", ("mistral", "anthropic"), ("system-in-messages",)),
    Wording("Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of", ("mistral",), ("call-id-form",)),
)  # fmt: skip
"""Other wordings of the API's errors, from public issues about other versions and gateways."""
