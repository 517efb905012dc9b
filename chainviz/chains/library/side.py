"""What stands at the side of the library: its parts with their counts, folders and saved filters; and how large it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.db.models import Count, Max, Q, Sum
from django.http import HttpRequest

from chainviz.accounts.models import Membership, member_of
from chainviz.chains.folders.chain_folders import ChainFolders
from chainviz.chains.library.filter import DEFAULT_ORDER, Filter
from chainviz.chains.library.fitting import with_open_draft
from chainviz.chains.library.saved_filters import filters_of
from chainviz.chains.models import Chain


def counts(member: Membership) -> dict[str, int]:
    """Of the chains of the person's team. `newest`: the key of the one that was added last."""
    mine, is_kept = Chain.objects.visible_to(member), Q(trashed_at=None)
    found = mine.aggregate(
        chains=Count("pk", filter=is_kept),
        bytes=Sum("size", filter=is_kept, default=0),
        with_problems=Count("pk", filter=is_kept & (Q(problems__gt=0) | Q(warnings__gt=0))),
        binned=Count("pk", filter=~is_kept),
        newest=Max("pk", default=0),
    )
    return found | {"drafted": with_open_draft(mine.in_library(), member.user).count()}


def side(request: HttpRequest, wanted: Filter, folders: ChainFolders) -> dict[str, Any]:
    member = member_of(request)
    return {
        "shows_drafts": replace(wanted, order=DEFAULT_ORDER) == Filter(only_drafts=True),
        "folders": folders.counted(),
        "saved_filters": filters_of(member),
    }
