"""Turns the ids of an address into a draft and what it changes. Unknown and forbidden are both 404."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse

from chainviz.chains.access import chain_for
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.drafts.stored import snapshot_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Version
from chainviz.web.query_params import small_number


@dataclass(frozen=True)
class Ground:
    """What a change is made on: a version, or a draft as it stands now."""

    chain: Chain
    version: Version
    """The version, or the draft's base."""
    draft: Draft | None
    stored: StoredChain

    def __post_init__(self) -> None:
        # read before any content is: see `edition`
        assert self.edition >= 0

    @property
    def edition(self) -> int:
        """Of the history when this was read. A purge makes another: what was read before it may not be written after it."""
        return self.stored.snapshot.history.edition

    @property
    def query(self) -> str:
        """How an address names it."""
        return f"?draft={self.draft.pk}" if self.draft else f"?v={self.version.number}"

    @property
    def words(self) -> str:
        if self.draft:
            return "in your draft"
        newest = "" if self.version.number == self.chain.version else f", not of the newest: version {self.chain.version}"
        return f"of version {self.version.number}{newest}"

    @property
    def seen(self) -> str:
        """Names the content that a form was made for."""
        return bytes(self.stored.snapshot.digest).hex()

    @property
    def explorer(self) -> str:
        if self.draft:
            return reverse("drafts:explore_version", args=[self.chain.pk, self.draft.pk])
        return reverse("chains:version", args=[self.chain.pk, self.version.number])

    @property
    def back(self) -> tuple[str, str]:
        """Address and words of the way back."""
        if self.draft:
            return reverse("drafts:draft", args=[self.chain.pk, self.draft.pk]), "The draft"
        return self.explorer, f"Version {self.version.number}"

    @cached_property
    def is_head(self) -> bool:
        return self.version.number == self.chain.version


def draft_for(request: HttpRequest, chain_id: int, draft_id: int) -> Draft:
    """An open draft of the person's own, or one that was discarded and can be brought back."""
    chain = chain_for(request, chain_id)
    return get_object_or_404(Draft.objects.visible_to(request.user).filter(chain=chain), pk=draft_id)


def open_draft_for(request: HttpRequest, chain_id: int, draft_id: int) -> Draft:
    draft = draft_for(request, chain_id, draft_id)
    if draft.discarded_at is not None or draft.saved_as is not None:
        raise Http404
    return draft


def version_of(chain: Chain, number: int) -> Version:
    found = Version.objects.select_related("snapshot")
    return get_object_or_404(found, history=chain.history, number=number)


def ground_of(request: HttpRequest, chain_id: int) -> Ground:
    """`?draft=7`, or `?v=3`, or the newest version."""
    draft_id = small_number(request.GET.get("draft", ""))
    if draft_id is not None:
        draft = open_draft_for(request, chain_id, draft_id)
        return Ground(draft.chain, version_of(draft.chain, draft.base), draft, StoredChain(snapshot_of(draft)))
    chain = chain_for(request, chain_id)
    version = version_of(chain, small_number(request.GET.get("v", "")) or chain.version)
    return Ground(chain, version, None, StoredChain(version.snapshot))


def draft_subject(request: HttpRequest, chain_id: int, draft_id: int) -> Subject:
    """The draft as it stands now, for the pages of the explorer."""
    draft = open_draft_for(request, chain_id, draft_id)
    base_url = reverse("drafts:explore_version", args=[chain_id, draft.pk])
    return Subject(
        draft.chain, snapshot_of(draft), "Draft", base_url, f"draft={draft.pk}", is_head=True, draft_id=draft.pk
    )
