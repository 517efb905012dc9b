"""What a job works on, named so that a worker finds it again, and refuses it once it is another content."""

from __future__ import annotations

from typing import Any

from chainviz.chains.models import Chain
from chainviz.core.errors import Refused
from chainviz.drafts.models import Draft
from chainviz.drafts.services import MovedOn, ground_of_draft
from chainviz.drafts.target import Ground, version_of
from chainviz.jobs.models import Job
from chainviz.store.content.chain import StoredChain


def named(ground: Ground) -> dict[str, Any]:
    """The arguments of a job from which `ground_of_job` finds it."""
    draft = ground.draft.pk if ground.draft else None
    return {"chain": ground.chain.pk, "version": ground.version.number, "draft": draft, "seen": _content(ground)}


def _content(ground: Ground) -> list[int]:
    return [ground.stored.snapshot.pk, ground.edition]


def ground_of_job(chain: int, version: int, draft: int | None, seen: list[int]) -> Ground:
    ground = _ground(chain, version, draft)
    if _content(ground) != seen:
        raise MovedOn("The content changed since this was asked for; look at it again.")
    return ground


def _ground(chain: int, version: int, draft: int | None) -> Ground:
    if draft is not None:
        found = Draft.objects.open().filter(pk=draft, chain=chain).first()
        if found is None:
            raise Refused("The draft was saved or discarded meanwhile.")
        return ground_of_draft(found)
    row = Chain.objects.filter(pk=chain).first()
    if row is None:
        raise Refused("The chain was deleted for good meanwhile.")
    of = version_of(row, version)
    return Ground(row, of, None, StoredChain(of.snapshot))


def job_of(function: str, ground: Ground, user: Any, number: int | None = None, **args: Any) -> Job | None:
    """The person's job of that number in this chain, else the one of exactly this content that is under way; with these
    arguments among its own."""
    jobs = Job.objects.about(ground.chain).visible_to(user).filter(function=function)
    if number is None:
        jobs, args = jobs.unfinished(), {**args, "seen": _content(ground)}
    else:
        jobs = jobs.filter(pk=number)
    return next((job for job in jobs if args.items() <= job.args.items()), None)
