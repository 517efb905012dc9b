"""The folders that a person sees, and the folder from which each chain came.

A person names folders in local mode; the server's settings name them in team mode.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath

from django.conf import settings
from django.db.models import Exists, OuterRef, Q

from chainviz.accounts.models import Membership
from chainviz.chains.library.models import Folder
from chainviz.chains.models import ChainQuerySet, LocalFile
from chainviz.core.documents.event_logs import conversation_of, is_event_folder
from chainviz.core.errors import DocumentError
from chainviz.core.sources.folder_files import SessionFolder
from chainviz.jobs.lease import storable
from chainviz.sessions_index.services import choose_folder, forget_folder
from chainviz.store.prepared_query import PreparedQuery

KNOWN = (
    "~/.claude/projects",
    "~/.codex/sessions",
    "~/.gemini/tmp",
    "~/.pi/agent/sessions",
    "~/.openclaw/agents",
    "~/.openhands/conversations",
    "~/.openhands/sessions",
    "~/.local/share/opencode/storage",
    "~/.local/share/goose/sessions",
    "~/.continue/sessions",
    "~/.factory/sessions",
    "~/.cursor/projects",
    "~/.grok/sessions",
    "~/.hermes/sessions",
    "~/.kiro/sessions/cli",
    "~/.gemini/antigravity/brain",
)
"""The folders in which agents store their sessions."""
FEW = 20
"""The most files on the command line that are imported at once. Of more, their folders are listed."""
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Watched:
    number: int
    path: Path
    pattern: str = ""

    def lists(self, path: str) -> bool:
        """Return True if a file of this path belongs to the folder."""
        return SessionFolder(self.path, self.pattern).lists(path)

    @property
    def name(self) -> str:
        """The name of the folder on the page."""
        path = with_home(self.path)
        return f"{path}/{self.pattern}" if self.pattern else path


def with_home(path: Path) -> str:
    """Return a path as a shell of this person abbreviates it: `~/runs`."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path != home and path.is_relative_to(home) else str(path)


def may_choose() -> bool:
    """Return True if people may enter folders. In team mode they may not, since a page must not expose the server's disk."""
    return bool(settings.CHAINVIZ.mode == "local")


def sees_files(member: Membership) -> bool:
    """Return True if the person sees from which files of this machine chains came."""
    return member.may("files") and (may_choose() or bool(settings.CHAINVIZ.folder_paths))


_folders_of = PreparedQuery(lambda team: Folder.objects.filter(team=team))


def watched(member: Membership) -> list[Watched]:
    if not may_choose():
        return [Watched(number, path) for number, path in enumerate(settings.CHAINVIZ.folder_paths, 1)]
    return [Watched(each.pk, Path(each.path), each.pattern) for each in _folders_of(member.team_id)]


def watch(member: Membership, place: str) -> Watched:
    """List a folder from now on. Raises DocumentError, in a sentence, if there is no such folder."""
    if not may_choose():
        raise DocumentError("In team mode, the server’s CHAINVIZ_FOLDERS setting names the folders.")
    path, pattern = _split(place)
    if not path.is_dir():
        what = "is a file, not a folder" if path.is_file() else "is not a folder on this machine"
        raise DocumentError(f"{path} {what}.")
    if is_event_folder(path):
        path = path.parent
    if (named := str(path / pattern)) != storable(named):
        raise DocumentError(f"The name of {storable(named)} is not valid UTF-8; rename it.")
    row, _ = Folder.objects.get_or_create(team=member.team, path=str(path), pattern=pattern)
    choose_folder(member.team, str(path), pattern)
    return Watched(row.pk, path, pattern)


def forget(member: Membership, number: int) -> None:
    """Remove the folder from the list; chains that came from it stay."""
    for row in Folder.objects.filter(team=member.team_id, pk=number):
        forget_folder(member.team, row.path, row.pattern)
        row.delete()


def is_place(name: str) -> bool:
    """Return True if an argument of the command line is a folder or a pattern, and not a file."""
    return Path(name).is_dir() or (not Path(name).exists() and _GLOB.search(name) is not None)


def folders_of(files: Iterable[Path]) -> list[str]:
    """Return the folders of very many files, each with a pattern that fits all that were named there."""
    endings: dict[Path, set[str]] = {}
    for file in files:
        endings.setdefault(file.absolute().parent, set()).add(file.suffix)
    return [f"{folder}/*{next(iter(found)) if len(found) == 1 else ''}" for folder, found in endings.items()]


def suggestions(member: Membership) -> list[str]:
    """Return folders of known agents on this machine that are not listed yet."""
    listed = {each.path for each in watched(member)}
    return [each for each in KNOWN if (path := Path(each).expanduser()).is_dir() and path.absolute() not in listed]


def _split(place: str) -> tuple[Path, str]:
    """Return the folder, and the pattern behind it."""
    parts = PurePosixPath(place.strip()).parts
    plain = next((number for number, part in enumerate(parts) if _GLOB.search(part)), len(parts))
    try:
        path = Path(*parts[:plain]).expanduser().absolute() if plain else Path().absolute()
        path.is_dir()
    except (RuntimeError, ValueError, OSError):
        raise DocumentError(f"{storable(place)} is not a folder on this machine.") from None
    return path, "/".join(parts[plain:])


MOST_PROJECTS = 12
"""The most projects that are listed below a folder in the sidebar."""


@dataclass(frozen=True, slots=True)
class ChainFolders:
    listed: Sequence[Watched] = ()
    paths: dict[int, str] = field(default_factory=dict)
    """The path of the file that a chain came from, by the chain's key."""
    projects: dict[int, str] = field(default_factory=dict)
    """By chain: the folder below the listed one that contains its file."""

    def by_folder(self) -> list[tuple[Watched, list[tuple[str, str, int]]]]:
        """Return the folders that the person sees, each with its projects: the full name, the name below the folder, and the number of
        chains."""
        return [(folder, self._count(folder)) for folder in self.listed]

    def _count(self, folder: Watched) -> list[tuple[str, str, int]]:
        own = [pk for pk, path in self.paths.items() if folder.lists(path)]
        projects = Counter(self.projects[pk] for pk in own)
        root = f"{with_home(folder.path)}/"
        below = [(name, name.removeprefix(root), count) for name, count in projects.most_common() if name.startswith(root)]
        return below[:MOST_PROJECTS]


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
    return Q(local_file__path__startswith=beginning_of_files(name)) if member.may("files") else Q(pk=None)


def beginning_of_files(folder: str) -> str:
    """Return the beginning of the paths of a folder's files."""
    try:
        root = str(Path(folder).expanduser())
    except RuntimeError:  # the home of nobody
        root = folder
    return f"{root.rstrip('/')}/"


def _project(folders: Sequence[Watched], path: str) -> str:
    folder = next((each for each in folders if each.lists(path)), None)
    if folder is None:
        return ""
    below = PurePath(conversation_of(path)).relative_to(folder.path).parts
    return with_home(folder.path / below[0] if len(below) > 1 else folder.path)
