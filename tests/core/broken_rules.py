"""The rules of a provider that a chain breaks."""

from __future__ import annotations

import chainviz


def broken_rules(chain: chainviz.Chain, provider: str) -> list[str]:
    """Return the rule and severity of each error and warning."""
    problems = [each for each in chain.problems(provider) if each.provider and each.severity in ("error", "warning")]
    return [f"{each.rule} {each.severity}" for each in problems]
