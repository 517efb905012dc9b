"""Keep a working copy for good once something is done with it: an edit, a draft, a comment, label, review, share link,
an export with a record, a title or the bin. The tables of other apps show that, so they need not report it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from chainviz.chains.models import AuditEntry, Chain, WorkingCopy
from chainviz.chains.services import delete_for_good
from chainviz.store.models import Version

KEPT_FOR = timedelta(days=30)
"""How long a working copy is kept after it was last opened."""
_USED = ("threads", "labels", "review_requests", "review_verdicts", "drafts", "shares")
"""Rows of other apps that belong to a chain."""


def unused(copies: QuerySet[WorkingCopy]) -> QuerySet[WorkingCopy]:
    """Select those with which nobody has done anything yet."""
    chain = OuterRef("chain")
    edits = Version.objects.filter(history=OuterRef("chain__history")).exclude(snapshot__operation="")
    used = Q(Exists(edits)) | Q(Exists(AuditEntry.objects.filter(chain_key=chain)))
    for name in _USED:
        table: Any = Chain._meta.get_field(name).related_model
        used |= Q(Exists(table._default_manager.filter(chain=chain)))
    # as Exists, since SQLite would join from all chains to the few copies
    untitled = Chain.objects.in_library().exclude(titled_by=Chain.TitledBy.PERSON).filter(pk=chain)
    return copies.filter(Exists(untitled), is_kept=False).exclude(used)


def collect() -> int:
    """Delete working copies that nobody has opened for a while nor done anything with. Returns how many. Called once an hour."""
    copies = WorkingCopy.objects.filter(is_kept=False)
    WorkingCopy.objects.filter(pk__in=copies.values("pk")).exclude(pk__in=unused(copies).values("pk")).update(is_kept=True)
    old = list(unused(copies).filter(opened_at__lt=timezone.now() - KEPT_FOR).select_related("chain"))
    for copy in old:
        delete_for_good(copy.chain)
    return len(old)


def keep(chains: QuerySet[Chain]) -> int:
    """Keep chains for good that were working copies. Returns how many were working copies until now."""
    return WorkingCopy.objects.filter(chain__in=chains, is_kept=False).update(is_kept=True)
