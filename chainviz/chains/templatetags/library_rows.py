"""Mark the rows of the library that look different now, `{% row_marks rows drafts jobs as marks %}`, and write those of sessions,
`{% session_row row columns %}`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from django import template
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString

from chainviz.chains.library.cells import SessionRow
from chainviz.chains.library.refresh import changed_rows, row_marks
from chainviz.chains.verdicts import rule_words
from chainviz.web.formatting.relative_time import relative_time

MOST_ROWS = 1_000
"""Rows that a process remembers: to write them takes half the time of a page, and most look as they did before."""

register = template.Library()
register.simple_tag(row_marks)
register.simple_tag(changed_rows)
register.filter(rule_words)


@dataclass(frozen=True, slots=True)
class _RowKey:
    """All that the HTML of a session's row depends on."""

    row: SessionRow = field(compare=False)
    columns: frozenset[str]
    facts: str
    times: tuple[str, ...]


@register.simple_tag
def session_row(row: SessionRow, columns: set[str]) -> SafeString:
    session, now = row.session, timezone.now()
    facts = {name: value for name, value in vars(session).items() if name != "_state"}
    times = tuple(relative_time(at, now) for at in (session.changed_at, session.began_at) if at)
    return _rendered(_RowKey(row, frozenset(columns), f"{row.is_running}{facts}", times))


@lru_cache(maxsize=MOST_ROWS)
def _rendered(key: _RowKey) -> SafeString:
    return render_to_string("chains/library/_session_row.html", {"row": key.row, "shown": key.columns})
