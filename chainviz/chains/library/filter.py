"""The filter of the library, read from the query of an address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from chainviz.chains.library.columns import BY_NAME
from chainviz.chains.library.search import SearchText, Term, read_search_text
from chainviz.web.http import typed_words

DEFAULT_ORDER = "-changed"
LONGEST = 200
"""The most characters of a value."""
_SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*([kmg]?)i?b?", re.IGNORECASE)
UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
ADDRESS = {
    "words": "q", "only_problems": "problems", "only_errors": "errors", "only_drafts": "drafts", "only_secrets": "secrets",
    "only_sessions": "sessions", "is_running": "running", "first_day": "from", "last_day": "to",
}  # fmt: skip
"""Names in the address that differ from those of the fields."""


@dataclass(frozen=True, slots=True)
class Filter:
    words: str = ""
    only_problems: bool = False
    only_errors: bool = False
    """Only chains with errors of tools, or of the filter's tool."""
    only_drafts: bool = False
    """Only chains with an open draft of the person."""
    only_secrets: bool = False
    only_sessions: bool = False
    """Only sessions of this machine, and chains that came from them."""
    is_running: bool = False
    """Only sessions that have just changed."""
    agent: str = ""
    health: str = ""
    """A health, as a key of HEALTH_WORDS (sessions.py)."""
    ending: str = ""
    """An end of a session, as a key of ENDING_WORDS (sessions.py)."""
    error: str = ""
    """The text of an error of a tool or an API, as in the index."""
    repeated: str = ""
    """The arguments of a repeated call; `1` for any repeated call."""
    usage: str = ""
    """What a session lacks of its usage, as a key of USAGE_WORDS (sessions.py)."""
    first_day: str = ""
    """Only sessions with records on this day or later."""
    last_day: str = ""
    format: str = ""
    label: str = ""
    """A label, such as `tag:urgent`, `rating:4` or `outcome:1`."""
    tool: str = ""
    model: str = ""
    problem: str = ""
    """A rule of the structure or of a provider that chains break."""
    verdict: str = ""
    """A provider and a state of its verdict, such as `anthropic:rejected`."""
    larger: str = ""
    """The least size, such as `500 kB`."""
    smaller: str = ""
    since: str = ""
    """The first day of the last change, such as 2026-10-01."""
    until: str = ""
    folder: str = ""
    """A project: the recorded working folder of sessions, or a folder of this machine with the files of chains."""
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
        """The query string of the filter, without defaults."""
        said: dict[str, str] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value and value != field.default:
                said[ADDRESS.get(field.name, field.name)] = "1" if value is True else str(value)
        return said

    def address(self, **changes: object) -> str:
        """Return the address of the page with this filter and some changes."""
        asked = {name: value for name, value in {**self.values, **changes}.items() if value not in ("", None)}
        if asked.get("order") == DEFAULT_ORDER:
            del asked["order"]
        return f"?{urlencode(asked)}"


def library_address(query: str, **changes: object) -> str:
    """Return the address of the library with the filter that a form contains as a query string."""
    return f"{reverse('chains:library')}{read_filter(QueryDict(query)).address(**changes)}".removesuffix("?")


def read_filter(asked: QueryDict | Mapping[str, str]) -> Filter:
    """Read the filter from an address. A word such as `tool:grep` in the search field is a filter like the others."""
    values = {name: typed_words(str(asked.get(name, "")), LONGEST) for name in _names()}
    search = read_search_text(values["q"])
    said: dict[str, Any] = {
        field.name: value == "1" if isinstance(field.default, bool) else value
        for field, value in zip(fields(Filter), values.values(), strict=True)
    }
    order = values["order"]
    said["order"] = order if order.removeprefix("-") in BY_NAME else DEFAULT_ORDER
    return Filter(**{**said, **dict(search.filters), "words": search.text})


def _names() -> list[str]:
    return [ADDRESS.get(field.name, field.name) for field in fields(Filter)]


def bytes_of(size: str) -> int | None:
    """Return a size such as `500 kB` in bytes; None for any other text."""
    found = _SIZE.fullmatch(size.strip())
    return int(float(found[1]) * UNITS[found[2].lower()]) if found else None


def day_of(text: str) -> datetime | None:
    """Return the beginning of a day; None for any other text."""
    try:
        return datetime.combine(date.fromisoformat(text), time(), UTC)
    except ValueError:
        return None


def end_of(text: str) -> datetime | None:
    """Return the beginning of the next day; None for any other text."""
    day = day_of(text)
    try:
        return day + timedelta(days=1) if day else None
    except OverflowError:
        return None


def notices(wanted: Filter) -> list[str]:
    """Yield a sentence for each value of the filter that is not understood."""
    said = list(wanted.search.notices)
    said += [
        f"“{size}” is not a size; write 500 kB or 2 MB." for size in (wanted.larger, wanted.smaller) if size and bytes_of(size) is None
    ]
    said += [
        f"“{day}” is not a date; write it as 2026-10-01."
        for day in (wanted.since, wanted.until, wanted.first_day, wanted.last_day)
        if day and day_of(day) is None
    ]
    return said
