"""The health of a row: one column for everything that may be wrong. The worst fact wins."""

from __future__ import annotations

from dataclasses import dataclass

from chainviz.core.counts import count_text


@dataclass(frozen=True, slots=True)
class HealthView:
    state: str
    icon: str
    text: str


def health_view(health: str, problems: int, secrets: int, *, is_read: bool = True) -> HealthView:
    """Return the health of a row. `problems` are errors for which its own API would refuse the next request."""
    if health == "refused":
        return HealthView("problem", "problem", count_text(problems, "problem"))
    if secrets:
        return HealthView("secret", "shield", count_text(secrets, "secret"))
    if health == "accepted":
        return HealthView("ok", "ok", "accepted")
    if health == "failed":
        return HealthView("quiet", "failed", "cannot be read")
    if health == "part":
        return HealthView("quiet", "info", "not fully checked")
    return HealthView("quiet", "clock", "not read yet" if not is_read else "not checked")
