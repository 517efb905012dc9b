"""The options of a redaction, and their conversion from and to Anthropic's context editing settings (clear_tool_uses_20250919)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator, model_validator

from chainviz.core.chain.messages import ROLE_NAMES
from chainviz.core.chain.paths import parse_path
from chainviz.core.errors import ChainError, OptionsError
from chainviz.core.operations.contract import Options
from chainviz.core.operations.redact.policies import POLICIES
from chainviz.core.operations.redact.policy import EVERY, KIND_LABELS, Kind
from chainviz.core.operations.redact.rewriting import DEFAULT, FIELDS, unknown_fields

if TYPE_CHECKING:
    PolicyName = str
else:
    PolicyName = Literal[tuple(policy.name for policy in POLICIES)]

RoleName = Literal["system", "human", "ai", "tool"]
_CLEARING: dict[str, Any] = {"group": "Anthropic's clear_tool_uses"}
_WHAT: dict[str, Any] = {"group": "What"}
_WHERE: dict[str, Any] = {"group": "Where"}
_HOW: dict[str, Any] = {"group": "How"}


class RedactOptions(Options):
    policy: PolicyName = Field(
        "seed",
        title="Policy",
        description="When a part is no longer needed.",
        json_schema_extra={"choices": {policy.name: policy.label for policy in POLICIES}},
    )
    tools: tuple[str, ...] = Field(
        (EVERY,),
        title="Tools",
        description="Exact names; * is every tool, empty is none.",
        json_schema_extra={**_WHAT, "hint": "Exact names, separated by commas. * means every tool."},
    )
    tool_globs: tuple[str, ...] = Field(
        (), title="Tools by pattern", description="Such as fetch_*. Narrows * to the tools that match.", json_schema_extra=_WHAT
    )
    exclude_tools: tuple[str, ...] = Field((), title="Never these tools", description="Exact names.", json_schema_extra=_WHAT)
    exclude_globs: tuple[str, ...] = Field((), title="Never these patterns", description="Such as read_*.", json_schema_extra=_WHAT)
    parts: tuple[Kind, ...] = Field(
        ("result",),
        title="Parts",
        description="result, arguments, reasoning, media, text. Reasoning goes as a whole; arguments become {}.",
        json_schema_extra={**_WHAT, "choices": {**KIND_LABELS}, "hint": "Reasoning is removed with its signature; arguments become {}."},
    )
    roles: tuple[RoleName, ...] = Field(
        ("human", "ai", "tool"),
        title="Roles for reasoning, pictures and texts",
        description="Whose reasoning, media and texts: system, human, ai, tool.",
        json_schema_extra={**_WHAT, "choices": {**ROLE_NAMES}, "hint": ""},
    )
    min_bytes: int = Field(0, ge=0, title="At least", description="Smaller parts are kept.", json_schema_extra={**_WHERE, "unit": "bytes"})
    protect_first: int = Field(0, ge=0, title="Protect the first", description="Messages at the start to keep.", json_schema_extra=_WHERE)
    protect_last: int = Field(
        0,
        ge=0,
        title="Older than",
        description="Age, counted from the end. Newer parts are kept.",
        json_schema_extra={**_WHERE, "unit": "messages"},
    )
    unmatched: Literal["keep", "redact"] = Field(
        "keep",
        title="Results without a call",
        description="Results without an id or a matching call: keep them, or treat them like others.",
        json_schema_extra={
            **_WHERE,
            "choices": {"keep": "Keep", "redact": "Treat like others"},
            "hint": "Without an id or a matching call.",
        },
    )
    keep_paths: tuple[str, ...] = Field(
        (), title="Keep these", description="Paths; these override the policy.", json_schema_extra={"hidden": True}
    )
    redact_paths: tuple[str, ...] = Field(
        (), title="Redact these", description="Paths; these override the policy.", json_schema_extra={"hidden": True}
    )
    placeholder: str = Field(DEFAULT, title="Replace with", description="Can contain {tool}, {bytes} and {lines}.", json_schema_extra=_HOW)
    min_bytes_saved: int = Field(
        1,
        ge=0,
        title="Minimum saving",
        description="Parts that would save less are kept. With 0 a part can even grow, as in the reference.",
        json_schema_extra={**_HOW, "unit": "bytes saved"},
    )
    enabled: bool = Field(True, title="Redaction is on", description="Off keeps everything.", json_schema_extra={"hidden": True})
    superseded_by: Literal["same_tool", "same_call"] = Field(
        "same_tool",
        title="Superseded by",
        description="A later call of the same tool, or the same call with the same arguments.",
        json_schema_extra={
            "choices": {"same_tool": "A later call of the same tool", "same_call": "The same call with the same arguments"},
            "hint": "",
        },
    )
    keep: int = Field(
        3,
        ge=0,
        title="Keep",
        description="How many of the last to keep (keep_last_n, clear_tool_uses).",
        json_schema_extra={"hint": "How many of the last to keep."},
    )
    trigger: int = Field(100_000, ge=0, title="Trigger", description="Clears only above this much.", json_schema_extra=_CLEARING)
    trigger_type: Literal["input_tokens", "tool_uses"] = Field(
        "input_tokens",
        title="Trigger counts",
        description="Estimated tokens, or results.",
        json_schema_extra={**_CLEARING, "choices": {"input_tokens": "Input tokens, estimated", "tool_uses": "Tool results"}, "hint": ""},
    )
    clear_at_least: int = Field(
        0, ge=0, title="Clear at least", description="In tokens. Clearing less is not worth losing the cache.", json_schema_extra=_CLEARING
    )
    at_least: Literal["or_nothing", "then_stop"] = Field(
        "or_nothing",
        title="Clear at least means",
        description="or_nothing as Anthropic: all or nothing; then_stop as LangChain: stop when that much is cleared.",
        json_schema_extra={
            **_CLEARING,
            "choices": {"or_nothing": "All or nothing, as Anthropic", "then_stop": "Stop when that much is cleared, as LangChain"},
            "hint": "",
        },
    )
    clear_tool_inputs: tuple[str, ...] = Field(
        (),
        title="Clear arguments too",
        description="Tool names; * or true is all.",
        json_schema_extra={**_CLEARING, "hint": "Tool names, separated by commas. * means every tool."},
    )
    bytes_per_token: float = Field(4, gt=0, title="Bytes per token", description="For token estimates.", json_schema_extra=_CLEARING)
    context_management: str = Field(
        "",
        title="Anthropic's JSON",
        description="A context_management or clear_tool_uses object. It overrides the fields.",
        json_schema_extra={**_CLEARING, "long": True},
    )

    @model_validator(mode="before")
    @classmethod
    def _take_json(cls, given: Any) -> Any:
        text = given.get("context_management") if isinstance(given, dict) else None
        if not isinstance(text, str) or not text.strip():
            return given
        try:
            return {**given, **read_anthropic_settings(text)}
        except OptionsError as refused:
            raise ValueError(str(refused).rstrip(".")) from None

    @field_validator("clear_tool_inputs", mode="before")
    @classmethod
    def _all_or_none(cls, given: Any) -> Any:
        said = given[0] if isinstance(given, list | tuple) and len(given) == 1 else given
        word = str(said).lower()
        return (EVERY,) if word == "true" else () if word == "false" else given

    @field_validator("placeholder")
    @classmethod
    def _known_fields(cls, template: str) -> str:
        for name in unknown_fields(template):
            raise ValueError(f"a placeholder has no “{{{name[:40]}}}”; it can contain {', '.join(f'{{{f}}}' for f in FIELDS)}")
        return template

    @field_validator("keep_paths", "redact_paths")
    @classmethod
    def _paths(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(str(parse_path(path)) for path in paths)
        except ChainError as refused:
            raise ValueError(str(refused).rstrip(".")) from None


EDIT = "clear_tool_uses_20250919"
_DEFAULTS: dict[str, Any] = {
    "policy": "clear_tool_uses", "tools": (EVERY,), "tool_globs": (), "exclude_globs": (), "exclude_tools": (),
    "parts": ("result",), "trigger": 100_000, "trigger_type": "input_tokens", "keep": 3, "clear_at_least": 0,
    "at_least": "or_nothing", "clear_tool_inputs": (),
}  # fmt: skip


def read_anthropic_settings(text: str) -> dict[str, Any]:
    """Return values for RedactOptions. Raises OptionsError, with one sentence, if the text does not contain such settings."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as refused:
        place = f"line {refused.lineno}, column {refused.colno}"
        raise OptionsError(f"Anthropic's settings are not JSON: {refused.msg} at {place}.") from None
    except (ValueError, RecursionError):
        raise OptionsError("Anthropic's settings are not JSON: they are nested too deeply or contain a huge number.") from None
    edit = _edit(found)
    values = dict(_DEFAULTS)
    for key, value in edit.items():
        if key == "type":
            continue
        if key not in _READ:
            raise OptionsError(f"{EDIT} has no “{key[:40]}”; it has {', '.join(_READ)}.")
        if value is not None:
            values |= _READ[key](value)
    return values


def _edit(found: Any) -> dict[str, Any]:
    """Return the only edit in a JSON value, which may be the edit itself, a list, an object with `edits`, or a request."""
    if isinstance(found, dict):
        for key in ("context_management", "edits"):
            if key in found:
                return _edit(found[key])
    edits = found if isinstance(found, list) else [found]
    mine = [edit for edit in edits if isinstance(edit, dict) and edit.get("type") == EDIT]
    if len(mine) != 1:
        how_many = "no" if not mine else f"{len(mine)}"
        raise OptionsError(f"Anthropic's settings have {how_many} edits of the type {EDIT}; exactly one is needed.")
    return mine[0]


def _amount(value: Any, name: str, *types: str) -> tuple[int, str]:
    kind = value.get("type") if isinstance(value, dict) else None
    count = value.get("value") if isinstance(value, dict) else None
    if kind not in types or not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise OptionsError(f"{name} must be an object with type {' or '.join(types)} and a value of 0 or more.")
    return count, str(kind)


def _names(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise OptionsError(f"{name} must be a list of tool names.")
    return tuple(value)


def _read_trigger(value: Any) -> dict[str, Any]:
    count, kind = _amount(value, "trigger", "input_tokens", "tool_uses")
    return {"trigger": count, "trigger_type": kind}


def _read_inputs(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"clear_tool_inputs": (EVERY,) if value else ()}
    return {"clear_tool_inputs": _names(value, "clear_tool_inputs")}


_READ: dict[str, Callable[[Any], dict[str, Any]]] = {
    "trigger": _read_trigger,
    "keep": lambda value: {"keep": _amount(value, "keep", "tool_uses")[0]},
    "clear_at_least": lambda value: {"clear_at_least": _amount(value, "clear_at_least", "input_tokens")[0]},
    "exclude_tools": lambda value: {"exclude_tools": _names(value, "exclude_tools")},
    "clear_tool_inputs": _read_inputs,
}


_OF_ANTHROPIC: dict[str, Any] = {
    "tools": (EVERY,), "tool_globs": (), "exclude_globs": (), "parts": ("result",), "min_bytes": 0, "protect_first": 0,
    "protect_last": 0, "keep_paths": (), "redact_paths": (), "at_least": "or_nothing",
}  # fmt: skip
"""Options that Anthropic's server does not have, with the value that corresponds to its behaviour."""


def write_anthropic_settings(options: RedactOptions) -> str:
    """Return the settings with which Anthropic's server decides like these options. Raises OptionsError if it could not."""
    if options.policy != "clear_tool_uses":
        raise OptionsError(f"Only the policy clear_tool_uses can be written for Anthropic, not {options.policy}.")
    fields = type(options).model_fields
    own = [f"“{fields[name].title}”" for name, only in _OF_ANTHROPIC.items() if getattr(options, name) != only]
    if own:
        raise OptionsError(f"Anthropic's server cannot do all of this; its settings have no {', '.join(own)}.")
    inputs: bool | list[str] = list(options.clear_tool_inputs)
    if options.clear_tool_inputs in ((), (EVERY,)):
        inputs = bool(options.clear_tool_inputs)
    edit: dict[str, Any] = {
        "type": EDIT,
        "trigger": {"type": options.trigger_type, "value": options.trigger},
        "keep": {"type": "tool_uses", "value": options.keep},
        "exclude_tools": list(options.exclude_tools),
        "clear_tool_inputs": inputs,
    }
    if options.clear_at_least:
        edit["clear_at_least"] = {"type": "input_tokens", "value": options.clear_at_least}
    return json.dumps({"edits": [edit]}, indent=2)
