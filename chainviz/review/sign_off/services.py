"""Signing off: the rules are checked once more, the file is digested, and a row is written that nobody can change."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from django.db import transaction
from django.utils import timezone

from chainviz.accounts.audit.record import record
from chainviz.accounts.models import Membership, Team
from chainviz.chains.audit import describe_entry, whereabouts
from chainviz.chains.models import AuditEntry, Chain
from chainviz.core.counts import count_text
from chainviz.core.errors import Refused
from chainviz.core.secrets import RULES
from chainviz.review.fsck import SIGNED
from chainviz.review.inbox.notices import version_signed_off
from chainviz.review.models import SignOff, Verdict
from chainviz.review.requests.services import review_lock
from chainviz.review.requests.standing import Standing, standing_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import pack
from chainviz.store.models import Snapshot, Version
from chainviz.store.transfer import exports


def sign_off(chain: Chain, version: int, *, by: Membership) -> SignOff:
    """Sign off the newest version. Raises Refused if it is no longer the newest, or does not meet every rule."""
    standing = standing_of(chain)
    if version != chain.version:
        raise Refused(f"Version {chain.version} exists; sign off that one.")
    if standing.sign_off is not None:
        raise Refused(f"Version {version} is already signed off.")
    if not standing.is_ready:
        unmet = ", ".join(check.text.lower() for check in standing.checks if check.is_asked and not check.is_met)
        raise Refused(f"The team's rules are not met: {unmet}.")
    snapshot = Version.objects.select_related("snapshot__history").get(history=chain.history, number=version).snapshot
    digest, size = _digest(snapshot)
    with transaction.atomic():
        # the file was read outside: what could have changed meanwhile is read again
        review_lock(chain)
        team = Team.objects.select_for_update().get(pk=chain.team_id)
        again = standing_of(Chain.objects.get(pk=chain.pk))
        edition = Snapshot.objects.values_list("history__edition", flat=True).get(pk=snapshot.pk)
        if (
            again.chain.version != version
            or edition != snapshot.history.edition
            or again.sign_off
            or not again.is_ready
        ):
            raise Refused("The chain or its review changed at this moment. Check it, then sign off again.")
        row = SignOff.objects.create(
            team=team,
            number=next_number(team),
            chain_key=chain.pk,
            version=version,
            edition=edition,
            who=by.user,
            who_name=by.user.display_name,
            at=timezone.now(),
            format=snapshot.format,
            sha256=digest,
            size=size,
            packed=pack({"role": by.role, **facts_of(again, StoredChain(snapshot))}),
        )
        record(team, by.user, SIGNED, chain=chain.pk, sign_off=row.number, version=version, sha256=digest, bytes=size)
        version_signed_off(chain, version, by.user)
    return row


def _digest(snapshot: Snapshot) -> tuple[str, int]:
    digest, size = sha256(), 0
    for piece in exports.export(snapshot):
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size


def next_number(team: Team) -> int:
    """Return the next number. Sign-offs and certificates of a team are numbered together; the team's row is locked."""
    return SignOff.objects.filter(team=team).count() + 1


# What a sign-off keeps beside its columns: approvals, rules, what was taken out and what was searched; never content.


UNSEARCHED = {"image": "image", "binary": "file", "opaque": "part of an unknown kind"}
"""Kinds of parts whose bytes are not searched."""


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
    """Return the redactions, masks and purges of a version: name, sentence, place."""
    entries = AuditEntry.objects.filter(chain_key=chain.pk).prefetch_related("later").order_by("pk")
    kept = [each for each in entries if not each.draft_key or "saved_as" in each.record.get("became", {})]
    return [[describe_entry(each)[1], describe_entry(each)[2], whereabouts(each)] for each in kept]


def unsearched_parts(stored: StoredChain) -> list[str]:
    counts = dict.fromkeys(UNSEARCHED, 0)
    for shape in stored.shapes():
        for part in shape.parts:
            if part.kind in counts:
                counts[part.kind] += 1
    return [count_text(count, UNSEARCHED[kind], _plural(kind)) for kind, count in counts.items() if count]


def _plural(kind: str) -> str:
    return "parts of unknown kinds" if kind == "opaque" else ""
