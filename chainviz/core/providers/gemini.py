"""Gemini generateContent (2026-09): as many results as calls in the next turn; Gemini 3 checks the signatures of its calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chainviz.core.chain.messages import AI
from chainviz.core.chain.paths import Path
from chainviz.core.providers.contract import Broken, CallIds, Choice, Excerpt, Provider
from chainviz.core.providers.rules.picture_rules import NAME_OR_NOTE, NOTE, PictureRules
from chainviz.core.providers.rules.rule_choices import name_unlike, unless_joined, where_calls
from chainviz.core.providers.rules.section_rules import Mark, SectionRule
from chainviz.core.providers.rules.system_only import system_only
from chainviz.core.providers.wire.gemini import KINDS, REFERENCE, check_wire, gemini_rule
from chainviz.core.providers.wire.gemini import RULES as WIRE_RULES

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
ROLE = gemini_rule(
    "role-unknown",
    "error",
    "Please use a valid role: user, model.",
    REFERENCE,
    ("note-system", "note-role", "system-to-start"),
)
NO_PARTS = gemini_rule("content-missing", "error", "contents.parts must not be empty.", REFERENCE, ("drop-empty",))
EMPTY_TEXT = gemini_rule(
    "text-empty", "info", "", REFERENCE, ("drop-empty",), note="accepted; Vertex AI refuses an empty text parameter"
)
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
    "last-role", "info", "", REFERENCE, note="accepted; most models answer only after a turn with the role user"
)

RULES: dict[str, Choice] = {
    "pending-call": unless_joined(COUNTS),
    "terminal-call": OPEN_END,
    "unmatched-result": unless_joined(COUNTS),
    "duplicate-result": COUNTS,
    "orphan-result": unless_joined(RESPONSE_ORDER),
    "first-message": where_calls(CALL_ORDER),
    "double-ai": where_calls(CALL_AFTER_AI),
    "mid-system": ROLE,
    "unknown-role": ROLE,
    "no-parts": NO_PARTS,
    "empty-text": EMPTY_TEXT,
    "call-by-other": USER_CALL,
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
CHOSEN = (PICTURES.type, COUNTS, RESPONSE_ORDER, CALL_ORDER, CALL_AFTER_AI, NAME, ENDS_WITH_MODEL, NO_CONTENTS, *WIRE_RULES)
CURRENT_TURN = SectionRule(
    UNSIGNED, Mark.UNSIGNED, "calls a tool without a thought signature", in_last=True, of_part=True, in_own_form=True
)
"""The current turn begins behind the last text of the user; the first call of each of its messages is checked."""
GEMINI_2_5 = Provider(
    "gemini-2.5",
    "Gemini 2.5 generateContent",
    "Gemini",
    RULES,
    call_ids=CallIds("{r:8:x}", ".*"),
    formats=frozenset(("gemini",)),
    clients=frozenset(("gemini",)),
    kinds=KINDS,
    wire=check_wire,
    chosen_rules=CHOSEN,
    opening=(system_only(NO_CONTENTS),),
    ending=(_end,),
)
GEMINI_3 = Provider(
    "gemini-3",
    "Gemini 3 generateContent",
    "Gemini",
    RULES,
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
