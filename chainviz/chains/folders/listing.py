"""The content of the page of folders: the files of one folder, grouped by subfolder, a page at a time."""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from itertools import groupby, islice
from pathlib import Path
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.http import QueryDict

from chainviz.accounts.models import Membership
from chainviz.chains.folders.choose_folders import Watched
from chainviz.chains.folders.opening import Scan, is_running, scan
from chainviz.chains.models import Chain
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.chains.uploads.local_files import state_of
from chainviz.core.chain.messages import HUMAN
from chainviz.core.documents import event_logs
from chainviz.core.documents.event_logs import end_of_lines
from chainviz.core.documents.packed_files import beginning
from chainviz.core.documents.source import Source, open_source
from chainviz.core.errors import ChainError
from chainviz.core.formats import format_label
from chainviz.core.formats.offers import Offer, offers_of
from chainviz.core.formats.reader import read_chain
from chainviz.core.sources.folder_files import FoundFile
from chainviz.core.usage.document_usage import request_of
from chainviz.web.http import typed_words

# What a file seems to be: its format and first request, from its beginning alone. Kept while that stays the same.


HEAD = 1 << 16
"""The number of bytes that are read of a file."""
LOOKED_AT = 40
"""The number of messages in which the first request is searched."""
WORDS = 120
HELD = 20_000


@dataclass(frozen=True, slots=True)
class Glance:
    format: str = ""
    """The label of the format; "" if the beginning does not show it."""
    begins: str = ""
    """The first request."""


_Seen = tuple[int, int, int]
_glances: OrderedDict[str, tuple[_Seen, Glance]] = OrderedDict()
_lock = threading.Lock()


def glance(path: Path, *, is_new: bool = True) -> Glance | None:
    """Return the facts at the beginning of a file. None if it was not read before and may not be now (`is_new`)."""
    try:
        inode, (size, modified) = path.stat().st_ino, state_of(path)
    except OSError:
        return Glance()
    # a file that only grows keeps its beginning
    seen = (inode, min(size, HEAD), modified if size < HEAD else 0)
    with _lock:
        known = _glances.get(str(path))
    if known is not None and known[0] == seen:
        return known[1]
    if not is_new:
        return None
    found = _look(path)
    with _lock:
        _glances[str(path)] = seen, found
        while len(_glances) > HELD:
            _glances.popitem(last=False)
    return found


def _look(path: Path) -> Glance:
    try:
        head = _head(path)
        with open_source(_whole_lines(head, is_all=len(head) < HEAD)) as source:
            offer = offers_of(source, salvage=True)[0]
            return Glance(offer.formats[0].label, _begins(source, offer))
    except (ChainError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return Glance()


def _head(path: Path) -> bytes:
    if path.is_dir():
        return b"\n".join(islice(event_logs.lines(path), LOOKED_AT))[:HEAD]
    return beginning(path, HEAD)


def _whole_lines(head: bytes, *, is_all: bool) -> bytes:
    return head if is_all else head[: end_of_lines(lambda start, end: head[start:end], len(head))]


def _begins(source: Source, offer: Offer) -> str:
    messages = islice(read_chain(source, offer.found, offer.formats[0], salvage=True), LOOKED_AT)
    asked = (request_of(each) for each in messages if each.role == HUMAN)
    return marks(one_line(next(filter(None, asked), ""), WORDS))


ROWS = 100
GLANCES = 0.3
"""The seconds that one request spends on reading files for the first time."""
MOST_FOLDERS = 60
"""The most folders to choose from."""


@dataclass(frozen=True, slots=True)
class Filter:
    within: str = ""
    """A folder below."""
    words: str = ""

    def address(self, number: int, **changes: object) -> str:
        values = {"folder": number, "in": self.within, "q": self.words, **changes}
        return f"?{urlencode({name: value for name, value in values.items() if value not in ('', None)})}"


def read_filter(asked: QueryDict) -> Filter:
    return Filter(asked.get("in", "")[:1000], typed_words(asked.get("q", ""), 200))


@dataclass(frozen=True)
class Row:
    file: FoundFile
    chains: Sequence[Chain]
    seen: Glance | None
    """The facts about the file, or None if it was not read yet."""

    @property
    def key(self) -> str:
        """Names the row in the page."""
        return f"file-{sha256(self.file.name.encode()).hexdigest()[:16]}"

    @property
    def chain(self) -> Chain | None:
        return self.chains[0] if self.chains else None

    @property
    def more_chains(self) -> int:
        return max(0, len(self.chains) - 1)

    @property
    def base(self) -> str:
        return self.file.display_name.rpartition("/")[2]

    @property
    def title(self) -> str:
        if self.chain is not None:
            return self.chain.title
        return (self.seen.begins if self.seen else "") or self.base

    @property
    def format(self) -> str:
        if self.chain is not None:
            return format_label(self.chain.format)
        return self.seen.format if self.seen else ""

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.file.modified / 1e9, UTC)

    @property
    def is_running(self) -> bool:
        return not self.file.sentence and is_running(self.file.modified)

    @property
    def is_openable(self) -> bool:
        return not self.file.sentence

    @property
    def has_changed(self) -> bool:
        """Since it was read."""
        found = self.chain.local_file if self.chain is not None else None
        return found is not None and (found.size, found.modified) != (self.file.size, self.file.modified)

    @property
    def is_behind(self) -> bool:
        return any(each.local_file.is_behind for each in self.chains)

    @property
    def sentence(self) -> str:
        """The reason why it cannot be opened, or could not be read last."""
        failed = self.chain.local_file.sentence if self.chain is not None and not self.has_changed else ""
        return self.file.sentence or failed

    @cached_property
    def mark(self) -> str:
        """Differs where the row looks different; how long ago the file changed does not count."""
        chains = [(each.pk, each.version, each.title, each.is_in_bin) for each in self.chains]
        seen = (self.seen.format, self.seen.begins) if self.seen else None
        facts = (self.file, chains, seen, self.is_running, self.is_behind, self.sentence)
        return sha256(repr(facts).encode("utf-8", "replace")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Group:
    folder: str
    """The path below the listed folder; "" for its own files."""
    count: int
    """The number of files in it, on all pages."""
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class Listing:
    watched: Watched
    filter: Filter
    scan: Scan
    page: Page[FoundFile]
    groups: list[Group]
    folders: list[tuple[str, int]] = field(default_factory=list)
    """The folders below that have files, most recently changed first, with their numbers of files."""
    folders_left: int = 0

    @property
    def total(self) -> int:
        return self.page.paginator.count


def listing(member: Membership, watched: Watched, wanted: Filter, page: str | int) -> Listing:
    found = scan(watched)
    counts = Counter(each.folder for each in found.files)
    fitting = [each for each in found.files if _fits(each, wanted)]
    shown: Page[FoundFile] = Paginator(_in_groups(fitting), ROWS).get_page(page)
    rows = rows_of(member, watched, list(shown))
    groups = [Group(folder, counts[folder], list(some)) for folder, some in groupby(rows, key=lambda row: row.file.folder)]
    folders = list(counts.items()) if len(counts) > 1 else []
    return Listing(watched, wanted, found, shown, groups, folders[:MOST_FOLDERS], max(0, len(folders) - MOST_FOLDERS))


def rows_of(member: Membership, watched: Watched, files: Sequence[FoundFile]) -> list[Row]:
    paths = {each.name: str(watched.path / each.name) for each in files}
    chains = Chain.objects.visible_to(member).filter(local_file__path__in=paths.values()).select_related("local_file")
    by_path: dict[str, list[Chain]] = {}
    for chain in chains.order_by("pk"):
        by_path.setdefault(chain.local_file.path, []).append(chain)
    until = time.monotonic() + GLANCES

    def row(file: FoundFile) -> Row:
        found = by_path.get(paths[file.name], ())
        may_look = not found and not file.sentence
        seen = glance(watched.path / file.name, is_new=time.monotonic() < until) if may_look else Glance()
        return Row(file, found, seen)

    return [row(each) for each in files]


def new_since(watched: Watched, wanted: Filter, total: int) -> int:
    """Count the files that are new since the page was made."""
    return sum(1 for each in scan(watched).files if _fits(each, wanted)) - total


def files_named(watched: Watched, names: Iterable[str]) -> list[FoundFile]:
    """Return the files of these names that are still there."""
    files = {each.name: each for each in scan(watched).files}
    return [files[name] for name in names if name in files]


def _fits(file: FoundFile, wanted: Filter) -> bool:
    if wanted.within and file.folder != wanted.within and not file.folder.startswith(f"{wanted.within}/"):
        return False
    return all(word.lower() in file.name.lower() for word in wanted.words.split())


def _in_groups(files: Sequence[FoundFile]) -> list[FoundFile]:
    """Folder by folder, the one with the file that changed last first."""
    groups: dict[str, list[FoundFile]] = {}
    for file in files:
        groups.setdefault(file.folder, []).append(file)
    return [file for group in groups.values() for file in group]
