"""Rules of Gemini's generateContent (2026-09), and the JSON of its contents (google/genai/types.py) in camel and in snake case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from chainviz.core.chain.messages import AI, SLOT, Message
from chainviz.core.chain.paths import Path
from chainviz.core.chain.reasoning import is_signed
from chainviz.core.documents.units import Pointer
from chainviz.core.providers.contract import Broken, CallIds, Choice, Excerpt, Provider, WireFault
from chainviz.core.providers.rule_choices import (
    NAME_OR_NOTE,
    NOTE,
    PictureRules,
    name_unlike,
    system_only,
    unless_joined,
    where_calls,
    where_misnamed,
)
from chainviz.core.providers.rules import ALL_MODELS, Mark, Rule, SectionRule, Wording
from chainviz.core.providers.wire import (
    BASE64,
    Fault,
    Fields,
    Form,
    Spelled,
    faults_of,
    in_blocks,
    kind_name,
    misfits,
    sent_value,
    unknown_members,
)

REFERENCE = "ai.google.dev/api/generate-content"
gemini_rule = partial(Rule, models=ALL_MODELS, since="2024-05", checked="2026-11-23")
ROLE = gemini_rule(
    "role-unknown", "error", "Please use a valid role: user, model.", REFERENCE, ("note-system", "note-role", "system-to-start")
)
SYSTEM_ROLE = replace(ROLE, fixes=("system-to-slot", *ROLE.fixes))
PARTS = gemini_rule("content-type", "error", "Invalid value at 'contents.parts'", REFERENCE)
WIRE_NO_PARTS = gemini_rule("content-missing", "error", "contents.parts must not be empty.", REFERENCE, ("drop-empty",))
NO_DATA = gemini_rule("part-empty", "error", "contents.parts.data: required oneof field 'data' must have one initialized field", REFERENCE)
TWO_DATA = gemini_rule("part-twofold", "error", "Invalid value at 'contents.parts' (oneof), oneof field 'data' is already set.", REFERENCE)
NO_NAME = gemini_rule(
    "result-name", "error",
    "GenerateContentRequest.contents.parts.function_response.name: Name cannot be empty.",
    REFERENCE, ("name-result",),
)  # fmt: skip
OTHER_NAME = gemini_rule(
    "result-name", "error", "functionResponse.name {name} does not match functionCall.name {name}",
    "github.com/archestra-ai/archestra/pull/7583", ("name-result",), models="Gemini 3", since="2026-08", checked="2026-11-28",
)  # fmt: skip
MAYBE_OTHER_NAME = replace(OTHER_NAME, severity="warning", note="refused by Gemini 3 and by gateways")
FIELD = gemini_rule("field-type", "error", "Invalid value at 'contents.parts'", REFERENCE)
NO_SIGNATURE = gemini_rule(
    "signature-form", "error", "Invalid value at 'contents.parts.thought_signature' (TYPE_BYTES), Base64 decoding failed for {text}",
    "github.com/crmne/ruby_llm/issues/521", ("replace-signatures",), since="2025-11",
)  # fmt: skip

WIRE_RULES = (ROLE, SYSTEM_ROLE, PARTS, WIRE_NO_PARTS, NO_DATA, TWO_DATA, NO_NAME, FIELD, NO_SIGNATURE)
ROLES = ("user", "model", "function", None)
_DATA: dict[str, Form] = {
    "text": str,
    "inline_data": Fields({"mime_type": str, "data": BASE64}, {"display_name": str}),
    "file_data": Fields({"file_uri": str}, {"mime_type": str, "display_name": str}),
    "function_call": Fields({"name": str}, {"id": str, "args": dict, "partial_args": list, "will_continue": bool}),
    "function_response": Fields({"name": str}, {"id": str, "response": dict, "parts": list, "scheduling": str, "will_continue": bool}),
    "executable_code": Fields({"language": str, "code": str}, {"id": str}),
    "code_execution_result": Fields({"outcome": str}, {"output": str, "id": str}),
    "tool_call": dict,
    "tool_response": dict,
}
_SIGNATURE = Spelled(re.compile(r"(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2,3})?={0,2}\s*"), "base64")
"""A signature that was cut, or joined with another one, is not base64."""
_MODIFIERS: dict[str, Form] = {
    "thought": bool, "thought_signature": _SIGNATURE, "video_metadata": dict, "media_resolution": object, "part_metadata": dict,
}  # fmt: skip
KINDS = frozenset(
    ("executableCode", "executable_code", "codeExecutionResult", "code_execution_result", "toolCall", "tool_call",
     "toolResponse", "tool_response", "fileData", "file_data")
)  # fmt: skip


def check_wire(message: Message) -> Iterator[WireFault]:
    value = sent_value(message)
    if isinstance(value, dict) and message.source[0].ordinal != SLOT:
        yield from in_blocks(message, _faults(value), "parts")


def _faults(value: dict[str, Any]) -> Iterator[Fault]:
    yield from unknown_members(value, ("role", "parts"))
    role = value.get("role")
    if (role.lower() if isinstance(role, str) else role) not in ROLES:
        yield SYSTEM_ROLE if role == "system" else ROLE, (), f"has the role “{str(role)[:40]}”"
    parts = value.get("parts")
    if not parts:
        yield WIRE_NO_PARTS, (), "has no parts"
    elif not isinstance(parts, list | dict):
        yield PARTS, (), f"has {kind_name(parts)} as parts"
    elif isinstance(parts, dict):
        yield from _part_faults(parts, ("parts",))
    else:
        for index, part in enumerate(parts):
            yield from _part_faults(part, ("parts", index))


def _part_faults(part: Any, place: Pointer) -> Iterator[Fault]:
    if not isinstance(part, dict):
        yield PARTS, place, f"has {kind_name(part)} among its parts"
        return
    fields = _snake_keys(part)
    data = [key for key in fields if key in _DATA]
    if not data and "thought_signature" not in fields:
        yield NO_DATA, place, "has a part without data"
    if len(data) > 1:
        yield TWO_DATA, place, f"has a part with {' and '.join(data)}"
        return
    response = fields.get("function_response")
    if isinstance(response, dict) and response.get("name") == "":
        yield NO_NAME, place, "has a function response without a name"
    inner = {key: _snake_keys(value) if isinstance(value, dict) else value for key, value in fields.items()}
    for rule, at, what in faults_of(misfits(inner, Fields({}, {**_DATA, **_MODIFIERS}), place), FIELD, FIELD, "a part"):
        yield NO_SIGNATURE if rule is FIELD and at[-1] == "thought_signature" else rule, at, what


def _snake_keys(value: dict[str, Any]) -> dict[str, Any]:
    """Return the members in snake case, without those whose value is null."""
    return {_snake(key): each for key, each in value.items() if each is not None}


def _snake(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


CHECKED = "2026-11-27"
IMAGES = "ai.google.dev/gemini-api/docs/image-understanding"
SIGNATURES = "ai.google.dev/gemini-api/docs/thought-signatures"

COUNTS = gemini_rule(
    "result-count", "error",
    "Please ensure that the number of function response parts is equal to the number of function call parts of the function "
    "call turn.",
    "github.com/google-gemini/gemini-cli/issues/16415",
)  # fmt: skip
OPEN_END = replace(COUNTS, id="result-missing-at-end", severity="warning", note="as soon as a message follows")
RESPONSE_ORDER = gemini_rule(
    "result-without-call", "error",
    "Please ensure that function response turn comes immediately after a function call turn.",
    "github.com/google-gemini/gemini-cli/issues/11814",
)  # fmt: skip
CALL_ORDER = gemini_rule(
    "call-order", "error",
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    "github.com/google-gemini/gemini-cli/issues/26486", ("insert-opening",),
)  # fmt: skip
CALL_AFTER_AI = gemini_rule(
    "call-after-model", "warning",
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    "github.com/lobehub/lobe-chat/issues/7298",
)  # fmt: skip
NO_PARTS = gemini_rule("content-missing", "error", "contents.parts must not be empty.", REFERENCE, ("drop-empty",))
EMPTY_TEXT = gemini_rule("text-empty", "info", "", REFERENCE, ("drop-empty",), note="accepted; Vertex AI refuses an empty text parameter")
ARGUMENTS = gemini_rule(
    "arguments-no-json", "error", "Invalid value at 'contents.parts.function_call.args' (type.googleapis.com/google.protobuf.Struct)",
    REFERENCE, ("mend-arguments",),
)  # fmt: skip
NO_OBJECT = gemini_rule(
    "arguments-no-object", "error", "Invalid value at 'contents.parts.function_call.args' (type.googleapis.com/google.protobuf.Struct)",
    REFERENCE, ("wrap-arguments",),
)  # fmt: skip
NAME = gemini_rule(
    "tool-name", "error",
    "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), "
    "dots (.), colons (:), or dashes (-), with a maximum length of 64.",
    REFERENCE, ("respell-name",),
)  # fmt: skip
UNSIGNED = gemini_rule(
    "thought-signature-missing", "error", "Function call is missing a thought_signature in functionCall parts.", SIGNATURES,
    ("sign-calls",),
)  # fmt: skip
PICTURES = PictureRules(
    broken=gemini_rule("image-broken", "error", "Provided image is not valid.", IMAGES, NOTE, checked=CHECKED),
    type=gemini_rule("image-type", "error", "Unsupported MIME type: {type}", IMAGES, NOTE, checked=CHECKED),
    mislabelled=gemini_rule(
        "image-mislabelled", "warning", "Provided image is not valid.", IMAGES, NAME_OR_NOTE, checked=CHECKED,
        note="where the API trusts the named type",
    ),
    empty=gemini_rule("image-empty", "error", "Provided image is not valid.", IMAGES, NOTE, checked=CHECKED),
    types=frozenset(("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")),
)  # fmt: skip
USER_CALL = gemini_rule(
    "call-by-user", "error", "Please ensure that function call parts are in turns with the role model.", REFERENCE,
    ("user-call-to-text",),
)  # fmt: skip
ENDS_WITH_MODEL = gemini_rule(
    "last-role", "info", "Requests ending with a model turn are not supported.", "github.com/envoyproxy/ai-gateway/pull/2686",
    ("append-human", "drop-last"), checked=CHECKED,
    note="accepted; Gemini 3.7 refuses it, and most models answer only after a turn of the user",
)  # fmt: skip
SHARED_ID = gemini_rule(
    "call-id-shared", "error", "Request contains an invalid argument.", "github.com/watt-mind/coach/pull/280", ("rename-calls",),
    since="2026-07", checked=CHECKED,
)  # fmt: skip
RESULT_MEDIA = gemini_rule(
    "result-media", "error", "Unable to submit request because `function_response.parts` is not supported for this model.",
    "github.com/google-gemini/gemini-cli/issues/19853", ("media-to-human",), models="Gemini 2.5 and earlier", checked=CHECKED,
)  # fmt: skip
FOREIGN = gemini_rule(
    "signature-foreign", "error", "Corrupted thought signature.", "github.com/google-gemini/gemini-cli/issues/13467",
    ("replace-signatures",), models="Gemini 3", since="2025-11", checked=CHECKED,
)  # fmt: skip

RULES: dict[str, Choice] = {
    "pending-call": where_misnamed(None, unless_joined(COUNTS)),
    "terminal-call": OPEN_END,
    "unmatched-result": where_misnamed(OTHER_NAME, unless_joined(COUNTS)),
    "duplicate-result": COUNTS,
    "orphan-result": unless_joined(RESPONSE_ORDER),
    "first-message": where_calls(CALL_ORDER),
    "double-ai": where_calls(CALL_AFTER_AI),
    "mid-system": ROLE,
    "unknown-role": ROLE,
    "no-parts": NO_PARTS,
    "empty-text": EMPTY_TEXT,
    "call-by-other": USER_CALL,
    "shared-call-id": SHARED_ID,
    **PICTURES.choices,
    "no-json-arguments": ARGUMENTS,
    "free-form-arguments": ARGUMENTS,
    "no-object-arguments": NO_OBJECT,
    "odd-name": name_unlike(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}", NAME),
    "long-name": NAME,
    "very-long-name": NAME,
}


def _end(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    path, index, message = excerpt.messages[-1]
    if message.role == AI and not message.calls:
        yield path, index, (ENDS_WITH_MODEL, None, "ends the chain with an answer")


NO_CONTENTS = gemini_rule("messages-missing", "error", "GenerateContentRequest.contents: contents is not specified", REFERENCE)
CHOSEN = (
    PICTURES.type,
    OTHER_NAME,
    MAYBE_OTHER_NAME,
    COUNTS,
    RESPONSE_ORDER,
    CALL_ORDER,
    CALL_AFTER_AI,
    NAME,
    ENDS_WITH_MODEL,
    NO_CONTENTS,
    *WIRE_RULES,
)
CURRENT_TURN = SectionRule(
    UNSIGNED, Mark.UNSIGNED, "calls a tool without a thought signature", in_last=True, of_part=True, in_own_form=True
)
"""The first call of each message in the current turn needs a signature. The turn begins after the last user text."""
GEMINI_3 = Provider(
    "gemini-3",
    "Gemini 3 generateContent",
    "Gemini",
    RULES,
    message_place="contents[{}]",
    vendor="google",
    call_ids=CallIds("{r:8:x}", ".*"),
    formats=frozenset(("gemini",)),
    clients=frozenset(("gemini",)),
    kinds=KINDS,
    wire=check_wire,
    chosen_rules=CHOSEN,
    section_rules=(CURRENT_TURN,),
    opening=(system_only(NO_CONTENTS),),
    ending=(_end,),
)
GEMINI_2_5 = replace(
    GEMINI_3,
    name="gemini-2.5",
    label="Gemini 2.5 generateContent",
    rules={**RULES, "result-media": RESULT_MEDIA, "unmatched-result": where_misnamed(MAYBE_OTHER_NAME, unless_joined(COUNTS))},
    section_rules=(),
)


def _signed(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    for path, index, message in excerpt.messages:
        if message.role == AI and is_signed(message):
            yield path, index, (FOREIGN, None, "has a thought signature")


SIGNATURES_OF_OTHERS = Provider(
    "gemini-3-signatures", GEMINI_3.label, "Gemini", {}, formats=frozenset(("gemini", "gemini_cli")), chosen_rules=(FOREIGN,),
    sent=(_signed,),
)  # fmt: skip
"""The rule that only the API can check: whose signatures it accepts."""

_BOTH = ("gemini-3", "gemini-2.5")
ERRORS = (
    Wording("multiturn requests ends with a user role or a function response", _BOTH, ("last-role",)),
    # said of a blank text too, which many clients send as a part without members
    Wording("required oneof field 'data' must have one initialized field", _BOTH, ("part-empty", "text-empty")),
    Wording("Thought signature is not valid", (SIGNATURES_OF_OTHERS.name,), (FOREIGN.id,)),
    Wording("it must include at least one parts field", _BOTH, ("content-missing",)),
    Wording("at least one contents field is required", _BOTH, ("messages-missing", "content-missing")),
    Wording("Model input cannot be empty", _BOTH, ("text-empty", "content-missing")),
    Wording("it must have a text parameter. Add a text parameter and try again", _BOTH, ("text-empty", "content-missing")),
    Wording("Proto field is not repeating, cannot start list", _BOTH, ("field-type", "content-type")),
    Wording("Unknown name {field}: Cannot find field", _BOTH, ("not-understood",)),
    Wording("Request contains an invalid argument", _BOTH, ("call-id-shared", "result-name", "result-count", "result-without-call")),
    Wording("single turn requests end with a user role", _BOTH, ("result-missing-at-end", "last-role")),
    Wording(
        "number of function response parts is equal to the number of function call parts",
        ("gemini-3", "gemini-2.5"), ("result-count",),
    ),
    Wording("function call turn comes immediately after", ("gemini-3", "gemini-2.5"), ("call-order", "call-after-model")),
    Wording("function response turn comes immediately after", ("gemini-3", "gemini-2.5"), ("result-without-call", "result-count")),
    Wording("parts must not be empty", ("gemini-3", "gemini-2.5"), ("content-missing",)),
    Wording("missing a thought_signature", ("gemini-3",), ("thought-signature-missing",)),
)  # fmt: skip
"""Other wordings of the API's errors, from public issues about other versions and gateways."""
