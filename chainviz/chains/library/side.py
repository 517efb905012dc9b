"""What stands at the side of the library: its parts with their counts, folders and saved filters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import HttpRequest

from chainviz.accounts.models import member_of, person_of
from chainviz.chains.folders.chain_folders import ChainFolders
from chainviz.chains.library.filter import DEFAULT_ORDER, Filter
from chainviz.chains.library.fitting import with_open_draft
from chainviz.chains.library.saved_filters import filters_of
from chainviz.chains.models import Chain


def side(request: HttpRequest, wanted: Filter, folders: ChainFolders) -> dict[str, Any]:
    member = member_of(request)
    mine = Chain.objects.visible_to(member)
    kept = mine.in_library()
    return {
        "chains": kept.count(),
        "binned": mine.in_bin().count(),
        "drafted": with_open_draft(kept, person_of(request)).count(),
        "shows_drafts": replace(wanted, order=DEFAULT_ORDER) == Filter(only_drafts=True),
        "folders": folders.counted(),
        "saved_filters": filters_of(member),
    }
