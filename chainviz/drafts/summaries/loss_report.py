"""The loss report of one summary, as it is kept beside its text, and how a lost fact gets back into it."""

from __future__ import annotations

from typing import Any

from chainviz.core.operations.summarize import Piece, losses
from chainviz.core.operations.summarize.facts import KINDS

MOST_KEPT = 50
"""Of each kind; the report says how many more there are."""


def losses_of(piece: Piece, summary: str) -> dict[str, Any]:
    """Reads what is folded. {"shares": [[kind, found, kept]], "lost": [[kind, text, path]], "complete"}"""
    material = piece.read()
    report = losses(material.messages or material.humans, summary, material.places)
    counts: dict[str, int] = {}
    lost = []
    for loss in report.losses:
        counts[loss.kind] = counts.get(loss.kind, 0) + 1
        if counts[loss.kind] <= MOST_KEPT:
            lost.append([loss.kind, loss.text, str(loss.path or "")])
    shares = [[share.kind, share.found, share.kept] for share in report.shares]
    return {"shares": shares, "lost": lost, "complete": report.complete}


def with_facts(text: str, kind: str, facts: list[str]) -> str:
    """The summary with lost facts at its end, those of a kind in one line, where the extractive writer puts them too."""
    label = KINDS[kind]  # type: ignore[index]
    heading = f"{label[0].upper()}{label[1:]}:"
    lines = text.rstrip().split("\n")
    for place, line in enumerate(lines):
        if line.casefold().startswith(f"{heading} ".casefold()):
            lines[place] = ", ".join([line.rstrip(), *facts])
            return "\n".join(lines)
    return "\n".join([*lines, f"{heading} {', '.join(facts)}"]).lstrip("\n")
