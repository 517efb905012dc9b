"""The table of the library: the chains and sessions that match a filter, their order, and the headings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import reduce
from hashlib import sha256
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Q
from django.http import HttpRequest

from chainviz.accounts.models import Membership, User
from chainviz.chains.folders.choose_folders import ChainFolders, in_folder
from chainviz.chains.library.agents import formats_of_agent
from chainviz.chains.library.cells import Row, SessionRow, row_of
from chainviz.chains.library.columns import Column, chosen_columns
from chainviz.chains.library.entries import CHAIN, PER_GROUP, SESSION, Entries, Key, Totals
from chainviz.chains.library.filter import Filter, bytes_of, day_of, end_of
from chainviz.chains.library.search import Term, hits_of
from chainviz.chains.library.sessions import (
    Library,
    chains_of_sessions,
    fitting_sessions,
    health_of_chains,
    in_project,
    indexed_sessions,
    library_of,
)
from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.chains.usage import sum_text
from chainviz.core.formats import FORMATS
from chainviz.core.providers.check import verdict_from
from chainviz.sessions_index.models import Session, SessionQuerySet
from chainviz.store.models import Step
from chainviz.store.search.index import unindexed
from chainviz.store.search.lookup import histories_with, histories_with_together
from chainviz.web.formatting import folder_name, hours_text, tokens_text
from chainviz.web.http import small_number

AnyRow = Row | SessionRow

# The chains that match a filter.


def fitting_entries(library: Library, wanted: Filter, member: Membership) -> Entries:
    """Return the chains and sessions that match a filter."""
    if not wanted.is_set:
        return Entries(library.chains, library.sessions, library.state)
    chains, sessions = fitting(library.chains, wanted, member), fitting_sessions(library.sessions, wanted, _copies(library, wanted, member))
    return Entries(chains, sessions)


def all_fitting_sessions(wanted: Filter, member: Membership) -> SessionQuerySet:
    """Return the matching sessions, including those that the library shows as chains."""
    copies = _copies(library_of(member), wanted, member) if wanted.terms else Chain.objects.none()
    return fitting_sessions(indexed_sessions(member), wanted, copies)


def _copies(library: Library, wanted: Filter, member: Membership) -> ChainQuerySet:
    """Return the working copies whose content contains the words."""
    return fitting(library.copies, Filter(words=wanted.words), member) if wanted.terms else library.copies


def fitting(chains: ChainQuerySet, wanted: Filter, member: Membership) -> ChainQuerySet:
    """Return the chains that match a filter. `member` is the owner of the drafts, and decides whether folders are visible."""
    chains = _with_facts(chains, wanted)
    if wanted.only_drafts:
        chains = with_open_draft(chains, member.user)
    if wanted.folder:
        chains = chains.filter(in_folder(wanted.folder, member) | in_project(wanted.folder))
    if wanted.is_running:
        chains = chains.none()
    if wanted.label:
        chains = _labelled(chains, wanted.label)
    if wanted.verdict:
        chains = _judged(chains, wanted.verdict)
    return _with_terms(chains, wanted.terms) if wanted.terms else chains


def _with_terms(chains: ChainQuerySet, terms: Sequence[Term]) -> ChainQuerySet:
    """Return the chains whose title or content has all terms, and none of the excluded terms."""
    fit = set(chains.values_list("history", flat=True))
    unread = set(unindexed().filter(pk__in=fit).values_list("pk", flat=True))
    wanted = sorted((term for term in terms if not term.is_excluded), key=lambda term: len(term.phrase.words))
    read = [term.phrase for term in wanted if term.is_indexed]
    sure = histories_with_together(read, fit - unread) if len(read) > 1 else set()
    for term in wanted:
        open_ones = fit - sure if term.is_indexed else fit
        fit -= open_ones - _with_term(chains, term, open_ones, unread)
    for term in terms:
        fit -= _with_term(chains, term, fit, unread) if term.is_excluded else set()
    return chains.filter(history__in=fit)


def _with_term(chains: ChainQuerySet, term: Term, among: Set[int], unread: Set[int]) -> set[int]:
    """Return the chains, among some, that contain a term. `unread` are chains whose content is not in the index."""
    found = histories_with(term.phrase, among - unread) if term.is_indexed else set()
    if among <= found:
        return found
    return found | (among & set(chains.filter(_names(term)).values_list("history", flat=True)))


def with_open_draft(chains: ChainQuerySet, person: User | int) -> ChainQuerySet:
    """Return the chains with an open draft of the person that has steps. The table of drafts belongs to chainviz.drafts."""
    is_open = {"drafts__author": person, "drafts__discarded_at": None, "drafts__saved_as": None}
    drafted = chains.filter(**is_open, drafts__key__in=Step.objects.order_by().values("draft"))
    return chains.filter(pk__in=drafted.values("pk"))


def _names(term: Term) -> Q:
    """Return the condition that the title, the file name or the format contains a term."""
    named = [each.name for each in FORMATS if term.text.lower() in each.label.lower()]
    return Q(title__icontains=term.text) | Q(file_name__icontains=term.text) | Q(format__in=named)


def _with_facts(chains: ChainQuerySet, wanted: Filter) -> ChainQuerySet:
    at_least, at_most = bytes_of(wanted.larger), bytes_of(wanted.smaller)
    since, until = day_of(wanted.since), end_of(wanted.until)
    conditions = (
        (wanted.only_problems, Q(problems__gt=0) | Q(warnings__gt=0)),
        (wanted.only_errors, Q(tool_errors__gt=0)),
        (wanted.agent, Q(format__in=formats_of_agent(wanted.agent)) | Q(working_copy__session__agent=wanted.agent)),
        (wanted.health, health_of_chains(wanted.health)),
        (wanted.format, Q(format=wanted.format)),
        (wanted.tool, Q(tools__contains=f"[{json.dumps(wanted.tool)}, ")),
        (wanted.model, Q(model=wanted.model) | Q(usage__contains=f"{json.dumps(wanted.model)}: ")),
        (wanted.problem, _breaks(wanted.problem)),
        (at_least is not None, Q(size__gte=at_least or 0)),
        (at_most is not None, Q(size__lte=at_most or 0)),
        (since, Q(changed_at__gte=since)),
        (until, Q(changed_at__lt=until)),
    )
    return chains.filter(chains_of_sessions(wanted), *(condition for is_asked, condition in conditions if is_asked))


def _breaks(rule: str) -> Q:
    """Return the condition that chains break a rule of the structure, of one provider (`anthropic:first-role`), or of any provider."""
    name = json.dumps(rule)[1:]
    return Q(rules_broken__contains=f'"{name}') | Q(rules_broken__contains=f":{name}")


def _labelled(chains: ChainQuerySet, label: str) -> ChainQuerySet:
    """Return the chains with a label, on the whole chain or on a node. The table of labels belongs to chainviz.review."""
    kind, _, said = label.partition(":")
    value = {"labels__name": said} if kind == "tag" else {"labels__value": small_number(said)}
    return chains.filter(pk__in=chains.filter(labels__kind=kind, **value).values("pk"))


def _judged(chains: ChainQuerySet, verdict: str) -> ChainQuerySet:
    """Return the condition for a provider's verdict. A provider without an entry in a chain's verdicts accepts it."""
    provider, _, state = verdict.partition(":")
    counted = chains.values_list("pk", "verdicts")
    return chains.filter(pk__in=[pk for pk, said in counted if verdict_from(said.get(provider, ())).state == state])


# The table grouped by project, with the newest rows of each project under its name.


FOLDED = "library_folded"
"""The cookie with the keys of folded projects, written by folder_groups.js."""
GROUPED_ROWS = 60
"""The least number of rows on a page. A project is never split between pages."""


@dataclass(frozen=True, slots=True)
class ProjectGroup:
    project: str
    """The recorded project; "" for chains without one."""
    key: str
    totals: Totals
    rows: Sequence[AnyRow]
    is_folded: bool
    address: str
    """The address of the library with only this project; for chains without one, of the ungrouped list."""

    @property
    def name(self) -> str:
        """The last part of the path. The whole path is the title."""
        return folder_name(self.project)

    @property
    def older(self) -> int:
        return self.totals.count - len(self.rows)

    @property
    def running(self) -> int:
        return sum(row.is_running for row in self.rows)

    @property
    def cost(self) -> str:
        return sum_text(self.totals.cost) if self.totals.cost else ""


def key_of(folder: str) -> str:
    return sha256(folder.encode("utf-8", "replace")).hexdigest()[:8]


def folded_of(request: HttpRequest) -> frozenset[str]:
    return frozenset(request.COOKIES.get(FOLDED, "").split("."))


ROWS = 100
ROWS_WITH_HITS = 25


@dataclass(frozen=True, slots=True)
class Heading:
    column: str
    label: str
    address: str
    sorted: str
    """The value of aria-sort: ascending, descending or none."""
    is_number: bool


@dataclass(frozen=True, slots=True)
class Listing:
    filter: Filter
    rows: list[AnyRow]
    page: Page[Any]
    """The paginator of projects in a grouped table, or of rows."""
    totals: Totals
    """The totals of all rows that match the filter."""
    groups: list[ProjectGroup] = field(default_factory=list)
    """The rows by project; empty if the table is not grouped."""
    columns: set[str] = field(default_factory=set)
    """The names of the visible columns."""
    headings: list[Heading] = field(default_factory=list)
    projects: Mapping[str, Totals] = field(default_factory=dict)
    """Totals of each project that fits, where the rows are grouped by project."""

    @property
    def chain_rows(self) -> list[Row]:
        return [row for row in self.rows if isinstance(row, Row)]

    @property
    def session_rows(self) -> list[SessionRow]:
        return [row for row in self.rows if isinstance(row, SessionRow)]

    @property
    def chains(self) -> list[Chain]:
        return [row.chain for row in self.chain_rows]

    @property
    def cost(self) -> str:
        return sum_text(self.totals.cost) if self.totals.cost else "–"

    @property
    def tokens(self) -> str:
        return tokens_text(self.totals.tokens) if self.totals.tokens else "–"

    @property
    def duration(self) -> str:
        return hours_text(self.totals.duration) if self.totals.duration else "–"


@dataclass(frozen=True, slots=True)
class View:
    """The view settings of a person for the table."""

    member: Membership
    page: str | int = 1
    folders: ChainFolders = field(default_factory=ChainFolders)
    folded: frozenset[str] = frozenset()
    """The keys of folded projects."""


def listing(library: Library, wanted: Filter, view: View) -> Listing:
    """Return the rows of a page. They are grouped by project only when sorted by time; any other order applies to all rows."""
    entries = fitting_entries(library, wanted, view.member)
    columns = chosen_columns(view.member.user)
    is_grouped = wanted.column == "changed" and not (wanted.folder or wanted.terms)
    projects = entries.by_project() if is_grouped else {}
    shown = _grouped(entries, projects, wanted, view) if any(projects) else _flat(entries, projects, wanted, view)
    return replace(
        shown, columns={column.name for column in columns}, headings=[_heading(column, wanted) for column in columns], projects=projects
    )


def _grouped(entries: Entries, projects: dict[str, Totals], wanted: Filter, view: View) -> Listing:
    page: Page[Any] = Paginator(_pages_of(projects), 1).get_page(view.page)
    shown_projects: list[str] = page[0]
    keys = entries.newest_of(shown_projects)
    rows = _rows([key for project in shown_projects for key in keys[project]], view, wanted)
    groups = [
        _group(project, projects[project], [rows[key] for key in keys[project] if key in rows], view.folded, wanted)
        for project in shown_projects
    ]
    totals = reduce(Totals.__add__, projects.values(), Totals())
    shown = [row for group in groups for row in group.rows]
    return Listing(wanted, shown, page, totals, groups)


def _pages_of(projects: dict[str, Totals]) -> list[list[str]]:
    """Return the projects of each page."""
    pages, rows = list[list[str]](), GROUPED_ROWS
    for project, totals in projects.items():
        if rows >= GROUPED_ROWS:
            pages.append([])
            rows = 0
        pages[-1].append(project)
        rows += min(totals.count, PER_GROUP)
    return pages


def _group(project: str, totals: Totals, rows: Sequence[AnyRow], folded: frozenset[str], wanted: Filter) -> ProjectGroup:
    key = key_of(project)
    address = wanted.address(folder=project) if project else wanted.address(order="title")
    return ProjectGroup(project, key, totals, rows, key in folded, address)


def _flat(entries: Entries, projects: dict[str, Totals], wanted: Filter, view: View) -> Listing:
    totals = reduce(Totals.__add__, projects.values()) if projects else entries.totals()
    page: Page[Any] = Paginator(_Numbers(entries, wanted.order, totals.count), ROWS_WITH_HITS if wanted.terms else ROWS).get_page(view.page)
    keys = list(page)
    rows = _rows(keys, view, wanted)
    return Listing(wanted, [rows[key] for key in keys if key in rows], page, totals)


class _Numbers(Sequence[Any]):
    """The keys of all rows, for a paginator that reads only one page."""

    def __init__(self, entries: Entries, order: str, count: int) -> None:
        self._entries, self._order, self._count = entries, order, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, shown: Any) -> Any:
        return self._entries.keys(self._order, shown.start, shown.stop)


def _rows(keys: Sequence[Key], view: View, wanted: Filter) -> dict[Key, AnyRow]:
    chains = Chain.objects.select_related("working_copy__session")
    found_chains = chains.in_bulk([key.pk for key in keys if key.kind == CHAIN])
    found_sessions = Session.objects.in_bulk([key.pk for key in keys if key.kind == SESSION])
    hits = hits_of(list(found_chains.values()), wanted.terms)
    largest = max((chain.size for chain in found_chains.values()), default=0)
    rows: dict[Key, AnyRow] = {Key(SESSION, pk): SessionRow(session) for pk, session in found_sessions.items()}
    for pk, chain in found_chains.items():
        rows[Key(CHAIN, pk)] = row_of(chain, largest, view.folders.paths.get(pk, ""), hits.get(pk))
    return rows


def _heading(column: Column, wanted: Filter) -> Heading:
    is_current = column.name == wanted.column
    falling = wanted.order.startswith("-")
    begins_falling = not falling if is_current else not column.begins_rising
    return Heading(
        column=column.name,
        label=column.label,
        address=wanted.address(order=f"-{column.name}" if begins_falling else column.name),
        sorted=("descending" if falling else "ascending") if is_current else "none",
        is_number=column.is_number,
    )
