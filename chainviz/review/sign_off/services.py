"""Signing off: the rules are checked once more, the file is digested, and a row is written that nobody can change."""

from __future__ import annotations

from hashlib import sha256

from django.db import transaction
from django.utils import timezone

from chainviz.accounts.audit.record import record
from chainviz.accounts.models import Membership, Team
from chainviz.chains.models import Chain
from chainviz.core.errors import Refused
from chainviz.review.fsck import SIGNED
from chainviz.review.models import SignOff
from chainviz.review.requests.services import review_lock
from chainviz.review.requests.standing import standing_of
from chainviz.review.sign_off.facts import facts_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import pack
from chainviz.store.models import Snapshot, Version
from chainviz.store.transfer import exports


def sign_off(chain: Chain, version: int, *, by: Membership) -> SignOff:
    """Signs the newest version off. Raises Refused where it is no longer the newest, or does not meet every rule."""
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
    return row


def _digest(snapshot: Snapshot) -> tuple[str, int]:
    digest, size = sha256(), 0
    for piece in exports.export(snapshot):
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size


def next_number(team: Team) -> int:
    """Sign-offs and certificates of a team are numbered together; the team's row is locked."""
    return SignOff.objects.filter(team=team).count() + 1
