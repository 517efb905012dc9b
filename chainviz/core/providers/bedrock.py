"""Amazon Bedrock Converse (2026-09): turns alternate, all results in the next user message, no blank text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chainviz.core.chain.messages import AI, HUMAN, TOOL
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.providers.contract import Broken, CallIds, Choice, Excerpt, Provider
from chainviz.core.providers.rules.picture_rules import NAME_OR_NOTE, NOTE, PictureRules
from chainviz.core.providers.rules.rule import Rule
from chainviz.core.providers.rules.rule_choices import id_unlike
from chainviz.core.providers.rules.section_rules import Mark, SectionRule
from chainviz.core.providers.rules.system_only import system_only
from chainviz.core.providers.wire.bedrock import KINDS, bedrock_rule, check_wire, has_own_unit
from chainviz.core.providers.wire.bedrock import RULES as WIRE_RULES

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
REPEATED_RESULT = bedrock_rule(
    "result-repeated", "error", "The toolResult blocks at messages.content contain duplicate Ids", REFERENCE
)
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
    "role-unknown",
    "error",
    "Member must satisfy enum value set: [user, assistant]",
    REFERENCE,
    ("note-role", "drop-message"),
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
    "Value at 'toolUse.toolUseId' failed to satisfy constraint: Member must satisfy regular "
    "expression pattern: [a-zA-Z0-9_.:-]+",
    "botocore, ToolUseId", ("respell-id",),
)  # fmt: skip
LONG_ID = bedrock_rule(
    "call-id-too-long", "error", "Value at 'toolUse.toolUseId' failed to satisfy constraint: Member "
    "must have length less than or equal to 64",
    "botocore, ToolUseId", ("respell-id",),
)  # fmt: skip
NAME = bedrock_rule(
    "tool-name", "error",
    "Value at 'toolUse.name' failed to satisfy constraint: Member must satisfy regular "
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
        "Value at '{place}.image.format' failed to satisfy constraint: Member must satisfy enum value set: [png, jpeg, gif, webp]",
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
USER_CALL = bedrock_rule(
    "call-by-user", "error", "User messages cannot contain toolUse blocks.", REFERENCE, ("user-call-to-text",)
)
NO_MESSAGES = bedrock_rule("messages-missing", "error", FIRST_ROLE.says, REFERENCE)
PREFILL = bedrock_rule(
    "last-role",
    "info",
    "",
    REFERENCE,
    note="accepted as the beginning of the answer; some models want a user message at the end",
)

def _first_message(excerpt: Excerpt, problem: Problem) -> Rule | None:
    """Bedrock itself takes any role; the model decides."""
    model = excerpt.request.model.lower()
    return MAY_FIRST if not model else None if "claude" in model else FIRST_ROLE


_OF_REQUEST = frozenset(("modelId", "inferenceConfig", "system", "additionalModelRequestFields", "guardrailConfig"))
"""Members of which a request has one; a list of messages alone may be sent with any."""
UNDEFINED = SectionRule(
    NO_TOOLS,
    Mark.CALLS,
    "calls a tool, and the request has no toolConfig",
    once=True,
    in_own_form=True,
    when=lambda request: bool(_OF_REQUEST & set(request.members)) and "toolConfig" not in request.members,
)
RULES: dict[str, Choice] = {
    "pending-call": MISSING,
    "terminal-call": OPEN_END,
    "orphan-result": ORPHAN,
    "unmatched-result": ORPHAN,
    "duplicate-result": REPEATED_RESULT,
    "shared-call-id": TWICE,
    "first-message": _first_message,
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
    **PICTURES.choices,
}


def _turns(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    """Results in several messages of the user, and a text of the user apart from the results before it."""
    before = excerpt.before
    for path, index, message in excerpt.messages:
        if before == TOOL and has_own_unit(message):
            if message.role == TOOL:
                yield path, index, (SPLIT, None, "has results separate from those before it")
            elif message.role == HUMAN:
                yield path, index, (TEXT_APART, None, "is a user message directly after one with results")
        before = message.role


def _end(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
    path, index, message = excerpt.messages[-1]
    if message.role == AI and not message.calls:
        yield path, index, (PREFILL, None, "ends the chain with an answer")


PROVIDER = Provider(
    "bedrock",
    "Amazon Bedrock Converse",
    "Bedrock",
    RULES,
    call_ids=CallIds("tooluse_{r:22:x}", "[a-zA-Z0-9_.:-]{1,64}"),
    formats=frozenset(("bedrock_converse",)),
    clients=frozenset(("bedrock_converse",)),
    kinds=KINDS,
    wire=check_wire,
    section_rules=(UNDEFINED,),
    sent=(_turns,),
    chosen_rules=(PICTURES.type, FIRST_ROLE, MAY_FIRST, ID, SPLIT, TEXT_APART, PREFILL, NO_MESSAGES, *WIRE_RULES),
    opening=(system_only(NO_MESSAGES),),
    ending=(_end,),
)
