"""The filter of the library: what the query of an address asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from chainviz.chains.library.columns import BY_NAME
from chainviz.chains.library.search.search_text import FILTERS, SearchText, Term, read_search_text
from chainviz.web.query_params import typed_words

DEFAULT_ORDER = "-changed"
LONGEST = 200
"""Characters of a value."""
_SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*([kmg]?)i?b?", re.IGNORECASE)
UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
ADDRESS = {"words": "q", "only_problems": "problems", "only_errors": "errors", "only_drafts": "drafts"}
"""Names in the address that differ from those of the fields."""


@dataclass(frozen=True, slots=True)
class Filter:
    words: str = ""
    only_problems: bool = False
    only_errors: bool = False
    """Of tools."""
    only_drafts: bool = False
    """Those with an open draft of the person who looks."""
    format: str = ""
    label: str = ""
    """`tag:urgent`, `rating:4` or `outcome:1`."""
    tool: str = ""
    model: str = ""
    problem: str = ""
    """A rule of the structure."""
    verdict: str = ""
    """`anthropic:rejected`: a provider and a state of its verdict."""
    larger: str = ""
    """A size such as `500 kB`."""
    smaller: str = ""
    since: str = ""
    """A day on which it was changed last, as in 2026-10-01."""
    until: str = ""
    folder: str = ""
    """Of this machine, as `~/runs/app`: chains whose files lie in it."""
    order: str = DEFAULT_ORDER

    @property
    def is_set(self) -> bool:
        return replace(self, order=DEFAULT_ORDER) != Filter()

    @property
    def column(self) -> str:
        return self.order.removeprefix("-")

    @property
    def search(self) -> SearchText:
        return read_search_text(self.words)

    @property
    def terms(self) -> tuple[Term, ...]:
        return self.search.terms

    @property
    def values(self) -> dict[str, str]:
        """By name in the address, without what is not asked for."""
        said: dict[str, str] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value and value != field.default:
                said[ADDRESS.get(field.name, field.name)] = "1" if value is True else str(value)
        return said

    def address(self, **changes: object) -> str:
        """The page's address with this filter, changed."""
        asked = {name: value for name, value in {**self.values, **changes}.items() if value not in ("", None)}
        if asked.get("order") == DEFAULT_ORDER:
            del asked["order"]
        return f"?{urlencode(asked)}"


def library_address(query: str, **changes: object) -> str:
    """The library with the filter that a form of its page sent along, as the query of an address."""
    return f"{reverse('chains:library')}{read_filter(QueryDict(query)).address(**changes)}".removesuffix("?")


def read_filter(asked: QueryDict | Mapping[str, str]) -> Filter:
    """What is typed into the search field as `tool:grep` is a filter like the others."""
    values = {name: typed_words(str(asked.get(name, "")), LONGEST) for name in _names()}
    search = read_search_text(values.pop("q"))
    said = {name: values[name] for name in _texts()} | dict(search.filters)
    order = values["order"]
    return Filter(
        words=search.text,
        only_problems=values["problems"] == "1",
        only_errors=values["errors"] == "1",
        only_drafts=values["drafts"] == "1",
        order=order if order.removeprefix("-") in BY_NAME else DEFAULT_ORDER,
        **said,
    )


def _names() -> list[str]:
    return [ADDRESS.get(field.name, field.name) for field in fields(Filter)]


def _texts() -> list[str]:
    return [*FILTERS, "larger", "smaller"]


def bytes_of(size: str) -> int | None:
    """`500 kB` as bytes; None where it is no size."""
    found = _SIZE.fullmatch(size.strip())
    return int(float(found[1]) * UNITS[found[2].lower()]) if found else None


def day_of(text: str) -> datetime | None:
    """The beginning of a day; None where it is none."""
    try:
        return datetime.combine(date.fromisoformat(text), time(), UTC)
    except ValueError:
        return None


def end_of(text: str) -> datetime | None:
    """The beginning of the next day."""
    day = day_of(text)
    try:
        return day + timedelta(days=1) if day else None
    except OverflowError:
        return None


def notices(wanted: Filter) -> list[str]:
    """What in it cannot be understood, in sentences."""
    said = list(wanted.search.notices)
    said += [
        f"“{size}” is not a size; write 500 kB or 2 MB."
        for size in (wanted.larger, wanted.smaller)
        if size and bytes_of(size) is None
    ]
    said += [
        f"“{day}” is not a date; write it as 2026-10-01."
        for day in (wanted.since, wanted.until)
        if day and day_of(day) is None
    ]
    return said
