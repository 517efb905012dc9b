"""All rules of the product, in the order of their claim: where two match the same characters, the earlier one has them."""

from __future__ import annotations

from chainviz.core.secrets.credentials import CREDENTIALS
from chainviz.core.secrets.personal import PERSONAL
from chainviz.core.secrets.provider_keys import PROVIDER_KEYS
from chainviz.core.secrets.rule import Rule

RULES: tuple[Rule, ...] = (CREDENTIALS[0], *PROVIDER_KEYS, *CREDENTIALS[1:], *PERSONAL)
SECRETS: tuple[Rule, ...] = tuple(rule for rule in RULES if rule.group == "secret")


def get_rule(name: str) -> Rule | None:
    return next((rule for rule in RULES if rule.name == name), None)
