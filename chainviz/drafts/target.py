"""The target of a change, from an address or from the arguments of a job. Unknown and forbidden targets both give 404."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import Http404, HttpRequest
from django.urls import reverse

from chainviz.accounts.models import Membership, User, member_of, person_of
from chainviz.chains.access import chain_for, version_of
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.models import Chain
from chainviz.chains.usage import ContextWindow, recorded_window
from chainviz.core.chain.paths import Path
from chainviz.core.errors import Refused
from chainviz.drafts.models import Draft
from chainviz.drafts.stored_draft import DraftGone, snapshot_of, steps_of
from chainviz.jobs.models import Job
from chainviz.store.content.chain import StoredChain, chain_of
from chainviz.store.models import Version
from chainviz.store.outline.build import outline_of
from chainviz.store.prepared_query import PreparedQuery
from chainviz.web.http import small_number


class MovedOn(Refused):
    """Raised if the draft's content has changed since a form was made."""


@dataclass(frozen=True)
class Target:
    """A version or the current draft, and the person who changes it."""

    chain: Chain
    version: Version
    """The version, or the draft's base."""
    draft: Draft | None
    stored: StoredChain
    person: User
    position: int | None = None
    """The position of the step that the change replaces; None if it adds a step."""

    def __post_init__(self) -> None:
        _ = self.edition  # reads it before any content is read

    @property
    def edition(self) -> int:
        """The edition of the history at the time of reading. A purge makes a new one: what was read before it may not
        be written after it."""
        return self.stored.snapshot.history.edition

    @property
    def query(self) -> str:
        """The query string that identifies the target in an address."""
        return f"?draft={self.draft.pk}" if self.draft else f"?v={self.version.number}"

    @property
    def words(self) -> str:
        if self.draft:
            return "in your draft"
        newest = "" if self.version.number == self.chain.version else f", not of the newest: version {self.chain.version}"
        return f"of version {self.version.number}{newest}"

    @property
    def seen(self) -> str:
        """Identifies the content that a form was made for."""
        return bytes(self.stored.snapshot.digest).hex()

    @property
    def explorer(self) -> str:
        if self.draft:
            return reverse("drafts:explore_version", args=[self.chain.pk, self.draft.pk])
        return reverse("chains:version", args=[self.chain.pk, self.version.number])

    def address_of(self, path: Path) -> str:
        """Return the address at which the explorer shows this part."""
        return f"{self.explorer}at/{path}#{path.node.dom_id}"

    @property
    def subject(self) -> Subject:
        """The content of the target, for pages of the explorer."""
        title = "Draft" if self.draft else f"Version {self.version.number}"
        return Subject(self.chain, self.stored.snapshot, title, self.explorer, self.query.removeprefix("?"))

    @property
    def content(self) -> list[int]:
        """The values of `seen` as numbers, because the arguments of a job are JSON."""
        return [self.stored.snapshot.pk, self.edition]

    @property
    def job_args(self) -> dict[str, Any]:
        """The job arguments from which `target_of_job` restores this target."""
        draft = self.draft.pk if self.draft else None
        args = {"chain": self.chain.pk, "version": self.version.number, "draft": draft, "seen": self.content}
        return args if self.position is None else {**args, "position": self.position}

    @property
    def back(self) -> tuple[str, str]:
        """The address and the label of the link back."""
        if self.draft:
            return reverse("drafts:draft", args=[self.chain.pk, self.draft.pk]), "The draft"
        return self.explorer, f"Version {self.version.number}"

    @cached_property
    def context_window(self) -> ContextWindow | None:
        return recorded_window(outline_of(self.stored.snapshot))

    @cached_property
    def is_head(self) -> bool:
        return self.version.number == self.chain.version


_own_draft = PreparedQuery(
    lambda person, team, chain, draft: (
        Draft.objects.visible_to(person)
        .filter(pk=draft, chain__in=Chain.objects.visible_to(Membership(team_id=team)).in_library().filter(pk=chain))
        .select_related("chain__local_file")
    )
)


def draft_for(request: HttpRequest, chain_id: int, draft_id: int) -> Draft:
    """Return the person's own draft, open or discarded. Raises 404 for any other draft."""
    person = person_of(request)
    found = _own_draft(person.pk, member_of(request).team_id, chain_id, draft_id)
    if not found:
        raise Http404("No draft matches the address.")
    found[0].author = person
    return found[0]


def open_draft_for(request: HttpRequest, chain_id: int, draft_id: int) -> Draft:
    """Return the open draft. Raises DraftGone if it was saved or discarded."""
    return _open(draft_for(request, chain_id, draft_id))


def _open(draft: Draft) -> Draft:
    if draft.discarded_at is not None or draft.saved_as is not None:
        raise DraftGone(draft.chain, draft)
    return draft


def target_of(request: HttpRequest, chain_id: int) -> Target:
    """Return the target of an address: `?draft=7`, `?v=3`, or the newest version."""
    draft_id = small_number(request.GET.get("draft", ""))
    if draft_id is not None:
        try:
            draft = draft_for(request, chain_id, draft_id)
        except Http404:
            chain = chain_for(request, chain_id)
            if request.method == "POST" and not Draft.objects.filter(pk=draft_id).exists():
                raise DraftGone(chain) from None
            raise
        return target_of_draft(_open(draft))
    chain = chain_for(request, chain_id)
    number = small_number(request.GET.get("v", "")) or chain.version
    return target_of_version(chain, number, person_of(request))


def target_of_draft(draft: Draft, position: int | None = None) -> Target:
    """Return the current draft as a target, or its state before the step at `position`."""
    version, steps = draft.stored.base, steps_of(draft)
    place = steps.cursor if position is None else min(position, steps.cursor)
    snapshot = steps.all[place - 1].snapshot if place else version.snapshot
    snapshot.history = draft.stored.history
    replaced = position if position is not None and position < steps.cursor else None
    return Target(draft.chain, version, draft, chain_of(snapshot), draft.author, replaced)


def target_of_version(chain: Chain, number: int, person: User) -> Target:
    version = version_of(chain, number)
    return Target(chain, version, None, chain_of(version.snapshot), person)


def target_of_job(job: Job) -> Target:
    """Return the target of a job. Raises MovedOn if the content has changed since the job started, or Refused if it was deleted."""
    args = job.args
    if args["draft"] is not None:
        draft = Draft.objects.open().filter(pk=args["draft"], chain=args["chain"]).first()
        if draft is None:
            raise Refused("The draft was saved or discarded meanwhile.")
        target = target_of_draft(draft, args.get("position"))
    else:
        chain = Chain.objects.filter(pk=args["chain"]).first()
        if chain is None or job.owner is None:
            raise Refused("The chain was deleted permanently meanwhile.")
        target = target_of_version(chain, args["version"], job.owner)
    if target.content != args["seen"]:
        raise MovedOn("The content changed after this was requested. Check it again.")
    return target


def draft_subject(request: HttpRequest, chain_id: int, draft_id: int) -> Subject:
    """Return the current draft, for pages of the explorer."""
    draft = open_draft_for(request, chain_id, draft_id)
    base_url = reverse("drafts:explore_version", args=[chain_id, draft.pk])
    return Subject(
        draft.chain,
        snapshot_of(draft),
        "Draft",
        base_url,
        f"draft={draft.pk}",
        is_head=True,
        draft=draft,
        base=draft.stored.base,
        permissions=member_of(request).permissions,
        person=person_of(request),
    )
