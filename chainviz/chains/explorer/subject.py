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
    """The subject of a page. Views take a subject, so that versions and drafts share them."""

    chain: Chain
    snapshot: Snapshot
    title: str
    """"Version 3" or "Draft"."""
    base_url: str
    """The address below which all pages of the explorer are. It ends with a slash."""
    edit_query: str
    """The query that names the content for an edit: v=3 or draft=7."""
    is_head: bool = True
    version: int | None = None
    draft: Model | None = None
    """The key of the draft (drafts.Draft) with this content, for pages of the app drafts."""
    base: Version | None = None
    """The version that the draft changes."""
    permissions: frozenset[Permission] = OWNER
    """The permissions of the person. Pages that their role does not allow are not offered."""
    person: User | None = None
    edition: int | None = None
    """The edition of the history if what is drawn of a version may stay in memory (draw_once.py)."""
    overview: bytes | None = None
    """The stored overview, if the query of the snapshot has already read it (overview.py)."""

    def change_url(self, name: str, *args: object) -> str:
        """Return the address of a page that changes this content; "" if the person may not change it."""
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
