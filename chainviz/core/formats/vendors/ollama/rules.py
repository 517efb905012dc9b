"""Rules of vLLM (0.12) and Ollama (0.13), which turn a chain into text with the chat template of the model.

The template decides what is refused, so most rules here are warnings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from chainviz.core.chain.messages import Message
from chainviz.core.providers.contract import CallIds, Choice, Provider, WireFault
from chainviz.core.providers.rule_choices import where_model
from chainviz.core.providers.rules import ALL_MODELS, Rule, Wording
from chainviz.core.providers.wire import BASE64, Each, Fault, Fields, faults_of, kind_name, misfits, sent_value, unknown_members

REFERENCE = "docs.ollama.com/api/chat"
ollama_rule = partial(Rule, models=ALL_MODELS, since="2024-07", checked="2026-11-23")
CONTENT = ollama_rule(
    "content-type", "error", "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string", REFERENCE
)
WIRE_ARGUMENTS = ollama_rule(
    "arguments-type", "error",
    "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments", REFERENCE,
)  # fmt: skip
NO_NAME = ollama_rule(
    "result-without-name", "info", "", REFERENCE, note="accepted; the template may need tool_name to know which tool answered"
)
FIELD = ollama_rule("field-type", "error", "json: cannot unmarshal into Go struct field ChatRequest.messages", REFERENCE)
RULES = (CONTENT, WIRE_ARGUMENTS, NO_NAME, FIELD)
_FORM = Fields({}, {"images": Each(BASE64), "thinking": str, "tool_name": str, "tool_call_id": str, "tool_calls": Each(dict)})
_FIELDS = ("role", "content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id")


def check_wire(message: Message) -> Iterator[WireFault]:
    value = sent_value(message)
    if isinstance(value, dict):
        for rule, _, what in _faults(value):
            yield WireFault("", None, what, rule=rule)


def _faults(value: dict[str, Any]) -> Iterator[Fault]:
    yield from unknown_members(value, _FIELDS)
    content = value.get("content")
    if content is not None and not isinstance(content, str):
        yield CONTENT, ("content",), f"has {kind_name(content)} as content"
    known = {key: each for key, each in value.items() if key in _FORM.optional}
    yield from faults_of(misfits(known, _FORM), FIELD, FIELD, "a message")
    calls = value.get("tool_calls")
    for index, call in enumerate(calls if isinstance(calls, list) else ()):
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and not isinstance(function.get("name", ""), str):
            yield FIELD, ("tool_calls", index), f"has a tool call with {kind_name(function['name'])} as name"
        arguments = function.get("arguments", {}) if isinstance(function, dict) else None
        if not isinstance(arguments, dict):
            yield WIRE_ARGUMENTS, ("tool_calls", index), f"has a tool call with {kind_name(arguments)} as arguments"
    if value.get("role") == "tool" and not isinstance(value.get("tool_name"), str):
        yield NO_NAME, (), "is a tool message without tool_name"


TEMPLATES = "github.com/vllm-project/vllm/issues/6862"
ARGUMENTS_SOURCE = "github.com/vllm-project/vllm/issues/47761"
SOME_TEMPLATES = "models whose chat template says so"
vllm_rule = partial(Rule, models=SOME_TEMPLATES, since="2024-07", checked="2026-11-23")

STRICT_SYSTEM = r"qwen-?3\.[5-9]"
"""Models whose template refuses a system message that is not the first message."""
STRICT_TURNS = r"mistral-7b|mixtral|gemma-?[12]\b|llama-2-"
"""Models whose template refuses two consecutive messages with the same role."""
DEPENDS = "depends on the chat template of the model; no model is recorded, or its template is not known here"

ALTERNATE = vllm_rule(
    "roles-alternate", "error",
    "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...", TEMPLATES,
    ("merge-human",), models="Mistral 7B, Mixtral, Gemma 1 and 2, Llama 2",
)  # fmt: skip
MAYBE_ALTERNATE = replace(ALTERNATE, severity="warning", models=SOME_TEMPLATES, note=DEPENDS)
FIRST_ROLE = vllm_rule("first-role", "warning", ALTERNATE.says, TEMPLATES, ("insert-opening",))
MID_SYSTEM = vllm_rule(
    "system-in-messages", "error", "System message must be at the beginning.", "github.com/QwenLM/Qwen3.8/issues/244",
    ("system-to-start", "note-system"), models="Qwen 3.5 to 3.8", since="2026-02", checked="2026-11-27",
)  # fmt: skip
MAYBE_MID_SYSTEM = replace(MID_SYSTEM, severity="warning", models=SOME_TEMPLATES, note=DEPENDS)
OLLAMA_MID_SYSTEM = ollama_rule(
    "system-in-messages", "error", "system message must be at the beginning", "github.com/ollama/ollama/issues/17774",
    ("system-to-start", "note-system"), models="Qwen 3.8", since="2026-08", checked="2026-11-27",
)  # fmt: skip
ROLE = vllm_rule("role-unknown", "warning", "Only user, assistant and tool roles are supported!", TEMPLATES, ("note-role", "drop-message"))
COUNTS = vllm_rule("result-count", "warning", "Not the same number of function calls and responses", TEMPLATES)
ORPHAN = vllm_rule(
    "result-without-call", "warning", "Message has tool role, but there was no previous assistant message with a tool call!", TEMPLATES
)
ARGUMENTS = vllm_rule(
    "arguments-no-json", "error", "Unterminated string or invalid JSON in function.arguments", ARGUMENTS_SOURCE, ("mend-arguments",)
)
NO_OBJECT = vllm_rule(
    "arguments-no-object", "warning", "function.arguments must be a valid JSON object string", ARGUMENTS_SOURCE, ("wrap-arguments",)
)
UNMARSHAL = ollama_rule(
    "arguments-no-json", "error",
    "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments", REFERENCE,
    ("mend-arguments",),
)  # fmt: skip
UNMARSHAL_OTHER = ollama_rule("arguments-no-object", "error", UNMARSHAL.says, REFERENCE, ("wrap-arguments",))

_TEMPLATE_RULES: dict[str, Choice] = {
    "human-after-human": where_model(STRICT_TURNS, ALTERNATE, MAYBE_ALTERNATE),
    "double-ai": where_model(STRICT_TURNS, ALTERNATE, MAYBE_ALTERNATE),
    "first-message": FIRST_ROLE,
    "mid-system": where_model(STRICT_SYSTEM, MID_SYSTEM, MAYBE_MID_SYSTEM),
    "unknown-role": ROLE,
    "pending-call": COUNTS,
    "orphan-result": ORPHAN,
    "unmatched-result": ORPHAN,
}

VLLM_PROVIDER = Provider(
    "vllm",
    "vLLM chat templates",
    "vLLM",
    {**_TEMPLATE_RULES, "no-json-arguments": ARGUMENTS, "no-object-arguments": NO_OBJECT},
    chosen_rules=(ALTERNATE, MAYBE_ALTERNATE, MID_SYSTEM, MAYBE_MID_SYSTEM),
)
OLLAMA_PROVIDER = Provider(
    "ollama",
    "Ollama chat",
    "Ollama",
    {
        "unknown-role": ROLE,
        "mid-system": where_model(r"qwen-?3\.8", OLLAMA_MID_SYSTEM, None),
        "no-json-arguments": UNMARSHAL,
        "free-form-arguments": UNMARSHAL,
        "no-object-arguments": UNMARSHAL_OTHER,
    },
    call_ids=CallIds(pattern=".*"),
    formats=frozenset(("ollama",)),
    clients=frozenset(("ollama",)),
    chosen_rules=(OLLAMA_MID_SYSTEM, *RULES),
    wire=check_wire,
)


ERRORS = (
    Wording("Can only get item pairs from a mapping", ("vllm", "openai-chat"), ("arguments-no-object", "arguments-no-json")),
    Wording("conversation roles must alternate", ("vllm", "bedrock", "anthropic"), ("roles-alternate", "assistants-alternate")),
)  # fmt: skip
"""Other wordings of the API's errors, from public issues about other versions and gateways."""
