"""A rule of a provider, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from chainviz.core.chain.problems import Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """error: certainly rejected; warning: depends on model, version or server; info: odd but legal; unchecked: nobody here
    knows, so the chain is not fully checked."""

    id: str
    severity: Severity
    says: str
    """The API's own error text, as far as it is the same for every chain."""
    source: str
    fixes: tuple[str, ...] = ()
    """Names of repairs, the smallest first; where a finding of the tree brings its own, or none helps (without_fix.py), none."""
