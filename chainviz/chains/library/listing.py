"""The library's table: which chains a person asked to see, in which order, and the cells of each row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import F, Q
from django.http import QueryDict

from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.chains.usage import RowUsage, row_usage
from chainviz.chains.verdicts import VerdictView, short_verdicts
from chainviz.core.formats import format_label
from chainviz.store.outline.edition import RULES
from chainviz.web.query_params import small_number

ROWS = 100
COLUMNS = {
    "title": "Title",
    "format": "Format",
    "sections": "Sections",
    "pairs": "Pairs",
    "messages": "Messages",
    "size": "Size",
    "tokens": "Tokens",
    "problems": "Problems",
    "version": "Version",
    "changed": "Last change",
}
WORDS = {"title", "format"}
"""Columns that are read from a to z; all others begin with the largest."""
DEFAULT_ORDER = "-changed"
NOT_JUDGED = VerdictView("quiet", "clock", "being checked again")
"""The rules have changed since the chain was judged."""


@dataclass(frozen=True, slots=True)
class Filter:
    """The query of the page's address."""

    words: str = ""
    format: str = ""
    only_problems: bool = False
    order: str = DEFAULT_ORDER
    label: str = ""
    """`tag:urgent`, `rating:4` or `outcome:1`."""

    @property
    def is_set(self) -> bool:
        return bool(self.words or self.format or self.only_problems or self.label)

    @property
    def column(self) -> str:
        return self.order.removeprefix("-")

    def address(self, **changes: object) -> str:
        """The page's address with this filter, changed."""
        values = {
            "q": self.words,
            "format": self.format,
            "problems": "1" if self.only_problems else "",
            "label": self.label,
            "order": "" if self.order == DEFAULT_ORDER else self.order,
        }
        asked = {name: value for name, value in {**values, **changes}.items() if value not in ("", None)}
        return f"?{urlencode(asked)}"


@dataclass(frozen=True, slots=True)
class Heading:
    column: str
    label: str
    address: str
    sorted: str
    """What aria-sort says: ascending, descending or none."""
    is_number: bool


@dataclass(frozen=True, slots=True)
class Row:
    chain: Chain
    format_label: str
    share: str
    """Length of the size bar, 0 to 100."""
    usage: RowUsage
    verdicts: tuple[VerdictView, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    filter: Filter
    rows: list[Row]
    page: Page[Chain]
    headings: list[Heading] = field(default_factory=list)
    formats: list[tuple[str, str]] = field(default_factory=list)


def read_filter(asked: QueryDict) -> Filter:
    order = asked.get("order", DEFAULT_ORDER)
    return Filter(
        words=" ".join(asked.get("q", "").replace("\x00", "").split())[:200],
        format=asked.get("format", "").replace("\x00", "")[:40],
        only_problems=asked.get("problems") == "1",
        label=asked.get("label", "").replace("\x00", "")[:60],
        order=order if order.removeprefix("-") in COLUMNS else DEFAULT_ORDER,
    )


def listing(chains: ChainQuerySet, wanted: Filter, labels: Mapping[str, str], page: str | int) -> Listing:
    paginator = Paginator(_ordered(_fitting(chains, wanted, labels), wanted), ROWS)
    shown = paginator.get_page(page)
    largest = max((chain.size for chain in shown), default=0)
    kept = sorted(set(chains.values_list("format", flat=True)))
    return Listing(
        filter=wanted,
        rows=[_row(chain, labels, largest) for chain in shown],
        page=shown,
        headings=[_heading(column, wanted) for column in COLUMNS],
        formats=[(name, format_label(name)) for name in kept],
    )


def _fitting(chains: ChainQuerySet, wanted: Filter, labels: Mapping[str, str]) -> ChainQuerySet:
    for word in wanted.words.split():
        named = [name for name, label in labels.items() if word.lower() in label.lower()]
        chains = chains.filter(Q(title__icontains=word) | Q(file_name__icontains=word) | Q(format__in=named))
    if wanted.format:
        chains = chains.filter(format=wanted.format)
    if wanted.label:
        chains = _labelled(chains, wanted.label)
    if wanted.only_problems:
        chains = chains.filter(Q(problems__gt=0) | Q(warnings__gt=0))
    return chains


def _labelled(chains: ChainQuerySet, label: str) -> ChainQuerySet:
    """Chains that have the label, themselves or on a node. The table of labels belongs to the review."""
    kind, _, said = label.partition(":")
    value = {"labels__name": said} if kind == "tag" else {"labels__value": small_number(said)}
    return chains.filter(pk__in=chains.filter(labels__kind=kind, **value).values("pk"))


def _ordered(chains: ChainQuerySet, wanted: Filter) -> ChainQuerySet:
    sign = "-" if wanted.order.startswith("-") else ""
    column = {"changed": "changed_at"}.get(wanted.column, wanted.column)
    second = [f"{sign}warnings"] if column == "problems" else []
    first = F(column).desc(nulls_last=True) if sign else F(column).asc(nulls_last=True)
    return chains.order_by(first, *second, "-pk")


def _heading(column: str, wanted: Filter) -> Heading:
    is_current = column == wanted.column
    falling = wanted.order.startswith("-")
    begins_falling = falling is False if is_current else column not in WORDS
    next_order = f"-{column}" if begins_falling else column
    return Heading(
        column=column,
        label=COLUMNS[column],
        address=wanted.address(order=next_order),
        sorted=("descending" if falling else "ascending") if is_current else "none",
        is_number=column not in {"title", "format", "problems", "changed"},
    )


def _row(chain: Chain, labels: Mapping[str, str], largest: int) -> Row:
    # Sizes differ by factors of thousands: a straight scale would show one bar and many dots.
    share = math.log1p(chain.size / 1000) / math.log1p(largest / 1000) * 100 if largest else 0
    usage = row_usage(chain.usage or {}, chain.size)
    return Row(chain, format_label(chain.format), f"{share:.1f}", usage, _verdicts(chain))


def _verdicts(chain: Chain) -> tuple[VerdictView, ...]:
    return short_verdicts(chain.verdicts, chain.format) if chain.rules == RULES else (NOT_JUDGED,)
