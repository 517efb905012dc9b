"""Deletes discarded drafts after their time, with all that only they held."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from chainviz.drafts.models import Draft, DraftQuerySet
from chainviz.store.history import drafts as store
from chainviz.store.models import Draft as StoreDraft
from chainviz.store.purge.garbage import collect_all

KEPT_DAYS = 7
"""How long a discarded draft can be restored."""


def collect_discarded() -> None:
    """A chore of the worker: deletes drafts that were discarded KEPT_DAYS ago, then what no draft reaches any more."""
    delete_drafts(Draft.objects.filter(discarded_at__lt=timezone.now() - timedelta(days=KEPT_DAYS)))
    collect_all()


@transaction.atomic
def delete_drafts(drafts: DraftQuerySet) -> None:
    """Deletes discarded drafts here and in the store; garbage collection removes what they wrote."""
    for draft in drafts.exclude(discarded_at=None).select_for_update():
        store.discard(StoreDraft.objects.get(pk=draft.key))
        draft.delete()
