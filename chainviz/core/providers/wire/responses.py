"""The JSON of Responses items (openai/types/responses/response_input_item_param.py): ids, members, and what reasoning precedes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import dropwhile
from typing import Any

from chainviz.core.chain.messages import SLOT, Message
from chainviz.core.dialects.members import string_of
from chainviz.core.documents.json.edit import parse
from chainviz.core.providers.contract import NOT_UNDERSTOOD, WireFault
from chainviz.core.providers.rules.rule import ALL_MODELS, Rule
from chainviz.core.providers.wire.forms import ADDRESS, Each, Fields, Form, Kinds, TextOr, Words, faults_of, misfits
from chainviz.core.providers.wire.message import kind_name

REFERENCE = "platform.openai.com/docs/api-reference/responses/create"
responses_rule = partial(Rule, models=ALL_MODELS, since="2025-03", checked="2026-11-23")
ID_PREFIX = responses_rule(
    "item-id", "error", "Invalid 'input.id'. Expected an ID that begins with 'fc', 'rs' or 'msg', as its type says.",
    "github.com/continuedev/continue/pull/11785", ("respell-item",),
)  # fmt: skip
NO_SUMMARY = responses_rule(
    "member-missing",
    "error",
    "Missing required parameter: 'input.summary'.",
    "github.com/continuedev/continue/pull/11785",
    ("respell-item",),
)
MEMBER = responses_rule("member-missing", "error", "Missing required parameter", REFERENCE)
VALUE = responses_rule("field-type", "error", "Invalid type or value in 'input'", REFERENCE)
PICTURE = responses_rule(
    "image-address", "error", "Invalid 'image_url'. Expected a valid URL", REFERENCE, ("image-to-text",)
)
ROLE = responses_rule(
    "role-unknown", "error", "Invalid value. Supported values are: 'assistant', 'system', 'developer', and 'user'.", REFERENCE,
    ("respell-item",),
)  # fmt: skip
TYPE = responses_rule("part-type", "error", "Invalid value for 'input.type'", REFERENCE)
LONELY_REASONING = responses_rule(
    "reasoning-without-item", "warning", "Item of type 'reasoning' was provided without its required following item.",
    "github.com/vercel/ai/issues/7099", ("drop-thinking",),
)  # fmt: skip
LONELY_ITEM = responses_rule(
    "item-without-reasoning", "info", "Item '{id}' of type '{type}' was provided without its required 'reasoning' item: '{id}'.",
    "github.com/continuedev/continue/issues/12620", ("respell-item",), models="reasoning models",
    note="accepted; some models refuse an item with its id that was provided without its 'reasoning' item",
)  # fmt: skip

RULES = (ID_PREFIX, NO_SUMMARY, MEMBER, VALUE, PICTURE, ROLE, TYPE, LONELY_REASONING, LONELY_ITEM)
TEXT_BETWEEN = "text-between"
"""The name of a fault that only some servers of this API refuse."""
_ROLES = frozenset(("user", "assistant", "system", "developer"))
_PREFIXES = {"function_call": "fc", "reasoning": "rs", "message": "msg"}
_IMAGE: dict[str, Form] = {"image_url": ADDRESS, "file_id": str, "detail": Words(("low", "high", "auto", "original"))}
_FILE: dict[str, Form] = {"file_data": str, "file_id": str, "file_url": str}
_INPUT = Kinds(
    {
        "input_text": Fields({"text": str}),
        "input_image": Fields({}, _IMAGE, ("image_url", "file_id")),
        "input_file": Fields({}, {**_FILE, "filename": str, "detail": str}, tuple(_FILE)),
        "input_audio": Fields({"input_audio": dict}),
    }
)
_ANSWER = Kinds(
    {
        "output_text": Fields({"text": str}, {"annotations": list, "logprobs": list}),
        "refusal": Fields({"refusal": str}),
    }
)
_OF_ITEMS: dict[str, Form] = {
    "type": str, "id": str, "status": Words(("in_progress", "completed", "incomplete")), "namespace": str, "caller": dict,
}  # fmt: skip
_OUTPUT = Fields({"call_id": str, "output": TextOr(Each(_INPUT))}, {**_OF_ITEMS, "name": str})
_MESSAGE: dict[str, Form] = {**_OF_ITEMS, "role": str, "phase": str}
_FORMS: dict[str, Fields] = {
    "function_call": Fields({"call_id": str, "name": str, "arguments": str}, _OF_ITEMS),
    "function_call_output": _OUTPUT,
    "custom_tool_call": Fields({"call_id": str, "name": str, "input": str}, _OF_ITEMS),
    "custom_tool_call_output": _OUTPUT,
    "reasoning": Fields(
        {"summary": Each(Kinds({"summary_text": Fields({"text": str})}))},
        {**_OF_ITEMS, "content": list, "encrypted_content": str},
    ),
    "message": Fields({"content": TextOr(Each(_INPUT))}, _MESSAGE),
}
_ANSWERED = Fields({"content": TextOr(Each(_ANSWER))}, _MESSAGE)
"""The form of a message of the model."""
_OTHERS = frozenset(
    ("file_search_call", "computer_call", "computer_call_output", "web_search_call", "tool_search_call", "tool_search_output",
     "additional_tools", "configuration_update", "compaction", "compaction_trigger", "image_generation_call",
     "code_interpreter_call", "local_shell_call", "local_shell_call_output", "shell_call", "shell_call_output",
     "apply_patch_call", "apply_patch_call_output", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response",
     "mcp_call", "item_reference", "program", "program_output", "compaction_summary")
)  # fmt: skip
KINDS = _OTHERS | {"input_file", "input_audio", "refusal", "output_refusal"}


def check_wire(message: Message) -> Iterator[WireFault]:
    yield from _in_items(message, [parse(fragment.text) for fragment in message.source if fragment.ordinal != SLOT])


def check_session(message: Message) -> Iterator[WireFault]:
    """The same for lines that hold an item under `payload`; lines of another type stand for a text, which is no item."""
    lines = [parse(fragment.text) for fragment in message.source]
    yield from _in_items(
        message, [line.get("payload") if string_of(line, "type") == "response_item" else None for line in lines]
    )


def _in_items(message: Message, items: Sequence[Any]) -> Iterator[WireFault]:
    part = 0
    for place, item in enumerate(items):
        found = () if item is None else (*_faults(item), *_reasoning_faults(items[:place], item, items[place + 1 :]))
        at = part if part < len(message.parts) else None
        for rule, what in found:
            yield WireFault("", at, what, rule=rule)
        if _calls(item) and _has_text_and_call(items[place + 1 :]):
            yield WireFault(
                TEXT_BETWEEN, at, "calls a tool, and text of the model is between this call and the next"
            )
        part += _parts_of(item)


def _calls(item: Any) -> bool:
    return isinstance(item, dict) and _kind(item) in ("function_call", "custom_tool_call")


def _has_text_and_call(items: Sequence[Any]) -> bool:
    """Whether a text of the model comes, and a call behind it."""
    behind = dropwhile(lambda item: not isinstance(item, dict) or _kind(item) != "message", items)
    return any(map(_calls, behind))


def _parts_of(item: Any) -> int:
    content = item.get("content") if isinstance(item, dict) and _kind(item) == "message" else ""
    return len(content) if isinstance(content, list) else 1


def _kind(item: dict[str, Any]) -> Any:
    return item.get("type") or ("message" if "role" in item else "item_reference")


def _faults(item: Any) -> Iterator[tuple[Rule, str]]:
    kind = _kind(item) if isinstance(item, dict) else None
    if not isinstance(kind, str):
        yield TYPE, f"has {kind_name(item)} as an item"
        return
    if kind not in _FORMS and kind not in _OTHERS:
        yield NOT_UNDERSTOOD, f"is an item of the type “{kind[:40]}”, which is not checked"
    elif kind in _FORMS:
        form = _ANSWERED if kind == "message" and item.get("role") == "assistant" else _FORMS[kind]
        for rule, place, what in faults_of(misfits(item, form), MEMBER, VALUE, f"a {kind} item"):
            is_address = rule is VALUE and place[-1:] == ("image_url",)
            yield PICTURE if is_address else NO_SUMMARY if rule is MEMBER and kind == "reasoning" and not place else rule, what
    if kind == "message" and (role := string_of(item, "role")) not in _ROLES:
        yield ROLE, f"is an item with the role “{role[:40]}”"
    if _has_wrong_id(item, kind):
        yield ID_PREFIX, f"is a {kind} item with the id “{item['id'][:80]}”"


def _has_wrong_id(item: dict[str, Any], kind: str) -> bool:
    prefix, id = _PREFIXES.get(kind), item.get("id")
    return prefix is not None and isinstance(id, str) and not id.startswith(prefix)


def refused_members(item: dict[str, Any], *, is_first: bool) -> tuple[str, ...]:
    """Members that are spelled wrong or missing; `is_first`: of its message, so that no reasoning comes before it."""
    kind = _kind(item)
    found = ("id",) if _has_wrong_id(item, str(kind)) or (is_first and _needs_reasoning(item)) else ()
    return (*found, "summary") if kind == "reasoning" and not isinstance(item.get("summary"), list) else found


def _needs_reasoning(item: dict[str, Any]) -> bool:
    return str(item.get("id")).startswith(("fc_", "msg_"))


def _reasoning_faults(before: Sequence[Any], item: Any, after: Sequence[Any]) -> Iterator[tuple[Rule, str]]:
    """Reasoning belongs to the items of the model behind it."""
    if not isinstance(item, dict):
        return
    if _kind(item) == "reasoning" and not after:
        yield LONELY_REASONING, "is reasoning with nothing from the model after it"
    elif _needs_reasoning(item) and not before:
        yield LONELY_ITEM, "has an id, but no reasoning before it"
