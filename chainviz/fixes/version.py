"""Save the fix of a session as the next version of its chain in one step. The session in its agent's store does not change."""

from __future__ import annotations

from django.db import transaction
from django.http import HttpRequest

from chainviz.accounts.models import member_of, person_of
from chainviz.chains.models import Chain
from chainviz.chains.verdicts import provider_of
from chainviz.core.errors import Refused
from chainviz.core.operations import operation_named
from chainviz.core.operations.execute import read_options
from chainviz.core.providers.contract import Provider
from chainviz.drafts import services
from chainviz.drafts.operations.run import changing, is_long
from chainviz.drafts.stored_draft import steps_of
from chainviz.drafts.target import target_of_version
from chainviz.fixes.fix import repair_options

NOTE = "Fixed for resuming"


def save_version(request: HttpRequest, chain: Chain, provider: Provider | None, only: str) -> int:
    """Save the fix and return the number of the new version. Raises Refused if the person may not save, or has a draft of the chain."""
    person = person_of(request)
    if not member_of(request).may("save"):
        raise Refused("Your role does not allow new versions.")
    begun = services.open_draft(chain, person, chain.version)
    if begun is not None and steps_of(begun).all:
        raise Refused("You have an open draft of this version; save or discard it first.")
    target = target_of_version(chain, chain.version, person)
    if is_long(target.stored):
        raise Refused("This chain is long; fix it on the page Repair, which works in the background.")
    repair = operation_named("repair")
    assert repair is not None
    options = read_options(repair, repair_options(provider or provider_of(target.stored), only))
    with changing(target, repair, options) as draft:
        pass
    with transaction.atomic():
        return services.save(draft, note=NOTE, by=person).number
