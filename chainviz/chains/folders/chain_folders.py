"""The folder of this machine from which each chain came, if the person may see folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from django.db.models import Exists, OuterRef, Q

from chainviz.accounts.models import Membership
from chainviz.chains.folders.choose_folders import Watched, sees_files, watched, with_home
from chainviz.chains.models import ChainQuerySet, LocalFile
from chainviz.core.documents.event_logs import conversation_of

MOST_PROJECTS = 12
"""The most projects that are listed below a folder in the sidebar."""


@dataclass(frozen=True, slots=True)
class ChainFolders:
    listed: Sequence[Watched] = ()
    paths: dict[int, str] = field(default_factory=dict)
    """The path of the file that a chain came from, by the chain's key."""
    projects: dict[int, str] = field(default_factory=dict)
    """By chain: the folder below the listed one that contains its file."""

    def counted(self) -> list[tuple[Watched, int, list[tuple[str, str, int]]]]:
        """Return the folders that the person sees, each with its number of chains, and with its projects: the full
        name, the name below the folder, and the number of chains."""
        return [(folder, *self._count(folder)) for folder in self.listed]

    def _count(self, folder: Watched) -> tuple[int, list[tuple[str, str, int]]]:
        own = [pk for pk, path in self.paths.items() if folder.lists(path)]
        projects = Counter(self.projects[pk] for pk in own)
        root = f"{with_home(folder.path)}/"
        below = [(name, name.removeprefix(root), count) for name, count in projects.most_common() if name.startswith(root)]
        return len(own), below[:MOST_PROJECTS]


def chain_folders(member: Membership, chains: ChainQuerySet) -> ChainFolders:
    if not sees_files(member):
        return ChainFolders()
    listed = watched(member)
    paths = dict(LocalFile.objects.filter(Exists(chains.filter(pk=OuterRef("chain")))).values_list("chain", "path"))
    # if one listed folder is inside another, a file belongs to the inner one
    inner_first = sorted(listed, key=lambda folder: len(str(folder.path)), reverse=True)
    found = {pk: _project(inner_first, path) for pk, path in paths.items()}
    return ChainFolders(listed, paths, {pk: project for pk, project in found.items() if project})


def in_folder(name: str, member: Membership) -> Q:
    """Select chains whose files are in a folder, at any depth; none for a person who may not see folders."""
    try:
        root = str(Path(name).expanduser())
    except RuntimeError:  # the home of nobody
        root = name
    return Q(local_file__path__startswith=f"{root.rstrip('/')}/") if member.may("files") else Q(pk=None)


def _project(folders: Sequence[Watched], path: str) -> str:
    folder = next((each for each in folders if each.lists(path)), None)
    if folder is None:
        return ""
    below = PurePath(conversation_of(path)).relative_to(folder.path).parts
    return with_home(folder.path / below[0] if len(below) > 1 else folder.path)
