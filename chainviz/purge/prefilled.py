"""What the purge page begins with after masking: the values that were masked, read from the version before."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404

from chainviz.chains.exports.removed_values import removed_from
from chainviz.chains.models import Chain
from chainviz.chains.render.numbers import count_text
from chainviz.purge.requested_values import MOST_VALUES, SHORTEST
from chainviz.store.models import Version

ARMOUR = "-----"
"""Begins the first and the last line of a key: the same in all of them."""


@dataclass(frozen=True, slots=True)
class Prefilled:
    values: str
    """One a line."""
    note: str


def prefilled(chain: Chain, number: int) -> Prefilled:
    """The values that the steps up to a version masked. Raises 404 for an unknown version, Refused where they cannot be known."""
    version = Version.objects.select_related("snapshot").filter(history=chain.history, number=number).first()
    if version is None:
        raise Http404
    removed = removed_from(version.snapshot)
    masked = removed.values
    lines = dict.fromkeys(line.strip("\r") for value in masked for line in value.split("\n") if not line.startswith(ARMOUR))
    fitting = [line for line in lines if len(line.strip()) >= SHORTEST]
    short = sum(bool(line.strip()) for line in lines) - len(fitting)
    left = max(0, len(fitting) - MOST_VALUES)
    were, filled = "was" if len(masked) == 1 else "were", " and filled in" if fitting else ""
    said = [f"{count_text(len(masked), 'value')} {were} masked up to version {number}{filled}."]
    if short:
        said.append(f"{count_text(short, 'value')} shorter than {SHORTEST} characters left out: earlier versions keep what is so short.")
    if left:
        said.append(f"{left:,} more do not fit: purge again afterwards.")
    none = f"What was masked up to version {number} is purged." if removed.purged else "No step of this version masked a value."
    return Prefilled("\n".join(fitting[:MOST_VALUES]), " ".join(said) if masked else none)
