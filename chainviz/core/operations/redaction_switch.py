"""The environment's switch STREAM_REDACTION_ENABLED (seed 4): read here for web, command line and Python alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chainviz.core.terminal import visible

VARIABLE = "STREAM_REDACTION_ENABLED"
ON = ("", "true", "t", "1", "on", "yes", "enabled")
OFF = ("false", "f", "0", "off", "no", "disabled")
"""Spellings, each also in capitals or with one. Every other value leaves redaction on: it protects."""


@dataclass(frozen=True, slots=True)
class RedactionSwitch:
    is_on: bool = True
    warning: str = ""
    """A sentence where redaction is off, or where the value has no known meaning."""


def read_redaction_switch(environment: Mapping[str, str]) -> RedactionSwitch:
    """Read the switch. Redaction is on unless the value is one of `OFF`, without white space around it."""
    value = environment.get(VARIABLE, "")
    if value in _spellings(OFF):
        return RedactionSwitch(False, f"{VARIABLE}={value} turns redaction off: nothing is redacted.")
    if value in _spellings(ON):
        return RedactionSwitch()
    return RedactionSwitch(True, f"{VARIABLE} is “{visible(value[:40])}”, which is neither true nor false: redaction is on.")


def _spellings(words: Iterable[str]) -> set[str]:
    return {spelling for word in words for spelling in (word, word.capitalize(), word.upper())}
