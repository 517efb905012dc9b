"""Anthropic's context editing settings (clear_tool_uses_20250919) as our options; `anthropic_settings_write` is the way back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from chainviz.core.errors import OptionsError
from chainviz.core.operations.redact.policies.contract import EVERY

EDIT = "clear_tool_uses_20250919"
_DEFAULTS: dict[str, Any] = {
    "policy": "clear_tool_uses", "tools": (EVERY,), "tool_globs": (), "exclude_globs": (), "exclude_tools": (),
    "parts": ("result",), "trigger": 100_000, "trigger_type": "input_tokens", "keep": 3, "clear_at_least": 0,
    "at_least": "or_nothing", "clear_tool_inputs": (),
}  # fmt: skip


def read(text: str) -> dict[str, Any]:
    """Values of RedactOptions; OptionsError, in one sentence, where the text is no such settings."""
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
    """The one edit, wherever it lies: alone, in a list, in `edits`, in a whole request."""
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
