"""The page that compares any two chains, such as two runs of one task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.diff.address import NoLinks, query, read_diff_query
from chainviz.chains.diff.changes_page import DiffView, diff_view
from chainviz.chains.diff.compare import LAYOUT, MOST_COMPARED, Compared, Groups, ReadAhead, StoredRows, from_job, groups_in, pack_groups
from chainviz.chains.diff.files import FILE, Window, file_view, unfolded
from chainviz.chains.diff.groups import asks_to_unfold, fold_answer
from chainviz.chains.diff.strip_svg import ONE_SIDED, strip_of
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.views import version_subject
from chainviz.chains.exports.downloads import TITLES, SharedPage, SharedTable, changes_table, share_page
from chainviz.chains.page_jobs import COMPARE_RUNS, JobNeeded
from chainviz.chains.usage import recorded_times, recorded_usage, uploaded_outline
from chainviz.chains.verdicts import verdicts_by_provider
from chainviz.chains.working_copies.opening import ticked
from chainviz.core.chain.paths import Path
from chainviz.core.diff.chains import ChainDiff, diff_chains
from chainviz.core.diff.runs import RunFacts, are_runs, diff_runs, fact_rows, outcome_of, recorded_outcome, tool_rows
from chainviz.jobs.tasks import JobContext
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.models import Snapshot
from chainviz.store.outline.measures import unpack_charts
from chainviz.store.transfer.document_context import context_of
from chainviz.web.http import see_other
from chainviz.web.prices import models

# Compare two chains that share nothing in the store, such as two runs of one task. Both are read completely, long
# chains once by a job.


def compare_runs(one: StoredChain, other: StoredChain) -> ChainDiff:
    """Raise JobNeeded for long chains that nobody has compared yet."""
    a, b = one.snapshot, other.snapshot
    return ChainDiff(*_cached_groups(a.pk, b.pk, bytes(a.digest), bytes(b.digest)), _old=one, _new=other)


@lru_cache(maxsize=16)
def _cached_groups(one_id: int, other_id: int, one_digest: bytes, other_digest: bytes) -> Groups:
    """Cache groups. The key includes the digests, since a number may be used again."""
    one, other = (Snapshot.objects.get(pk=pk) for pk in (one_id, other_id))
    if one.messages + other.messages <= MOST_COMPARED:
        return _groups(one, other)
    digests = one_digest.hex() + other_digest.hex()
    needed = JobNeeded(COMPARE_RUNS, other.history_id, before=one_id, after=other_id, digests=digests, layout=LAYOUT)
    return from_job(needed) or _groups(one, other)


def _groups(one: Snapshot, other: Snapshot) -> Groups:
    a, b = ReadAhead(one), ReadAhead(other)
    compared = diff_runs if are_runs(a, b) else diff_chains
    diff = compared(a, b, rows=lambda chain: StoredRows(chain))  # type: ignore[arg-type]
    return groups_in(diff)


def compare_runs_by_job(context: JobContext, *, before: int, after: int, digests: str, **key: Any) -> list[Any] | None:
    """`key` identifies the job and the form of its result. Returns None if a purge removed one of the versions meanwhile."""
    one, other = (Snapshot.objects.filter(pk=pk).first() for pk in (before, after))
    if one is None or other is None or (bytes(one.digest) + bytes(other.digest)).hex() != digests:
        return None
    return pack_groups(_groups(one, other))


# The two chains of a comparison: their names in an address, and their recorded facts.


def subject_named(request: HttpRequest, reference: str) -> Subject:
    """Return the chain with a name: `12` is the newest version of chain 12, `12.3` its version 3."""
    numbers = reference.split(".")
    if len(numbers) > 2 or not all(each.isascii() and each.isdecimal() and 0 < len(each) < 10 for each in numbers):
        raise Http404("A chain is named by its number, or its number and a version, such as 12.3.")
    return version_subject(request, *map(int, numbers))


def facts_of(subject: Subject) -> RunFacts:
    snapshot, outline = subject.snapshot, subject.outline
    usage, tools = recorded_usage(uploaded_outline(outline)), unpack_charts(outline.charts).tools
    return RunFacts(
        messages=snapshot.messages,
        pairs=snapshot.pairs,
        size=snapshot.size,
        problems=outline.errors + outline.warnings,
        verdicts={provider.label: said.text for provider, said in verdicts_by_provider(unpack(outline.verdicts)).items()},
        usage=usage.total if usage.is_recorded else None,
        model=usage.model,
        cost=usage.cost(models()) if usage.is_recorded else None,
        seconds=recorded_times(outline).seconds,
        tools={name: counts[0] for name, counts in tools.items() if counts[0]},
        tool_errors=sum(counts[4] for counts in tools.values()),
        labels=tuple(label.text for label in subject.chain.labels.filter(path="").order_by("kind", "pk")),
        outcome=outcome_of(subject.stored),
        recorded_outcome=recorded_outcome(context_of(snapshot)),
    )


# The page that compares any two chains, such as two runs of one task: facts side by side, then the aligned
# differences.


MOST_TOOLS = 12
BESIDE = 350
"""The elements of the strip; on other pages changes use them."""


@dataclass(frozen=True, slots=True)
class RunLinks(NoLinks):
    """The addresses of the page of two runs, which has no form for changes."""

    one: Subject
    other: Subject

    def before(self, path: Path) -> str:
        return _at(self.one, path)

    def after(self, path: Path) -> str:
        return _at(self.other, path)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two chains."""

    letter: str
    subject: Subject
    note: str
    """Distinguishes chains with the same title; empty if the titles differ."""
    facts: RunFacts
    answer_href: str
    """The address of the last answer; empty if there is none."""


def _at(subject: Subject, path: Path) -> str:
    return f"{subject.base_url}at/{path}#{path.node.dom_id}"


@requires("compare")
@require_safe
def compare_two(request: HttpRequest, one: str, other: str) -> HttpResponse:
    a, b = subject_named(request, one), subject_named(request, other)
    links = RunLinks(reverse("chains:compare_two", args=[one, other]), a, b)
    diff = compare_runs(a.stored, b.stored)
    compared = Compared(diff, a.stored, b.stored, StoredRows(a.stored), StoredRows(b.stored), links, ONE_SIDED)
    asked, window = read_diff_query(request), Window.of(request)
    if window is not None and window.lines:
        return HttpResponse(unfolded(a.snapshot, b.snapshot, window, links.page))
    if asks_to_unfold(request, asked):
        return fold_answer(compared, asked)
    sides = [_side(*each) for each in zip("AB", (a, b), notes_of((a, b)), strict=True)]
    if request.GET.get("as") == "html":
        return share_page(request, [(each.chain, each.version) for each in (a, b)], _shared(sides, diff))
    tools = list(tool_rows(sides[0].facts, sides[1].facts))
    most = max((max(a, b) for _, a, b in tools), default=1)
    page = {
        "sides": sides,
        "facts": list(fact_rows(sides[0].facts, sides[1].facts)),
        "tools": [(name, a, b, 100 * a // most, 100 * b // most) for name, a, b in tools[:MOST_TOOLS]],
        "tools_left": max(0, len(tools) - MOST_TOOLS),
        "first": diff.first,
        "little_in_common": diff.little_in_common,
        "first_href": _first_href(diff, asked.layout),
        "strip": strip_of(diff, a.stored, b.stored, asked.layout),
        "diff": _diff(request, compared, links),
        "swap_href": reverse("chains:compare_two", args=[other, one]),
    }
    return render(request, "chains/diff/runs.html", {"page": page})


def _shared(sides: Sequence[Side], diff: ChainDiff) -> SharedPage:
    names = [f"{side.letter}: {side.subject.chain.title}, {side.subject.title}" for side in sides]
    one, other = (side and side.number for side in (diff.first.old, diff.first.new)) if diff.first else ("", "")
    first = f"They first differ at {one or 'nothing'} of A and {other or 'nothing'} of B." if diff.first else "They are equal."
    facts = [(row.name, row.one, row.other) for row in fact_rows(sides[0].facts, sides[1].facts)]
    contains = (TITLES, "Facts of both runs: counts, tokens, cost, verdicts", "Each difference: its place, kind and size")
    tables = SharedTable("Side by side", ("", "A", "B"), facts), changes_table(diff)
    return SharedPage("comparison.html", "Two runs compared", f"{' · '.join(names)}. {first}", contains, tables)


def _first_href(diff: ChainDiff, layout: str) -> str:
    number = diff.first.change if diff.first else 0
    start = number if number > 1 else ""
    return query(**{"from": start, "layout": layout}) + f"#change-{number}" if number else ""


def _diff(request: HttpRequest, compared: Compared, links: RunLinks) -> DiffView:
    window = Window.of(request)
    if window is not None:
        return file_view(links.one.snapshot, links.other.snapshot, window, links.page)
    asked = read_diff_query(request)
    room = asked.room - BESIDE if not compared.diff.is_empty else asked.room
    return replace(diff_view(compared, replace(asked, room=room)), file_href=links.page + query(view=FILE))


@requires("compare")
@require_http_methods(["GET", "HEAD", "POST"])
def compare_chosen(request: HttpRequest) -> HttpResponse:
    """Compare the chains that were ticked in the library, in the order of its rows: two side by side, more of them as a
    table."""
    chosen = list(map(str, ticked(request))) if request.method == "POST" else request.GET.getlist("run")
    if len(chosen) < 2:
        messages.info(request, "Tick at least two chains to compare them.")
        return see_other("chains:library")
    if len(chosen) == 2:
        return see_other("chains:compare_two", *chosen)
    if request.method == "POST":
        return see_other(f"{reverse('chains:compare_chosen')}?{urlencode([('run', each) for each in chosen])}")
    shown = chosen[:MOST_RUNS]
    columns, rows = run_table(request, shown)
    page = {"rows": rows, "columns": columns, "count": len(chosen), "left": len(chosen) - len(shown)}
    return render(request, "chains/diff/many.html", {"page": page})


MOST_RUNS = 12
COLUMNS: dict[str, Callable[[RunFacts], bool]] = {
    "Problems": lambda facts: True,
    "Tool errors": lambda facts: True,
    "Tokens in": lambda facts: facts.usage is not None,
    "Tokens out": lambda facts: facts.usage is not None,
    "Cost": lambda facts: facts.cost is not None,
    "Duration": lambda facts: bool(facts.seconds),
}
"""The facts of each run in the table of several. A fact that no run records has no column."""
NOT_RECORDED = "–"


@dataclass(frozen=True, slots=True)
class RunRow:
    """A chain in the table of several runs."""

    side: Side
    facts: dict[str, str]
    """The facts by the names of their columns."""
    compare_url: str
    """The address of the comparison with the first chain; empty for the first itself."""
    first: str
    """Where the chain first differs from the first one, such as `1.3`; empty if the chains are equal or too long to
    compare here."""
    is_equal: bool


def run_table(request: HttpRequest, references: Sequence[str]) -> tuple[list[str], list[RunRow]]:
    """Return the names of the columns of facts, and a row for each run."""
    subjects = [subject_named(request, each) for each in references]
    sides = [_side(str(n), *each) for n, each in enumerate(zip(subjects, notes_of(subjects), strict=True), 1)]
    columns = [name for name, is_recorded in COLUMNS.items() if any(is_recorded(side.facts) for side in sides)]
    rows = []
    for reference, side in zip(references, sides, strict=True):
        words = {row.name: row.other for row in fact_rows(sides[0].facts, side.facts)}
        is_first = side is sides[0]
        url = "" if is_first else reverse("chains:compare_two", args=[references[0], reference])
        first, is_equal = ("", False) if is_first else _first_difference(subjects[0], side.subject)
        facts = {name: words[name] if COLUMNS[name](side.facts) else NOT_RECORDED for name in columns}
        rows.append(RunRow(side, facts, url, first, is_equal))
    return columns, rows


def _first_difference(one: Subject, other: Subject) -> tuple[str, bool]:
    """Return the first difference of the other chain, and whether the two are equal."""
    try:
        found = compare_runs(one.stored, other.stored).first
    except JobNeeded:
        return "", False
    if found is None:
        return "", True
    side = found.new or found.old
    return side.number if side is not None else "", False


def _side(letter: str, subject: Subject, note: str) -> Side:
    facts = facts_of(subject)
    place = facts.outcome and subject.stored.outline.path_at(facts.outcome.message)
    return Side(letter, subject, note, facts, _at(subject, place.node) if place else "")


def notes_of(subjects: Sequence[Subject]) -> list[str]:
    """Return the file or the time of each chain that shares its title with another one, and "" for the others."""
    titles = [each.chain.title for each in subjects]
    files = [each.chain.file_name for each in subjects]
    return [
        "" if titles.count(each.chain.title) == 1 else file if files.count(file) == 1 else _time_of(each)
        for each, file in zip(subjects, files, strict=True)
    ]


def _time_of(subject: Subject) -> str:
    began = recorded_times(subject.outline).began
    then = datetime.fromtimestamp(began / 1000, UTC) if began else subject.chain.created_at
    return f"{then:%Y-%m-%d %H:%M} UTC"
