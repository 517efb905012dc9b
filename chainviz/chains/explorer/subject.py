"""The subject of the explorer: one content of a chain (a version or a draft), and the addresses of its pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Model

from chainviz.accounts.models import User
from chainviz.accounts.permissions import OWNER, Permission
from chainviz.chains.models import Chain
from chainviz.store.content.chain import StoredChain, chain_of
from chainviz.store.lineage import written_messages
from chainviz.store.models import Outline, Snapshot, Version
from chainviz.store.outline.build import outline_of
from chainviz.web.http import url_or_nothing


@dataclass(frozen=True)
class Subject:
    """Explorer views are functions of it, so that versions and drafts share them."""

    chain: Chain
    snapshot: Snapshot
    title: str
    """"Version 3" or "Draft"."""
    base_url: str
    """Ends with a slash; every page of the explorer lies below it."""
    edit_query: str
    """v=3 or draft=7: what an edit of a node starts from."""
    is_head: bool = True
    version: int | None = None
    draft: Model | None = None
    """The row of drafts.Draft whose content it is; for the pages that drafts add."""
    base: Version | None = None
    """What a draft changes."""
    permissions: frozenset[Permission] = OWNER
    """Of the person who looks at it: no page is offered that their role does not allow."""
    person: User | None = None
    overview: bytes | None = None
    """What the query of the snapshot has read of its overview (overview.py)."""

    def change_url(self, name: str, *args: object) -> str:
        """Returns the address of a page that changes this content; "" for a person who may not."""
        url = url_or_nothing(name, self.chain.pk, *args) if "draft" in self.permissions else ""
        return f"{url}?{self.edit_query}" if url else ""

    @cached_property
    def outline(self) -> Outline:
        return outline_of(self.snapshot)

    @cached_property
    def changed(self) -> Sequence[range]:
        """The messages that a draft has changed, in order."""
        return written_messages(self.base.snapshot, self.snapshot) if self.base is not None else ()

    @cached_property
    def stored(self) -> StoredChain:
        return chain_of(self.snapshot)
