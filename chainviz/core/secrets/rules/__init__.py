"""All rules of the product, in the order of their claim: where two match the same characters, the earlier one has them.

`rule` says what a rule is, `checks` what a pattern cannot say; then one file a group of rules, and `own_rules` and `own_words` of a person.
"""

from __future__ import annotations

from chainviz.core.secrets.rules.credentials import CREDENTIALS
from chainviz.core.secrets.rules.personal import PERSONAL
from chainviz.core.secrets.rules.rule import Rule
from chainviz.core.secrets.rules.service_keys import PROVIDER_KEYS
from chainviz.core.secrets.rules.tool_syntax import TOOL_SYNTAX

RULES: tuple[Rule, ...] = (CREDENTIALS[0], *PROVIDER_KEYS, *TOOL_SYNTAX, *CREDENTIALS[1:], *PERSONAL)
SECRETS: tuple[Rule, ...] = tuple(rule for rule in RULES if rule.group == "secret")


def get_rule(name: str) -> Rule | None:
    return next((rule for rule in RULES if rule.name == name), None)
