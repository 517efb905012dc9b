"""The environment's switch STREAM_REDACTION_ENABLED (seed 4): read here for web, command line and Python alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chainviz.core.terminal import visible

VARIABLE = "STREAM_REDACTION_ENABLED"
_ON = frozenset(("1", "t", "true", "on", "yes", "enabled", ""))
_OFF = frozenset(("0", "f", "false", "off", "no", "disabled"))


@dataclass(frozen=True, slots=True)
class RedactionSwitch:
    is_on: bool = True
    warning: str = ""
    """A sentence where redaction is off, or where the value has no known meaning."""


def read_redaction_switch(environment: Mapping[str, str]) -> RedactionSwitch:
    """Redaction is on unless the variable switches it off; case does not matter."""
    value = environment.get(VARIABLE, "").strip()
    if value.lower() in _OFF:
        return RedactionSwitch(False, f"{VARIABLE}={value} turns redaction off: nothing is redacted.")
    if value.lower() in _ON:
        return RedactionSwitch()
    return RedactionSwitch(True, f"{VARIABLE} is “{visible(value[:40])}”, which is neither true nor false: redaction is on.")
