"""What fsck finds, and a guard that makes a finding of whatever cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    severity: Literal["error", "note"]
    text: str


def guarded(what: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Damaged bytes may break any reader; that is a finding, not a crash."""
    try:
        yield from findings
    except Exception as error:
        yield Finding("error", f"{what} cannot be read: {type(error).__name__}: {error}")
