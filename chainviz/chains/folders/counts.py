"""How many chains came from the folders that are listed."""

from __future__ import annotations

from chainviz.accounts.models import Membership
from chainviz.chains.folders.choose_folders import Watched, watched
from chainviz.chains.folders.scan import lists
from chainviz.chains.models import ChainQuerySet


def counted(member: Membership, chains: ChainQuerySet) -> list[tuple[Watched, int]]:
    """The folders that the person sees, each with its number of the chains."""
    listed = watched(member) if member.may("files") else []
    paths = list(chains.exclude(local_file=None).values_list("local_file__path", flat=True)) if listed else []
    return [(folder, sum(lists(folder, path) for path in paths)) for folder in listed]
