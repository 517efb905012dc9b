"""What the providers would say of a chain, as the few words that fit into a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chainviz.core.providers import PROVIDERS
from chainviz.core.providers.contract import Provider


@dataclass(frozen=True, slots=True)
class Verdict:
    text: str
    is_ok: bool


def verdicts_of(errors: Mapping[str, int]) -> tuple[Verdict, ...]:
    """Who rejects it, each by name, then who takes it. Providers that were not asked are left out."""
    asked = [provider for provider in PROVIDERS if provider.name in errors]
    rejecting = [provider for provider in asked if errors[provider.name]]
    taking = [provider for provider in asked if not errors[provider.name]]
    said = [Verdict(f"{short_name(provider)} rejects {errors[provider.name]}", is_ok=False) for provider in rejecting]
    if taking:
        said.append(Verdict(f"{_names(taking, rejecting)} ok", is_ok=True))
    return tuple(said)


def _names(taking: list[Provider], rejecting: list[Provider]) -> str:
    if len(taking) <= 2:
        return ", ".join(map(short_name, taking))
    return f"{len(taking)} others" if rejecting else f"all {len(taking)}"


def short_name(provider: Provider) -> str:
    """The company where that is enough to tell its API from the others."""
    company = provider.label.split()[0]
    same = [other for other in PROVIDERS if other.label.split()[0] == company]
    return company if len(same) == 1 else provider.label
