"""Template tags for rows of the library, texts of transcripts, and agents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from typing import Any
from urllib.parse import urlencode

from django import template
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from chainviz.chains.explorer.pasted_error import looks_like_error
from chainviz.chains.folders.opening import following
from chainviz.chains.library.agents import agent_view
from chainviz.chains.library.cells import Row, SessionRow
from chainviz.chains.library.columns import counts
from chainviz.chains.library.refresh import changed_rows, row_marks
from chainviz.chains.render.visible_text import marks
from chainviz.chains.verdicts import rule_words
from chainviz.core.chain.problems import Problem
from chainviz.core.formats import FORMATS
from chainviz.core.providers.contract import NOT_UNDERSTOOD
from chainviz.core.providers.rules import reason_without_fix, rule_anchor
from chainviz.web.formatting import relative_time

MOST_ROWS = 1_000
"""Rows that a process remembers: to write them takes half the time of a page, and most look as they did before."""

register = template.Library()
register.simple_tag(row_marks)
register.simple_tag(changed_rows)
register.filter(rule_words)
register.filter(counts)


@dataclass(frozen=True, slots=True)
class _RowKey:
    """All that the HTML of a row of the library depends on."""

    template: str
    values: Mapping[str, Any] = field(compare=False)
    """The variables of the template."""
    facts: tuple[object, ...]
    """Equal if the HTML is equal."""


@register.simple_tag(takes_context=True)
def library_row(context: Mapping[str, Any], row: Row | SessionRow) -> SafeString:
    """Return the table row of a chain or a session."""
    columns = frozenset(context["shown"])
    if isinstance(row, SessionRow):
        return _rendered(_RowKey("chains/library/_session_row.html", {"row": row, "shown": columns}, (columns, *_session_facts(row))))
    values = {"row": row, "shown": columns, **{name: context.get(name) for name in _ROW_VALUES}}
    return _rendered(_RowKey("chains/library/_row.html", values, (columns, *_chain_facts(row, context))))


_ROW_VALUES = ("marks", "drafts", "jobs", "badges", "labels", "may")
_PLAIN = frozenset((str, int, bool, datetime))


def _session_facts(row: SessionRow) -> Iterator[object]:
    yield row.is_running
    # lists are left out: they change together with the state in which the session was read
    yield from (value for value in vars(row.session).values() if value is None or type(value) in _PLAIN)
    yield from _times(row.session.changed_at, row.session.began_at)


def _chain_facts(row: Row, context: Mapping[str, Any]) -> Iterator[object]:
    chain = row.chain
    # the mark covers the columns of the chain and what the page notes about it; the health and the agent may come from its session
    yield from (chain.pk, context["marks"].get(chain.pk), row.share, row.health, row.agent, frozenset(context.get("may", ())))
    yield from _times(chain.changed_at, chain.began_at)


def _times(*moments: datetime | None) -> Iterator[str]:
    now = timezone.now()
    return (relative_time(at, now) if at else "" for at in moments)


@lru_cache(maxsize=MOST_ROWS)
def _rendered(key: _RowKey) -> SafeString:
    return render_to_string(key.template, dict(key.values))


@register.simple_tag
@cache
def format_options() -> SafeString:
    """Return the options of a field that asks for a format, by label."""
    labels = sorted(((each.name, each.label) for each in FORMATS), key=lambda item: item[1].lower())
    return format_html_join("", '<option value="{}">{}</option>', labels)


register.filter("marks", marks)
register.simple_tag(following, name="following")
register.filter("without_fix", reason_without_fix)


@register.filter
def rule_help(problem: Problem) -> str:
    """Return the address of the rule in the help; "" for a problem of the structure, and for content that is not understood."""
    if not problem.provider or problem.rule == NOT_UNDERSTOOD.id:
        return ""
    return f"{reverse('help:page', args=['provider-rules'])}#{rule_anchor(problem.provider, problem.rule)}"


@register.filter
def error_search(words: str) -> str:
    """Return the address at which the library explains an API error that was typed into another search field; "" for
    other words."""
    return f"{reverse('chains:library')}?{urlencode({'q': words})}" if looks_like_error(words) else ""


@register.simple_tag
def agent_mark(name: str) -> SafeString:
    agent = agent_view(name)
    letters, hue = (agent.letters, str(agent.hue)) if agent else ("·", "")
    return format_html('<span class="agent-mark" data-hue="{}" aria-hidden="true">{}</span>', hue, letters)
