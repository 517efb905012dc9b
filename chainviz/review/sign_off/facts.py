"""What a sign-off keeps beside its columns: approvals, rules, what was taken out and what was searched; never content."""

from __future__ import annotations

from typing import Any

from chainviz.chains.audit.records import told, whereabouts
from chainviz.chains.models import AuditEntry, Chain
from chainviz.chains.render.numbers import count_text
from chainviz.core.secrets import RULES
from chainviz.review.models import Verdict
from chainviz.review.requests.standing import Standing
from chainviz.store.content.chain import StoredChain

UNSEARCHED = {"image": "image", "binary": "file", "opaque": "part of an unknown kind"}
"""Kinds of parts whose bytes no rule reads."""


def facts_of(standing: Standing, stored: StoredChain) -> dict[str, Any]:
    chain = standing.chain
    return {
        "messages": chain.messages,
        "content": chain.size,
        "needed": standing.rules.approvals,
        "approvals": [_approval(each) for each in standing.approvals],
        "checks": [[check.text, check.note, check.is_met, check.is_asked] for check in standing.checks],
        "removed": list(_removed(chain)),
        "patterns": len(RULES),
        "secrets": standing.secrets,
        "unsearched": unsearched_parts(stored),
    }


def _approval(verdict: Verdict) -> list[Any]:
    return [verdict.name, verdict.version, verdict.given_at.isoformat()]


def _removed(chain: Chain) -> list[list[str]]:
    """Redactions, masks and purges that are part of a version: name, sentence, where."""
    entries = AuditEntry.objects.filter(chain_key=chain.pk).prefetch_related("later").order_by("pk")
    kept = [each for each in entries if not each.draft_key or "saved_as" in each.record.get("became", {})]
    return [[told(each)[1], told(each)[2], whereabouts(each)] for each in kept]


def unsearched_parts(stored: StoredChain) -> list[str]:
    counts = dict.fromkeys(UNSEARCHED, 0)
    for shape in stored.shapes():
        for part in shape.parts:
            if part.kind in counts:
                counts[part.kind] += 1
    return [count_text(count, UNSEARCHED[kind], _plural(kind)) for kind, count in counts.items() if count]


def _plural(kind: str) -> str:
    return "parts of unknown kinds" if kind == "opaque" else ""
