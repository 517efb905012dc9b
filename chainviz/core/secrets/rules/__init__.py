"""All rules of the product, in order of precedence: if two match the same characters, the earlier one wins.

In reading order: `rule` (the contract), then one file a group of rules: `credentials`, `service_keys`.
"""

from __future__ import annotations

from chainviz.core.secrets.rules.credentials import CREDENTIALS, PERSONAL, TOOL_SYNTAX
from chainviz.core.secrets.rules.rule import Rule
from chainviz.core.secrets.rules.service_keys import PROVIDER_KEYS

RULES: tuple[Rule, ...] = (CREDENTIALS[0], *PROVIDER_KEYS, *TOOL_SYNTAX, *CREDENTIALS[1:], *PERSONAL)
SECRETS: tuple[Rule, ...] = tuple(rule for rule in RULES if rule.group == "secret")


def get_rule(name: str) -> Rule | None:
    return next((rule for rule in RULES if rule.name == name), None)
