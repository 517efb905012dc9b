"""Our options as Anthropic's context editing settings; `anthropic_settings_read` is the way back."""

from __future__ import annotations

import json
from typing import Any

from chainviz.core.errors import OptionsError
from chainviz.core.operations.redact.anthropic_settings.read import EDIT
from chainviz.core.operations.redact.options import RedactOptions
from chainviz.core.operations.redact.policies.contract import EVERY

_OF_ANTHROPIC: dict[str, Any] = {
    "tools": (EVERY,), "tool_globs": (), "exclude_globs": (), "parts": ("result",), "min_bytes": 0, "protect_first": 0,
    "protect_last": 0, "keep_paths": (), "redact_paths": (), "at_least": "or_nothing",
}  # fmt: skip
"""Options that its server does not have, with the value that equals what it does."""


def write(options: RedactOptions) -> str:
    """The settings that make Anthropic's server decide as these options do; OptionsError where it could not."""
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
