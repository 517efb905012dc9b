"""Rules of OpenAI Responses (2026-09): calls and outputs match by call_id anywhere in the input; reasoning precedes its item.

DeepSeek's endpoint of this API also requires the outputs of calls before any other text of the model.
"""

from __future__ import annotations

from dataclasses import replace

from chainviz.core.chain.problems import Problem
from chainviz.core.formats.vendors.openai.responses_wire import (
    FULL_REASONING,
    ITEM_ID,
    KINDS,
    REFERENCE,
    TEXT_BETWEEN,
    check_session,
    check_wire,
    repeated_items,
    responses_rule,
)
from chainviz.core.formats.vendors.openai.responses_wire import RULES as ITEM_RULES
from chainviz.core.providers.contract import Called, Choice, Excerpt, Provider, WireFault
from chainviz.core.providers.rule_choices import id_unlike, openai_pictures, unless_elsewhere, where_unnamed
from chainviz.core.providers.rules import ALL_MODELS, Mark, Rule, SectionRule, Wording

MISSING = responses_rule(
    "result-missing", "error", "No tool output found for {kind} call {id}.", "github.com/openai/openai-agents-python/issues/1611"
)
ORPHAN = responses_rule(
    "result-without-call", "error", "No tool call found for {kind} call output with call_id {id}.",
    "github.com/continuedev/continue/issues/10092",
)  # fmt: skip
REPEATED_RESULT = responses_rule("result-repeated", "warning", "Duplicate function call output with call_id '{id}'", REFERENCE)
SHARED = responses_rule("call-id-shared", "error", "Duplicate function call with call_id '{id}'", REFERENCE, ("rename-calls",))
REUSED = responses_rule("call-id-reused", "warning", "Duplicate function call with call_id '{id}'", REFERENCE, ("rename-calls",))
ROLE = responses_rule(
    "role-unknown", "error",
    "Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", REFERENCE,
    ("note-role", "drop-message"),
)  # fmt: skip
LONG_ID = responses_rule(
    "call-id-too-long", "error",
    "Invalid 'input[{index}].call_id': string too long. Expected a string with maximum length 64, but got a string with "
    "length {length} instead.", REFERENCE,
    ("respell-id",),
)  # fmt: skip
EMPTY_ID = responses_rule(
    "call-id-pattern", "error",
    "Invalid 'input[{index}].call_id': empty string. Expected a string with minimum length 1, but got an empty "
    "string instead.", REFERENCE,
    ("respell-id",),
)  # fmt: skip
NAME = responses_rule(
    "tool-name", "error", "Invalid 'input[{index}].name': string does not match pattern. Expected a string "
    "that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    REFERENCE, ("respell-name",),
)  # fmt: skip
SURROGATE = responses_rule(
    "text-surrogate", "error",
    "Invalid body: failed to parse JSON value. Please check the value to ensure it is valid JSON. (Common errors include trailing "
    "commas, missing closing brackets, missing quotation marks, etc.)",
    "github.com/anomalyco/opencode/issues/14630", ("respell-text",), since="2026-02", checked="2026-11-27",
)  # fmt: skip
NO_NAME = responses_rule(
    "tool-name-empty", "error",
    "Invalid 'input[{index}].name': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    "github.com/continuedev/continue/pull/11785", ("respell-name",),
)  # fmt: skip
PICTURES = openai_pictures(responses_rule)
USER_CALL = responses_rule("call-by-user", "warning", "Invalid value: 'function_call'", REFERENCE, ("user-call-to-text",))

STORED_CALL = Rule(
    "call-stored", "unchecked", "", REFERENCE, models=ALL_MODELS, since="2025-03", checked="2026-11-27",
    note="the API stores the messages before these, and the call may be among them",
)  # fmt: skip
_ORPHAN = unless_elsewhere(ORPHAN)
ENCRYPTED = responses_rule(
    "reasoning-encrypted", "info",
    "The encrypted content {content} could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
    "github.com/openai/codex/issues/3942", ("drop-signed",), models="reasoning models", since="2025-09", checked="2026-11-27",
    note="accepted only by the organisation that the model answered; a request of another account or provider is refused",
)  # fmt: skip


def _orphan(excerpt: Excerpt, problem: Problem) -> Rule | None:
    place = (excerpt.number, problem.path.pair)
    return STORED_CALL if excerpt.request.stores_call(excerpt.section, place) else _ORPHAN(excerpt, problem)


RULES: dict[str, Choice] = {
    "pending-call": unless_elsewhere(MISSING),
    "terminal-call": unless_elsewhere(MISSING),
    "orphan-result": _orphan,
    "unmatched-result": unless_elsewhere(ORPHAN),
    "duplicate-result": REPEATED_RESULT,
    "shared-call-id": SHARED,
    "unknown-role": ROLE,
    "very-long-id": LONG_ID,
    "no-id": id_unlike(".+", EMPTY_ID),
    "lone-surrogate": SURROGATE,
    "odd-name": where_unnamed(NO_NAME, NAME),
    "long-name": NAME,
    "very-long-name": NAME,
    "call-by-other": USER_CALL,
    **PICTURES.choices,
}


def _reused(call: Called, before: Called) -> Rule | None:
    return REUSED if call.message != before.message else None


PROVIDER = Provider(
    "openai-responses",
    "OpenAI Responses",
    "OpenAI",
    RULES,
    _reused,
    message_place="input[{}]",
    vendor="openai",
    formats=frozenset(("openai_responses",)),
    clients=frozenset(("openai_responses", "codex_rollout")),
    kinds=KINDS,
    wire=check_wire,
    chosen_rules=(PICTURES.type, MISSING, ORPHAN, STORED_CALL, EMPTY_ID, NO_NAME, REUSED, *ITEM_RULES),
    sessions={"codex_rollout": check_session},
    section_rules=(SectionRule(ENCRYPTED, Mark.SIGNED, "has encrypted reasoning", once=True, in_own_form=True),),
    whole=(repeated_items,),
)

INTERLEAVED = responses_rule(
    "text-between-calls", "error", "No tool output found for tool call {id}",
    "recorded: pydantic-ai, test_deepseek_responses_rejects_interleaved_function_calls", ("calls-last",),
)  # fmt: skip
APART = responses_rule(
    "result-missing", "error", "No tool output found for tool call {id}", "github.com/deepseek-ai/awesome-deepseek-integration/issues/740",
    note="an output must directly follow the calls of its turn",
)  # fmt: skip


def _deepseek_orphan(excerpt: Excerpt, problem: Problem) -> Rule | None:
    rule = _orphan(excerpt, problem)
    return rule if rule is STORED_CALL else ORPHAN


def _deepseek_rule(fault: WireFault) -> Rule | None:
    """Choose DeepSeek's rule for a fault in the JSON. It accepts UUIDs as ids, and reasoning with its text as content."""
    return INTERLEAVED if fault.name == TEXT_BETWEEN else None if fault.name in (ITEM_ID, FULL_REASONING) else fault.rule


PROVIDER_DEEPSEEK = replace(
    PROVIDER,
    name="deepseek-responses",
    label="DeepSeek Responses",
    section_rules=(),
    whole=(),
    speaker="DeepSeek",
    vendor="deepseek",
    rules={**RULES, "pending-call": APART, "terminal-call": APART, "orphan-result": _deepseek_orphan, "unmatched-result": ORPHAN},
    clients=frozenset(),
    wire_rule=_deepseek_rule,
    chosen_rules=(*PROVIDER.chosen_rules, INTERLEAVED, APART),
)


ERRORS = (
    Wording(
        "No tool output found for {kind} call {id}",
        ("openai-responses", "deepseek-responses"), ("result-missing", "text-between-calls"),
    ),
    Wording("Item with id {id} not found", ("openai-responses", "deepseek-responses"), ("item-not-stored",)),
    Wording(
        "Unknown parameter: '{field}'", ("openai-responses", "deepseek-responses", "openai-chat"), ("member-unknown", "not-understood")
    ),
    Wording("Supported values are: 'in_progress', 'completed', and 'incomplete'", ("openai-responses",), ("field-type",)),
    Wording("Supported values are: 'output_text' and 'refusal'", ("openai-responses",), ("field-type", "part-type")),
    Wording("missing required field summary", ("openai-responses", "deepseek-responses"), ("member-missing",)),
)  # fmt: skip
"""Other wordings of the API's errors, from public issues about other versions and gateways."""
