"""The page that compares any two chains, such as two runs of one task: facts side by side, then the aligned differences."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.diff.address import NoLinks, asked_of, query
from chainviz.chains.diff.compared import Compared
from chainviz.chains.diff.files.file_page import FILE, Window, file_view, unfolded
from chainviz.chains.diff.folds import asks_to_unfold, fold_answer
from chainviz.chains.diff.page import DiffView, diff_view
from chainviz.chains.diff.runs.compare_runs import compare_runs
from chainviz.chains.diff.runs.sides import facts_of, subject_named
from chainviz.chains.diff.runs.strip_svg import ONE_SIDED, strip_of
from chainviz.chains.diff.stored_rows import StoredRows
from chainviz.chains.explorer.subject import Subject
from chainviz.core.chain.paths import Path
from chainviz.core.diff.chains import ChainDiff
from chainviz.core.diff.runs.run_facts import RunFacts, fact_rows, tool_rows
from chainviz.web.responses import see_other

MOST_TOOLS = 12
BESIDE = 350
"""Elements of the strip, which a page has for its changes otherwise."""


@dataclass(frozen=True, slots=True)
class RunLinks(NoLinks):
    """Where the page of two runs leads: nothing can be changed on it."""

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
    facts: RunFacts
    answer_href: str
    """The last answer; empty where there is none."""


def _at(subject: Subject, path: Path) -> str:
    return f"{subject.base_url}at/{path}#{path.node.dom_id}"


@requires("compare")
@require_safe
def compare_two(request: HttpRequest, one: str, other: str) -> HttpResponse:
    a, b = subject_named(request, one), subject_named(request, other)
    links = RunLinks(reverse("chains:compare_two", args=[one, other]), a, b)
    diff = compare_runs(a.stored, b.stored)
    compared = Compared(diff, a.stored, b.stored, StoredRows(a.stored), StoredRows(b.stored), links, ONE_SIDED)
    asked, window = asked_of(request), Window.of(request)
    if window is not None and window.lines:
        return HttpResponse(unfolded(a.snapshot, b.snapshot, window, links.page))
    if asks_to_unfold(request, asked):
        return fold_answer(compared, asked)
    sides = _side("A", a), _side("B", b)
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


def _first_href(diff: ChainDiff, layout: str) -> str:
    number = diff.first.change if diff.first else 0
    start = number if number > 1 else ""
    return query(**{"from": start, "layout": layout}) + f"#change-{number}" if number else ""


def _diff(request: HttpRequest, compared: Compared, links: RunLinks) -> DiffView:
    window = Window.of(request)
    if window is not None:
        return file_view(links.one.snapshot, links.other.snapshot, window, links.page)
    asked = asked_of(request)
    room = asked.room - BESIDE if not compared.diff.is_empty else asked.room
    return replace(diff_view(compared, replace(asked, room=room)), file_href=links.page + query(view=FILE))


@requires("compare")
@require_POST
def compare_chosen(request: HttpRequest) -> HttpResponse:
    """The two chains that were ticked in the library, in the order of its rows."""
    chosen = [each for each in request.POST.getlist("chain") if each.isdecimal() and len(each) < 10]
    if len(chosen) != 2:
        messages.info(request, "Tick exactly two chains to compare them.")
        return see_other("chains:library")
    return see_other("chains:compare_two", *chosen)


def _side(letter: str, subject: Subject) -> Side:
    facts = facts_of(subject)
    place = facts.outcome and subject.stored.outline.path_at(facts.outcome.message)
    return Side(letter, subject, facts, _at(subject, place.node) if place else "")
