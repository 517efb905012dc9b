"""The environment's switch STREAM_REDACTION_ENABLED (seed 4): whoever starts the program passes the value in."""

from __future__ import annotations

from dataclasses import dataclass

from chainviz.core.terminal import visible

VARIABLE = "STREAM_REDACTION_ENABLED"
_ON = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_OFF = frozenset(("0", "f", "F", "false", "FALSE", "False"))


@dataclass(frozen=True, slots=True)
class Switch:
    on: bool
    warning: str = ""
    """Why it is on although nobody said so; "" where the value is a clear one."""


def read_switch(value: str | None) -> Switch:
    """Only what Go takes for a boolean counts; unset or anything else leaves redaction on."""
    if value is None:
        return Switch(True, f"{VARIABLE} is not set: redaction is on.")
    if value in _ON or value in _OFF:
        return Switch(value in _ON)
    return Switch(True, f"{VARIABLE} is “{visible(value[:40])}”, which is neither true nor false: redaction is on.")
