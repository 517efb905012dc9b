"""The subject of the explorer: one content of a chain (a version or a draft), the addresses of its pages, and the state of the view.

The view state of a person is the open and closed nodes and the form of texts. It is read from the address and never stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlencode

from django.db.models import Model
from django.http import QueryDict

from chainviz.accounts.models import User
from chainviz.accounts.permissions import OWNER, Permission
from chainviz.chains.models import Chain
from chainviz.chains.verdicts import next_call_errors, provider_of, verdicts_by_provider
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import PathError
from chainviz.core.formats.vendors import get_provider
from chainviz.core.providers.contract import Provider
from chainviz.store.content.chain import StoredChain, chain_of
from chainviz.store.content.codec import unpack
from chainviz.store.lineage import written_messages
from chainviz.store.models import Outline, Snapshot, Version
from chainviz.store.outline.build import outline_of
from chainviz.store.outline.edition import RULES_EDITION
from chainviz.store.query.windows import Folds
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

    @cached_property
    def provider(self) -> Provider:
        """The provider that the chain's next call goes to."""
        if self.is_head and self.chain.provider and self.chain.rules == RULES_EDITION:
            return get_provider(self.chain.provider)
        return provider_of(self.stored)

    @cached_property
    def refusing(self) -> str:
        """The name of the provider whose errors are marked at their rows; "" if it would accept the next call."""
        verdicts = verdicts_by_provider(unpack(self.outline.verdicts))
        if not any(verdict.errors for verdict in verdicts.values()):
            return ""
        return self.provider.name if next_call_errors(self.stored, self.provider, verdicts[self.provider].errors) else ""


MOST_EXCEPTIONS = 400
IN_RUNS = frozenset({"ai", "tool", "summary"})
"""The kinds of pairs. If all nodes of one of these kinds are open, no run of closed pairs is folded."""
KINDS = (
    ("section", "Sections"),
    ("system", "System messages"),
    ("human", "Human messages"),
    ("ai", "Answers"),
    ("tool", "Tool calls"),
    ("summary", "Summaries"),
)
FINAL = "final"
"""The kind of the last pair of a section if it is an answer."""
ON_ARRIVAL = frozenset({"human", FINAL})
"""The kinds that are open at first: requests and final answers."""


@dataclass(frozen=True, slots=True)
class ViewState:
    all: frozenset[str] = ON_ARRIVAL
    """Kinds whose nodes are open, unless a node is in the list of closed ones."""
    sections_closed: bool = False
    opened: frozenset[Path] = frozenset()
    closed: frozenset[Path] = frozenset()
    runs: frozenset[Path] = frozenset()
    """One pair of each run that is shown pair by pair."""
    as_written: bool = False
    part: Path | None = None
    """A part that its open node always shows, even if the node is long."""

    @property
    def folds(self) -> Folds:
        differing = self.opened if self.sections_closed else self.closed
        exceptions = frozenset(path.section for path in differing if path.pair is None)
        shown = frozenset(path for path in self.opened | self.closed | self.runs if path.pair)
        return Folds(not self.sections_closed, exceptions, runs_folded=not self.all & IN_RUNS, shown=shown)

    def is_open(self, path: Path, role: str, pairs: int) -> bool:
        """Return True if the section is open. `pairs` is the number of its pairs."""
        kinds = {role, FINAL} if role == "ai" and path.pair == pairs else {role}
        return path in self.opened or (bool(kinds & self.all) and path not in self.closed)

    def with_open(self, at: Path) -> ViewState:
        """Return the state with this node, and this part of it, visible and open."""
        path = at.node
        closed = self.closed - {path, Path(path.section)}
        opened = self.opened | ({path, Path(path.section)} if self.sections_closed else {path})
        return replace(self, opened=opened, closed=closed, part=at if at.part is not None else None)

    @property
    def query(self) -> str:
        words: dict[str, str] = {}
        if self.all != ON_ARRIVAL:
            words["all"] = ",".join(sorted(self.all))
        if self.sections_closed:
            words["sections"] = "closed"
        for name, paths in (("opened", self.opened), ("closed", self.closed), ("runs", self.runs)):
            if paths:
                words[name] = ",".join(sorted(map(str, paths)))
        if self.as_written:
            words["text"] = "plain"
        return urlencode(words)


def read_view(query: QueryDict) -> ViewState:
    return ViewState(
        all=frozenset(query.get("all", "").split(",")) & {FINAL, *(kind for kind, _ in KINDS)} if "all" in query else ON_ARRIVAL,
        sections_closed=query.get("sections") == "closed",
        opened=_paths(query.get("opened", "")),
        closed=_paths(query.get("closed", "")),
        runs=_paths(query.get("runs", "")),
        as_written=query.get("text") == "plain",
    )


def _paths(words: str) -> frozenset[Path]:
    """Read a list of paths. Invalid ones are skipped, because they only affect the display."""
    found = set()
    for word in words.split(",")[:MOST_EXCEPTIONS]:
        try:
            found.add(parse_path(word).node)
        except PathError:
            continue
    return frozenset(found)
