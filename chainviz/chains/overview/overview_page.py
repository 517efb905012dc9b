"""The page of the overview: a filter, key figures, charts by day, and lists that lead to the library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.folders.choose_folders import chain_folders
from chainviz.chains.library.agents import agent_label
from chainviz.chains.library.library_page import counts, projects_in, side
from chainviz.chains.library.sessions import library_of
from chainviz.chains.models import Chain
from chainviz.chains.overview import figures
from chainviz.chains.overview.charts import Bar, Chart, ChartBar, ChartView, Series, chart
from chainviz.chains.overview.figures import ALL, SPANS, STACKS, Choice, read_choice
from chainviz.chains.usage import cost_text, sum_text
from chainviz.chains.verdicts import rule_words
from chainviz.core.counts import count_text
from chainviz.sessions_index.models import Revision, Session, revision_of
from chainviz.sessions_index.services import progress_of
from chainviz.web.formatting import byte_text, folder_name, hours_text, round_tokens_text, share_text, tokens_text
from chainviz.web.http import url_or_nothing

HEALTH = (
    ("ok", "Accepted", "accepted"),
    ("redacted", "Secrets found", "secrets"),
    ("quiet", "Not fully checked", "part"),
    ("changed", "Cannot be read", "failed"),
    ("problem", "Next request refused", "refused"),
    ("pending", "Not read yet", "unread"),
)
ENDINGS = (
    ("quiet", "Finished", "finished"),
    ("changed", "Interrupted", "interrupted"),
    ("problem", "Stopped by an API error", "api-error"),
    ("pending", "Not recorded", "unrecorded"),
)


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    value: str
    note: str
    url: str
    state: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """A line of a list of states, and its part of the bar above it, in hundredths."""

    state: str
    name: str
    number: int
    share: str
    left: float
    width: float
    url: str


@dataclass(frozen=True, slots=True)
class Rank:
    """A line of a list, with a bar behind its name, in hundredths."""

    name: str
    detail: str
    value: str
    note: str
    width: float
    url: str
    state: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A list with its title."""

    id: str
    title: str
    rows: list[Rank]
    empty: str
    """The text if there are no rows."""
    note: str = ""
    kind: str = ""
    url: str = ""
    """The address that its note links to."""


@requires("read")
@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    member = member_of(request)
    library = library_of(member)
    asked = read_choice(request.GET, timezone.localdate())
    choice = asked if DAYS & request.GET.keys() else _with_sessions(member, asked)
    progress = progress_of(member.team)
    page = _page(member, choice)
    context = {
        "page": page,
        "choice": choice,
        "is_widened": choice != asked,
        "spans": _spans(choice),
        "stacks": _stacks(choice),
        "progress": progress,
        "agents": [(name, agent_label(name)) for name in page.names["agent"]],
        **counts(member, library),
        **side(request, choice.filter, chain_folders(member, Chain.objects.visible_to(member).in_library()), projects_in(library)),
    }
    return render(request, "chains/overview/overview.html", context)


def _with_sessions(member: Membership, choice: Choice) -> Choice:
    """Return the choice with the shortest span, from the usual one up, in which sessions record tokens, or at least exist."""
    spans = (choice, *choice.wider)
    usual = next((each for each in spans if _page(member, each).totals.with_tokens), None)
    return usual or next((each for each in spans if _page(member, each).has_sessions), choice)


def _spans(choice: Choice) -> list[tuple[str, str, bool]]:
    names = [*((name, f"{days} days") for name, days in SPANS.items()), (ALL, "All")]
    cleared = {"from": "", "to": ""}
    return [(choice.address(**{"since": name, **cleared}), label, choice.since == name) for name, label in names]


def _stacks(choice: Choice) -> list[tuple[str, str, bool]]:
    return [(choice.address(by=name), label, choice.by == name) for name, label in STACKS.items()]


DAYS = frozenset(("since", "from", "to"))
"""Parts of an address that choose days."""
MOST_PAGES = 64
"""The number of pages that a process caches."""


def _page(member: Membership, choice: Choice) -> Overview:
    """Return the page of this choice; the one that was shown before where neither the index nor the person's role has changed."""
    return _known_page(member, choice, (member.may("files"), revision_of(member.team_id)))


@lru_cache(maxsize=MOST_PAGES)
def _known_page(member: Membership, choice: Choice, state: tuple[bool, Revision]) -> Overview:
    return Overview(member, choice)


class Overview:
    """The content of the template; each card queries the index once."""

    def __init__(self, member: Membership, choice: Choice) -> None:
        self._member, self._choice = member, choice
        self._sessions = figures.sessions_of(member, choice)
        self._of_all_days = figures.sessions_of_all_days(member, choice)

    @cached_property
    def names(self) -> dict[str, list[str]]:
        return figures.names_of(self._member)

    @cached_property
    def totals(self) -> figures.Totals:
        return figures.totals(self._sessions)

    @property
    def has_sessions(self) -> bool:
        return bool(self.totals.sessions)

    @property
    def days(self) -> str:
        if self._choice.begins is None:
            return f"All days, {self._first:%-d %b %Y} to {self._choice.ends:%-d %b %Y}"
        year = "" if self._choice.begins.year == self._choice.ends.year else f" {self._choice.begins.year}"
        return f"{self._choice.begins:%-d %b}{year} to {self._choice.ends:%-d %b %Y}, compared with as many days before"

    @cached_property
    def _first(self) -> date:
        return figures.first_day(self._of_all_days, self._choice)

    @cached_property
    def _values(self) -> figures.DayValues:
        return figures.day_values(self._of_all_days, self._choice)

    @cached_property
    def key_figures(self) -> list[Figure]:
        return list(self._key_figures())

    def _key_figures(self) -> Iterator[Figure]:
        now, sums, link = self.totals, self._values.sums, self._choice.library
        count_before, duration_before = self._before
        sums_before = self._values.sums_before
        yield Figure("Sessions", f"{now.sessions:,}", _change(now.sessions, count_before), link())
        yield Figure("Cost", sum_text(sums["cost"]), _change(sums["cost"], sums_before["cost"]), link(order="-cost"))
        cached = f"{share_text(sums['cached'], sums['input'])} from the cache" if sums["input"] else ""
        yield Figure("Tokens in", tokens_text(sums["input"]), cached, link(order="-tokens"))
        yield Figure("Tokens out", tokens_text(sums["output"]), _change(sums["output"], sums_before["output"]), link(order="-tokens"))
        yield Figure("Session time", hours_text(now.duration), _change(now.duration, duration_before), link(order="-duration"))
        yield Figure("Next request refused", f"{now.refused:,}", "", link(health="refused"), "problem" if now.refused else "")
        yield Figure("With secrets", f"{now.secrets:,}", "", link(secrets="1"), "redacted" if now.secrets else "")

    @cached_property
    def _before(self) -> tuple[int, int]:
        """The number and the duration of the sessions of the period before."""
        before = self._choice.before
        return (0, 0) if before is None else figures.count_and_duration(figures.sessions_of(self._member, before))

    @cached_property
    def charts(self) -> list[ChartView]:
        cost = chart(self._values.cost, self._first, self._choice.ends)
        tokens = chart(self._values.tokens, self._first, self._choice.ends)
        return [
            self._chart("cost", "Cost", cost, "No session of these days records tokens of a model with a list price."),
            self._chart("tokens", "Tokens", tokens, "No session of these days records tokens with their day."),
        ]

    def _chart(self, id: str, title: str, drawn: Chart, empty: str) -> ChartView:
        text = cost_text if id == "cost" else tokens_text
        bars = tuple(self._bar(bar, drawn.series, text) for bar in drawn.bars)
        series = tuple((each, self._name(each.name), text(each.total), self._series_url(each.name)) for each in drawn.series)
        marks = tuple(_dollar_mark(mark) if id == "cost" else round_tokens_text(mark) for mark in drawn.marks)
        return ChartView(id, title, drawn, bars, series, marks, text(drawn.total), "" if drawn.series else empty)

    def _bar(self, bar: Bar, series: Sequence[Series], text: Any) -> ChartBar:
        named = [f"{self._name(each.name)} {text(value)}" for each, value in zip(series, bar.values, strict=True) if value]
        words = f"{bar.name}: {text(bar.total)}{' (' + ', '.join(named) + ')' if len(named) > 1 else ''}"
        url = self._choice.library(**{"from": str(bar.first), "to": str(bar.last)})
        return ChartBar(bar, url, text(bar.total), words, tuple(text(value) for value in bar.values))

    def _name(self, name: str) -> str:
        """Return the name of a series for people."""
        if self._choice.by == "agent":
            return agent_label(name)
        return folder_name(name) if self._choice.by == "project" else name

    def _series_url(self, name: str) -> str:
        kind = "folder" if self._choice.by == "project" else self._choice.by
        return self._choice.library(**{kind: name}) if name not in ("others", "not recorded") else ""

    @cached_property
    def health(self) -> list[State]:
        return self._states(HEALTH, self.totals.health, "health")

    @cached_property
    def endings(self) -> list[State]:
        return self._states(ENDINGS, self.totals.endings, "ending")

    def _states(self, names: Sequence[tuple[str, str, str]], numbers: dict[str, int], key: str) -> list[State]:
        whole, left, found = max(1, sum(numbers.values())), 0.0, list[State]()
        for state, name, value in names:
            number = numbers.get(value, 0)
            if number:
                width = 100 * number / whole
                url = self._choice.library(**{key: value})
                found.append(State(state, name, number, share_text(number, whole), round(left, 2), round(width, 2), url))
                left += width
        return found

    @cached_property
    def problems(self) -> list[tuple[str, str, int, str, str]]:
        return list(self._problems())

    def _problems(self) -> Iterator[tuple[str, str, int, str, str]]:
        """Yield the words and the sentence of each rule, the sessions that break it, their link and the page that fixes them."""
        for row in figures.problems(self._sessions)[: figures.LISTED] if self.totals.refused else ():
            fix = url_or_nothing("fix_sessions")
            url = self._choice.library(health="refused", problem=row["rule"])
            yield rule_words(row["rule"]), row["first"], row["number"], url, f"{fix}?{url.partition('?')[2]}" if fix else ""

    @cached_property
    def _tools(self) -> list[dict[str, Any]]:
        return figures.tools(self._of_all_days, self._choice)

    @cached_property
    def tools_by_bytes(self) -> list[Rank]:
        whole = sum(row["size"] for row in self._tools)
        most = max((row["size"] for row in self._tools), default=0)
        return [
            Rank(
                row["name"], "", byte_text(row["size"]), share_text(row["size"], whole),
                _width(row["size"], most), self._tool(row["name"]),
            )
            for row in self._tools[: figures.LISTED] if row["size"]
        ]  # fmt: skip

    @cached_property
    def tools_by_errors(self) -> list[Rank]:
        rows = figures.tools_by_errors(self._tools)
        most = max((row["faults"] / row["number"] for row in rows), default=0)
        return [
            Rank(
                row["name"], "", f"{100 * row['faults'] / row['number']:.1f}%", f"{row['faults']:,} of {row['number']:,}",
                _width(row["faults"] / row["number"], most), self._tool(row["name"], errors="1"), "problem",
            )
            for row in rows
        ]  # fmt: skip

    def _tool(self, name: str, **more: str) -> str:
        return self._choice.library(tool=name, **more)

    @cached_property
    def errors(self) -> list[Rank]:
        rows = figures.errors(self._sessions)
        most = max((row["number"] for row in rows), default=0)
        return [
            Rank(
                row["text"], f"{row['tools']} tools" if row["tools"] > 1 else row["tool"] or "API",
                f"{row['number']:,}×", count_text(row["sessions"], "session"),
                _width(row["number"], most), self._choice.library(error=row["text"]), "problem",
            )
            for row in rows
        ]  # fmt: skip

    @cached_property
    def _repeats(self) -> tuple[list[dict[str, Any]], dict[str, int]]:
        return figures.repeats(self._sessions)

    @cached_property
    def repeats(self) -> list[Rank]:
        rows, _ = self._repeats
        most = max((row["size"] for row in rows), default=0)
        return [
            Rank(
                row["tool"], row["arguments"], f"≈{tokens_text(row['tokens'])}", f"{row['number']:,}× in {row['sessions']:,}",
                _width(row["size"], most), self._choice.library(tool=row["tool"], repeated=row["arguments"] or "1"),
            )
            for row in rows
        ]  # fmt: skip

    @property
    def repeats_in_all(self) -> str:
        _, whole = self._repeats
        return f"{count_text(whole['number'], 'call')}, ≈{tokens_text(whole['tokens'])} tokens" if whole["number"] else ""

    @cached_property
    def near_window(self) -> list[Rank]:
        return [self._near(session) for session in figures.near_window(self._sessions)]

    def _near(self, session: Session) -> Rank:
        context, window = session.context or 0, session.window or 1
        state = "problem" if context >= window else "changed" if context >= 0.9 * window else ""
        note = f"{round_tokens_text(context)} of {round_tokens_text(window)}"
        share = 100 * context / window
        return Rank(session.title, "", f"{share:.0f}%", note, min(100, round(share, 1)), session_url(session), state, session.agent)

    @cached_property
    def most_expensive(self) -> list[Rank]:
        rows = figures.most_expensive(self._sessions)
        most = max((session.cost or 0 for session in rows), default=0)
        return [
            Rank(
                session.title, "", cost_text(session.cost or 0), tokens_text(session.tokens or 0),
                _width(session.cost or 0, most), session_url(session), "", session.agent,
            )
            for session in rows
        ]  # fmt: skip

    @cached_property
    def cards(self) -> list[Card]:
        return [
            Card("bytes", "Tools by bytes of results", self.tools_by_bytes, "No tool results in these days."),
            Card("faults", "Tools by share of errors", self.tools_by_errors, "No tool called 10 times failed.", "10 calls or more"),
            Card(
                "repeats", "Same call again, same result", self.repeats, "No call was made twice.", self.repeats_in_all,
                url=self._choice.library(repeated="1"),
            ),
            Card("errors", "Errors of tools and APIs", self.errors, "No errors in these sessions.", "equal but for numbers", "wide"),
            Card("window", "Near their context window", self.near_window, "No session uses 70% of its window.", kind="half"),
            Card(
                "expensive", "Most expensive sessions", self.most_expensive, "No session has recorded tokens with a list price.",
                "All by cost", "half", self._choice.library(order="-cost"),
            ),
        ]  # fmt: skip

    @property
    def omissions(self) -> Iterator[tuple[str, str, str]]:
        """Yield the sessions that the sums do not count, their address, and the end of the sentence."""
        link = self._choice.library
        if count := self.totals.without_usage:
            yield count_text(count, "session"), link(usage="unrecorded"), "without recorded tokens: not in the sums."
        if count := self.totals.without_price:
            yield count_text(count, "session"), link(usage="unpriced"), "with models that have no list price: not in the cost."

    @property
    def all_url(self) -> str:
        return self._choice.library()

    @property
    def refused_url(self) -> str:
        return self._choice.library(health="refused")


def session_url(session: Session) -> str:
    return url_or_nothing("chains:session", session.pk)


def _change(now: int, before: int) -> str:
    if not before:
        return ""
    percent = round(100 * (now - before) / before)
    return f"{percent:+,}%".replace("-", "−") if percent else "as before"


def _dollar_mark(millionths: int) -> str:
    dollars = millionths / 1_000_000
    digits = 0 if dollars % 1 == 0 else 2 if dollars >= 0.01 else 5
    return f"${dollars:,.{digits}f}"


def _width(value: float, most: float) -> float:
    return round(100 * value / most, 1) if most else 0
