"""Verdicts as pages show them: state, icon and words of one, and the few words for a row or a header.

Problems are counted by who finds them: problems of the structure, and the errors and warnings of each provider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chainviz.chains.render.numbers import count_text
from chainviz.core.providers import PROVIDERS
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.verdict import State, Verdict, verdict_from

_LOOKS: dict[State, tuple[str, str]] = {
    "rejected": ("problem", "failed"),
    "unchecked": ("quiet", "info"),
    "accepted": ("ok", "ok"),
}
"""Colour and icon."""


@dataclass(frozen=True, slots=True)
class VerdictView:
    state: str
    icon: str
    text: str


def verdict_view(verdict: Verdict) -> VerdictView:
    """`accepted`, `accepted, 2 warnings`, `4 errors` or `not fully checked`."""
    if verdict.state == "accepted" and verdict.warnings:
        warnings = f"{verdict.warnings:,} warning{'s' if verdict.warnings > 1 else ''}"
        return VerdictView("changed", "info", f"accepted, {warnings}")
    return VerdictView(*_LOOKS[verdict.state], verdict.text)


def verdicts_by_provider(counts: Mapping[str, Sequence[int]]) -> dict[Provider, Verdict]:
    """`counts`: problems by provider's name, as an outline has them; a provider without problems is left out there."""
    return {provider: verdict_from(counts.get(provider.name, ())) for provider in PROVIDERS}


def own_and_others(counts: Mapping[str, Sequence[int]], format: str) -> tuple[dict[Provider, Verdict], VerdictView]:
    """The verdicts of the providers with whose API chains of this format are made, and in a few words those of all."""
    found = verdicts_by_provider(counts)
    accepting = sum(verdict.state == "accepted" for verdict in found.values())
    if accepting == len(found):
        all_said = VerdictView("ok", "ok", f"accepted by all {accepting}")
    elif not accepting and any(verdict.state == "unchecked" for verdict in found.values()):
        all_said = VerdictView("quiet", "info", "not fully checked")
    else:
        all_said = VerdictView("quiet", "info", f"accepted by {accepting} of {len(found)}")
    return {provider: verdict for provider, verdict in found.items() if provider.is_of(format)}, all_said


def is_fully_read(counts: Mapping[str, Sequence[int]]) -> bool:
    """Whether nothing of the chain's document was left unread. `counts`: problems by provider's name; those of the structure have none."""
    return not verdict_from(counts.get("", ())).unchecked


def structure_text(problems: int) -> str:
    """`3 structure problems` or `structure valid`. Errors of a provider are counted in its verdict, never here."""
    return count_text(problems, "structure problem") if problems else "structure valid"


def short_name(provider: Provider) -> str:
    """The company where that is enough to tell its API from the others."""
    same = [other for other in PROVIDERS if other.speaker == provider.speaker]
    return provider.speaker if len(same) == 1 else provider.label
