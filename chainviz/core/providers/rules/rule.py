"""A rule of a provider, as a value."""

from __future__ import annotations

import re
from dataclasses import KW_ONLY, dataclass

from chainviz.core.chain.problems import Severity

ALL_MODELS = "all models"
VARIABLE = re.compile(r"\{[a-z_]+\}")
"""A part of a sentence that differs from request to request, such as `{id}` or `{index}`."""


def rule_anchor(provider: str, rule: str) -> str:
    """Return the fragment of the help page about provider rules that leads to a rule of a provider."""
    return f"{provider.replace('.', '-')}-{rule}"


@dataclass(frozen=True, slots=True)
class Rule:
    """error: certainly rejected; warning: depends on model, version or server; info: odd but legal; unchecked: nobody here
    knows, so the chain is not fully checked."""

    id: str
    severity: Severity
    says: str
    """The API's own sentence, with a VARIABLE for each part that differs between requests; "" for an info without one."""
    source: str
    """Page, issue or recorded request that the sentence is known from."""
    fixes: tuple[str, ...] = ()
    """Names of repairs, the smallest first; where a finding of the tree brings its own, or none helps (without_fix.py), none."""
    _: KW_ONLY
    models: str
    """The models that the rule holds for, in words; ALL_MODELS for an API that treats all alike."""
    since: str
    """Month (YYYY-MM) from which the API is known to refuse this, or the documentation says so."""
    checked: str
    """Day (YYYY-MM-DD) on which the rule was last compared with its source."""
    note: str = ""
    """When the API refuses it although the sentence does not say so, or why it is accepted: a clause without a full stop."""

    @property
    def quote(self) -> str:
        """The API's sentence for people: variable parts are an ellipsis."""
        return VARIABLE.sub("…", self.says)
