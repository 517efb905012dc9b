"""Servers that turn a chain into text with the model's own chat template: vLLM (0.12) and Ollama (0.13).

What is refused depends on the model's template, so most rules here are warnings.
"""

from __future__ import annotations

from functools import partial

from chainviz.core.providers.contract import CallIds, Choice, Provider
from chainviz.core.providers.rules.rule import Rule
from chainviz.core.providers.wire.ollama import REFERENCE, RULES, check_wire, ollama_rule

TEMPLATES = "github.com/vllm-project/vllm/issues/6862"
ARGUMENTS_SOURCE = "github.com/vllm-project/vllm/issues/47761"
vllm_rule = partial(Rule, models="models whose chat template says so", since="2024-07", checked="2026-11-23")

ALTERNATE = vllm_rule(
    "roles-alternate", "warning",
    "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...", TEMPLATES,
    ("merge-human",),
)  # fmt: skip
FIRST_ROLE = vllm_rule("first-role", "warning", ALTERNATE.says, TEMPLATES, ("insert-opening",))
MID_SYSTEM = vllm_rule(
    "system-in-messages",
    "warning",
    "System message must be at the beginning.",
    TEMPLATES,
    ("note-system", "system-to-start"),
)
ROLE = vllm_rule(
    "role-unknown",
    "warning",
    "Only user, assistant and tool roles are supported!",
    TEMPLATES,
    ("note-role", "drop-message"),
)
COUNTS = vllm_rule("result-count", "warning", "Not the same number of function calls and responses", TEMPLATES)
ORPHAN = vllm_rule(
    "result-without-call",
    "warning",
    "Message has tool role, but there was no previous assistant message with a tool call!",
    TEMPLATES,
)
ARGUMENTS = vllm_rule(
    "arguments-no-json",
    "error",
    "Unterminated string or invalid JSON in function.arguments",
    ARGUMENTS_SOURCE,
    ("mend-arguments",),
)
NO_OBJECT = vllm_rule(
    "arguments-no-object",
    "warning",
    "function.arguments must be a valid JSON object string",
    ARGUMENTS_SOURCE,
    ("wrap-arguments",),
)
UNMARSHAL = ollama_rule(
    "arguments-no-json", "error",
    "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments", REFERENCE,
    ("mend-arguments",),
)  # fmt: skip
UNMARSHAL_OTHER = ollama_rule("arguments-no-object", "error", UNMARSHAL.says, REFERENCE, ("wrap-arguments",))

_TEMPLATE_RULES: dict[str, Choice] = {
    "human-after-human": ALTERNATE,
    "double-ai": ALTERNATE,
    "first-message": FIRST_ROLE,
    "mid-system": MID_SYSTEM,
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
)
OLLAMA_PROVIDER = Provider(
    "ollama",
    "Ollama chat",
    "Ollama",
    {
        "unknown-role": ROLE,
        "no-json-arguments": UNMARSHAL,
        "free-form-arguments": UNMARSHAL,
        "no-object-arguments": UNMARSHAL_OTHER,
    },
    call_ids=CallIds(pattern=".*"),
    formats=frozenset(("ollama",)),
    clients=frozenset(("ollama",)),
    chosen_rules=RULES,
    wire=check_wire,
)
