"""Check the JSON of Responses items (openai/types/responses/response_input_item_param.py): ids, members, order of reasoning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from chainviz.core.chain.messages import SLOT, Message
from chainviz.core.chain.paths import Path
from chainviz.core.dialects.values import string_of
from chainviz.core.documents.json.edit import value_of
from chainviz.core.providers.contract import NOT_UNDERSTOOD, Broken, WireFault
from chainviz.core.providers.rules import ALL_MODELS, Rule
from chainviz.core.providers.wire import ADDRESS, Each, Fields, Form, Kinds, TextOr, Words, faults_of, kind_name, misfits

REFERENCE = "platform.openai.com/docs/api-reference/responses/create"
responses_rule = partial(Rule, models=ALL_MODELS, since="2025-03", checked="2026-11-23")
ID_PREFIX = responses_rule(
    "item-id", "error", "Invalid 'input[{index}].id': '{id}'. Expected an ID that begins with '{prefix}'.",
    "github.com/continuedev/continue/pull/11785", ("respell-item",), checked="2026-11-27",
)  # fmt: skip
ID_FORM = responses_rule(
    "item-id-form", "error",
    "Invalid 'input[{index}].id': '{id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value "
    "contained additional characters.",
    "github.com/langchain-ai/langchainjs/issues/11044", ("respell-item",), checked="2026-11-27",
)  # fmt: skip
LONG_ITEM_ID = responses_rule(
    "item-id-too-long", "error",
    "Invalid 'input[{index}].id': string too long. Expected a string with maximum length 64, but got a string with length {length} "
    "instead.", REFERENCE, ("respell-item",),
)  # fmt: skip
REASONING_CONTENT = responses_rule(
    "reasoning-content", "error",
    "Invalid 'input[{index}].content': array too long. Expected an array with maximum length 0, but got an array with length "
    "{length} instead.",
    "github.com/openai/codex/issues/36551", ("respell-item",), since="2026-08", checked="2026-11-27",
)  # fmt: skip
NOT_STORED = responses_rule(
    "item-not-stored", "info",
    "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or "
    "remove this item from your input.",
    "github.com/vercel/ai/issues/7543", ("drop-thinking",), models="reasoning models", since="2025-07", checked="2026-11-27",
    note="accepted while the API stores the item; refused after a request with store: false, and for another organisation",
)  # fmt: skip
REPEATED_ITEM = responses_rule(
    "item-repeated", "error", "Duplicate item found with id {id}. Remove duplicate items from your input and try again.",
    "github.com/earendil-works/pi/issues/5148", ("drop-copy", "respell-item"), since="2026-03", checked="2026-11-27",
)  # fmt: skip
NO_SUMMARY = responses_rule(
    "member-missing",
    "error",
    "Missing required parameter: 'input[{index}].summary'.",
    "github.com/continuedev/continue/pull/11785",
    ("respell-item",),
)
NULL_STATUS = responses_rule(
    "member-unknown", "error", "Unknown parameter: 'input[{index}].status'.", "github.com/openai/openai-python/issues/3008",
    ("respell-item",), since="2025-08", checked="2026-11-27",
)  # fmt: skip
MEMBER = responses_rule("member-missing", "error", "Missing required parameter: 'input[{index}].{member}'.", REFERENCE)
VALUE = responses_rule("field-type", "error", "Invalid type for 'input[{index}].{member}'", REFERENCE)
PICTURE = responses_rule(
    "image-address", "error", "Invalid 'input[{index}].content[{part}].image_url'. Expected a valid URL", REFERENCE, ("image-to-text",)
)
ROLE = responses_rule(
    "role-unknown", "error", "Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", REFERENCE,
    ("respell-item",),
)  # fmt: skip
TYPE = responses_rule("part-type", "error", "Invalid value: '{type}'. Supported values are: {types}.", REFERENCE)
LONELY_REASONING = responses_rule(
    "reasoning-without-item", "warning", "Item '{id}' of type 'reasoning' was provided without its required following item.",
    "github.com/vercel/ai/issues/7099", ("drop-thinking",),
)  # fmt: skip
LONELY_ITEM = responses_rule(
    "item-without-reasoning", "info", "Item '{id}' of type '{type}' was provided without its required 'reasoning' item: '{id}'.",
    "github.com/continuedev/continue/issues/12620", ("drop-item-id",), models="reasoning models",
    note="accepted; some models refuse an item with its id that was provided without its 'reasoning' item",
)  # fmt: skip

RULES = (
    ID_PREFIX, ID_FORM, LONG_ITEM_ID, REASONING_CONTENT, REPEATED_ITEM, NO_SUMMARY, NULL_STATUS, MEMBER, VALUE, PICTURE, ROLE, TYPE,
    LONELY_REASONING, LONELY_ITEM, NOT_STORED,
)  # fmt: skip
TEXT_BETWEEN, ITEM_ID, FULL_REASONING = "text-between", "item-id", "reasoning-content"
"""Names of faults that only some servers of this API refuse."""
_NAMES = {ID_PREFIX: ITEM_ID, ID_FORM: ITEM_ID, REASONING_CONTENT: FULL_REASONING}
_ROLES = frozenset(("user", "assistant", "system", "developer"))
_PREFIXES = {"function_call": "fc", "custom_tool_call": "ctc", "reasoning": "rs", "message": "msg"}
LONGEST_ITEM_ID = 64
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_IMAGE: dict[str, Form] = {"image_url": ADDRESS, "file_id": str, "detail": Words(("low", "high", "auto", "original"))}
_FILE: dict[str, Form] = {"file_data": str, "file_id": str, "file_url": str}
_BREAKPOINT: dict[str, Form] = {"prompt_cache_breakpoint": dict}
_INPUT = Kinds(
    {
        "input_text": Fields({"text": str}, _BREAKPOINT),
        "input_image": Fields({}, {**_IMAGE, **_BREAKPOINT}, ("image_url", "file_id")),
        "input_file": Fields({}, {**_FILE, **_BREAKPOINT, "filename": str, "detail": str}, tuple(_FILE)),
        "input_audio": Fields({"input_audio": dict}),
    }
)
_ANSWER = Kinds({"output_text": Fields({"text": str}, {"annotations": list, "logprobs": list}), "refusal": Fields({"refusal": str})})
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
        {"summary": Each(Kinds({"summary_text": Fields({"text": str})}))}, {**_OF_ITEMS, "content": list, "encrypted_content": str}
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
    values = [value_of(fragment) for fragment in message.source if fragment.ordinal != SLOT]
    yield from _in_items(message, [None if _is_whole_input(values) else value for value in values])


def _is_whole_input(values: Sequence[Any]) -> bool:
    """Return True if the whole input is a plain string."""
    return len(values) == 1 and isinstance(values[0], str)


def check_session(message: Message) -> Iterator[WireFault]:
    """Check the items of a session, which its lines contain under `payload`. Lines of other types are not items."""
    yield from _in_items(message, _session_items(message))


def _session_items(message: Message) -> list[Any]:
    lines = [value_of(fragment) for fragment in message.source]
    return [line.get("payload") if string_of(line, "type") == "response_item" else None for line in lines]


def repeated_items(messages: Iterable[tuple[Path, int, Message]], format: str) -> Iterator[tuple[Path, int, Broken]]:
    """Yield items with the id of an item in an earlier message. `check_wire` reports repeated ids within one message."""
    if format not in ("openai_responses", "codex_rollout"):
        return
    seen: set[str] = set()
    for path, index, message in messages:
        if not any('"id"' in fragment.text for fragment in message.source):
            continue
        is_session = format == "codex_rollout"
        items = _session_items(message) if is_session else [value_of(each) for each in message.source if each.ordinal != SLOT]
        ids = list(filter(None, map(item_id, items)))
        if again := next((id for id in ids if id in seen), ""):
            yield path, index, (REPEATED_ITEM, None, f"has the item id “{again[:80]}” of an earlier item")
        seen.update(ids)


def _in_items(message: Message, items: Sequence[Any]) -> Iterator[WireFault]:
    part = 0
    for place, item in enumerate(items):
        at = part if part < len(message.parts) else None
        found = () if item is None else (*_faults(item), *_reasoning_faults(items[:place], item, items[place + 1 :]))
        for rule, what in found:
            yield WireFault(_NAMES.get(rule, ""), at, what, rule=rule)
        if (id := item_id(item)) and any(id == item_id(before) for before in items[:place]):
            yield WireFault("", at, f"has a second item with the id “{id[:80]}”", rule=REPEATED_ITEM)
        if _calls(item) and not all(map(_calls, items[place + 1 :])):
            yield WireFault(TEXT_BETWEEN, at, "calls a tool, and another item of the model is between this call and its output")
        part += _parts_of(item)


def _calls(item: Any) -> bool:
    return isinstance(item, dict) and _kind(item) in ("function_call", "custom_tool_call")


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
    if kind == "reasoning" and isinstance(item.get("content"), list) and item["content"]:
        yield REASONING_CONTENT, "is a reasoning item with content"
    if kind == "reasoning" and item.get("status", "") is None:
        yield NULL_STATUS, "is a reasoning item with null as status"
    if kind == "reasoning" and string_of(item, "id").startswith("rs_") and not item.get("encrypted_content"):
        yield NOT_STORED, "has reasoning that only its id stands for"
    if (broken := _id_rule(item, kind)) is not None:
        yield broken, f"is a {kind} item with the id “{item['id'][:80]}”"


def _id_rule(item: dict[str, Any], kind: str) -> Rule | None:
    """Return the rule that the id of an item breaks; None if it breaks none."""
    id = item.get("id")
    if not isinstance(id, str) or kind == "item_reference":
        return None
    if not _ID.fullmatch(id):
        return ID_FORM
    if len(id) > LONGEST_ITEM_ID:
        return LONG_ITEM_ID
    return None if id.startswith(_PREFIXES.get(kind, "")) else ID_PREFIX


def item_id(item: Any) -> str:
    """Return the id that must be unique among items; "" for an item without an id, a reference to a stored item, and the output of a
    local shell, which has the id of its call."""
    id = item.get("id") if isinstance(item, dict) and _kind(item) not in ("item_reference", "local_shell_call_output") else ""
    return id if isinstance(id, str) else ""


def refused_members(item: dict[str, Any]) -> tuple[str, ...]:
    """Return the members that are wrong or missing."""
    kind = _kind(item)
    found = ("id",) if _id_rule(item, str(kind)) else ()
    if kind != "reasoning":
        return found
    has_content = isinstance(item.get("content"), list) and bool(item["content"])
    found = (*found, *(("status",) if item.get("status", "") is None else ()))
    return (*found, *(("summary",) if not isinstance(item.get("summary"), list) else ()), *(("content",) if has_content else ()))


def needs_reasoning(item: dict[str, Any]) -> bool:
    """Return True if the id shows that the API created the item, so that the API may require the reasoning before it."""
    return str(item.get("id")).startswith(("fc_", "msg_"))


def _reasoning_faults(before: Sequence[Any], item: Any, after: Sequence[Any]) -> Iterator[tuple[Rule, str]]:
    """Yield the faults of reasoning without an item of the model after it, and of an item without its reasoning."""
    if not isinstance(item, dict):
        return
    if _kind(item) == "reasoning" and not after:
        yield LONELY_REASONING, "is reasoning with nothing from the model after it"
    elif needs_reasoning(item) and not before:
        yield LONELY_ITEM, "has an id, but no reasoning before it"
