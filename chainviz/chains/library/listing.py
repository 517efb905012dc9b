"""The library's table: which chains a person asked to see, in which order, and its headings."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.core.paginator import Page, Paginator
from django.http import QueryDict

from chainviz.accounts.models import Membership
from chainviz.chains.folders.chain_folders import ChainFolders
from chainviz.chains.library.cells import Row, row_of
from chainviz.chains.library.columns import Column, chosen_columns, sorted_by
from chainviz.chains.library.filter import Filter, read_filter
from chainviz.chains.library.fitting import fitting
from chainviz.chains.library.folder_groups import FolderByFolder, FolderGroup, groups_of
from chainviz.chains.library.search.hits import hits_of
from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.core.formats import format_label

ROWS = 100
ROWS_WITH_HITS = 25


@dataclass(frozen=True, slots=True)
class Heading:
    column: str
    label: str
    address: str
    sorted: str
    """What aria-sort says: ascending, descending or none."""
    is_number: bool


@dataclass(frozen=True, slots=True)
class Listing:
    filter: Filter
    rows: list[Row]
    page: Page[Chain]
    groups: list[FolderGroup] = field(default_factory=list)
    """The rows by folder; empty where they stand in one list."""
    columns: set[str] = field(default_factory=set)
    """Names of those that are shown."""
    headings: list[Heading] = field(default_factory=list)
    formats: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class View:
    """How somebody looks at the table."""

    member: Membership
    page: str | int = 1
    folders: ChainFolders = field(default_factory=ChainFolders)
    folded: frozenset[str] = frozenset()
    """Keys of folders."""


def listing(chains: ChainQuerySet, wanted: Filter, view: View) -> Listing:
    """Rows are grouped by folder only while they are sorted by time; another order, such as cost, is that of all chains."""
    terms, columns, projects = wanted.terms, chosen_columns(view.member.user), view.folders.projects
    asked = _asked_for(chains, wanted, view.member)
    grouped = FolderByFolder(asked, projects) if projects and wanted.column == "changed" else None
    shown: Page[Chain] = Paginator(grouped or asked, ROWS_WITH_HITS if terms else ROWS).get_page(view.page)
    hits = hits_of(list(shown), terms)
    largest = max((chain.size for chain in shown), default=0)
    kept = sorted(set(chains.values_list("format", flat=True)))
    folded = frozenset() if wanted.folder else view.folded
    rows = [row_of(chain, largest, view.folders.paths.get(chain.pk, ""), hits.get(chain.pk)) for chain in shown]
    return Listing(
        filter=wanted,
        rows=rows,
        page=shown,
        groups=groups_of(rows, projects, chains.count(), grouped.matching, folded) if grouped else [],
        columns={column.name for column in columns},
        headings=[_heading(column, wanted) for column in columns],
        formats=[(name, format_label(name)) for name in kept],
    )


def chains_asked_for(chains: ChainQuerySet, asked: QueryDict, member: Membership) -> ChainQuerySet:
    """All chains that fit the filter of an address, in the order of its table."""
    return _asked_for(chains, read_filter(asked), member)


def _asked_for(chains: ChainQuerySet, wanted: Filter, member: Membership) -> ChainQuerySet:
    return fitting(chains, wanted, member).order_by(*sorted_by(wanted.order), "-pk")


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
