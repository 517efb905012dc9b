"""The pages of bulk runs, which begin in the library: options, progress and report."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from chainviz.accounts.audit import recorded_together
from chainviz.accounts.middleware import forbidden
from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import requires
from chainviz.bulk import job
from chainviz.bulk.acts import act_named
from chainviz.bulk.acts.contract import Act
from chainviz.bulk.acts.export import ExportZip, zip_of
from chainviz.bulk.models import PURGE_JOB, PURGES, UNPURGED, BulkRow, BulkRun, BulkRunQuerySet
from chainviz.chains.library.filter import library_address
from chainviz.chains.library.library_page import to_bin
from chainviz.chains.models import Chain, WorkingCopy
from chainviz.chains.working_copies.opening import chosen_chains
from chainviz.core.counts import count_text
from chainviz.core.errors import Refused
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.recipes.step_form import context_of, step_form
from chainviz.web.forms import OptionsForm
from chainviz.web.http import see_other, wants_fragment

ROWS = 100
Outcome = BulkRow.Outcome
LOOKS = {
    Outcome.CHANGED: ("ok", "ok"),
    Outcome.UNCHANGED: ("quiet", "quiet"),
    Outcome.REFUSED: ("problem", "failed"),
    Outcome.WAITING: ("quiet", "clock"),
}
"""The state and icon of each outcome."""


@dataclass(frozen=True, slots=True)
class Tab:
    outcome: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Purge:
    """The purge at the end of a recipe, which an owner must confirm: the chains without confirmation, and the others."""

    waiting: int
    confirmed: int
    failed: int
    """The number of failed purges among the confirmed ones."""
    under_way: int
    """Likewise."""
    unpurged: int
    """The number of chains in which no value could be searched for."""


@dataclass(frozen=True)
class Report:
    run: BulkRun
    act: Act
    shown: str = ""
    """The outcome whose rows are shown; "" for all."""
    page_number: str = "1"

    @cached_property
    def counts(self) -> dict[str, int]:
        found = self.run.rows.order_by().values_list("outcome").annotate(Count("pk"))
        return {**dict.fromkeys(Outcome.values, 0), **dict(found)}

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def title(self) -> str:
        label = self.act.title_of(self.run)
        label = f"Undo: {label}" if self.run.undoes_id else label
        return f"{label}, {count_text(self.total, 'chain')}"

    @property
    def done(self) -> str:
        return "undone" if self.run.undoes_id else self.act.done

    @property
    def tabs(self) -> list[Tab]:
        labels = {
            Outcome.CHANGED: self.done,
            Outcome.UNCHANGED: "unchanged",
            Outcome.REFUSED: "refused",
            Outcome.WAITING: "waiting" if self.is_running else "not reached",
        }
        return [Tab(name.value, label, self.counts[name]) for name, label in labels.items() if self.counts[name]]

    @property
    def sentence(self) -> str:
        """The heading, such as “38 of 40 chains masked, 2 refused”."""
        first = f"{self.counts[Outcome.CHANGED]:,} of {count_text(self.total, 'chain')} {self.done}"
        return ", ".join((first, *(f"{tab.count:,} {tab.label}" for tab in self.tabs if tab.outcome != Outcome.CHANGED)))

    @property
    def is_running(self) -> bool:
        return self.run.job is not None and not self.run.job.is_finished

    @property
    def stopped(self) -> str:
        """The reason why some chains were not reached; "" if all were, or while the run is running."""
        job = self.run.job
        if self.is_running or not self.counts[Outcome.WAITING]:
            return ""
        if job is None or job.state == Job.State.CANCELLED:
            return "It was stopped."
        return job.message

    @property
    def can_undo(self) -> bool:
        changes = self.act.name != "export" and self.run.undoes_id is None
        return changes and not self.is_running and bool(self.counts[Outcome.CHANGED])

    @cached_property
    def undone_by(self) -> BulkRun | None:
        return self.run.undone_by.first()

    @property
    def undo_label(self) -> str:
        """The progress of the run that undoes this one."""
        outcomes = set(self.undone_by.rows.values_list("outcome", flat=True)) if self.undone_by else set()
        if Outcome.CHANGED not in outcomes:
            return "Undo" if Outcome.WAITING in outcomes else "Not undone"
        return "Undone" if len(outcomes) == 1 else "Partly undone"

    @cached_property
    def has_masked(self) -> bool:
        """Whether earlier versions still contain the masked values."""
        rows = self.run.rows.filter(outcome=Outcome.CHANGED).only("facts")
        return any(row.facts.get("masked") for row in rows.iterator())

    @cached_property
    def purge(self) -> Purge | None:
        """The state of the purges that the run started, or None if its recipe has no such step, nothing was masked, or
        the run was undone."""
        rows = self.run.rows.filter(outcome=Outcome.CHANGED).only("facts")
        asked = [row.facts for row in rows.iterator() if PURGES in row.facts]
        if not asked or self.undone_by:
            return None
        begun = [facts[PURGE_JOB] for facts in asked if PURGE_JOB in facts]
        unpurged = sum(UNPURGED in facts for facts in asked)
        jobs = Job.objects.filter(pk__in=begun)
        failed, under_way = jobs.filter(state=Job.State.FAILED).count(), jobs.unfinished().count()
        return Purge(len(asked) - len(begun) - unpurged, len(begun), failed, under_way, unpurged)

    @cached_property
    def secrets(self) -> int:
        """The number of chains in an export in which the scan found something."""
        rows = self.run.rows.filter(outcome=Outcome.CHANGED) if self.act.name == "export" else BulkRow.objects.none()
        return sum(bool(row.facts.get("secrets")) for row in rows.only("facts"))

    @cached_property
    def page(self) -> Page[BulkRow]:
        rows = self.run.rows.select_related("chain").order_by("pk")
        return Paginator(rows.filter(outcome=self.shown) if self.shown else rows, ROWS).get_page(self.page_number)

    @property
    def rows(self) -> list[tuple[BulkRow, str, str, str]]:
        """Each row, with the colour, icon and word of its outcome."""
        labels = {tab.outcome: tab.label for tab in self.tabs}
        return [(row, *LOOKS[Outcome(row.outcome)], labels[row.outcome]) for row in self.page]


SHOWN_RUNS, MOST_SESSIONS = 50, 200


@requires("read")
@require_http_methods(["GET", "HEAD", "POST"])
def runs(request: HttpRequest) -> HttpResponse:
    """List the person's runs and, for an owner, runs of the team that wait for a purge. The form of the library begins a run."""
    if request.method == "POST":
        return _begin(request)
    member = member_of(request)
    mine = BulkRun.objects.visible_to(member).exclude(job=None).select_related("job", "undoes")
    waiting = BulkRun.objects.of_team(member).waiting_for_purge() if member.may("purge") else BulkRun.objects.none()
    context = {"reports": _reports(mine), "waiting": _reports(waiting.select_related("job", "author"))}
    return render(request, "bulk/runs.html", context)


def _reports(runs: BulkRunQuerySet) -> list[Report]:
    found = ((run, act_named(run.act)) for run in runs.order_by("-pk")[:SHOWN_RUNS])
    return [Report(run, act) for run, act in found if act is not None]


@recorded_together
def _begin(request: HttpRequest) -> HttpResponse:
    act, member = act_named(request.POST.get("act", "")), member_of(request)
    if act is None:
        messages.error(request, "Choose what to do with the ticked chains.")
        return see_other(library_address(request.POST.get("filter", "")))
    if not member.may(act.permission):
        return forbidden(request, member, act.permission)
    if act.name == "bin" and "all" not in request.POST:
        return to_bin(request)  # at once, with its own undo
    try:
        run = job.begin(act, chosen_chains(request, opens_sessions=act.name != "bin"), by=member)
    except Refused as refused:
        messages.error(request, str(refused))
        return see_other(library_address(request.POST.get("filter", "")))
    return see_other("bulk:run", run.pk)


@requires("read")
@require_http_methods(["GET", "HEAD", "POST"])
def run(request: HttpRequest, bulk_id: int) -> HttpResponse:
    found, act = _run_for(request, bulk_id)
    if request.method == "POST":
        return _act(request, found, act)
    return _page(request, found, act)


def _run_for(request: HttpRequest, bulk_id: int) -> tuple[BulkRun, Act]:
    mine = BulkRun.objects.visible_to(member_of(request)).select_related("job", "team", "author")
    found = get_object_or_404(mine, pk=bulk_id)
    act = act_named(found.act)
    if act is None:
        raise Http404
    return found, act


@recorded_together
def _act(request: HttpRequest, found: BulkRun, act: Act) -> HttpResponse:
    member, wanted = member_of(request), request.POST.get("do", "")
    if wanted == "stop" and found.job is not None:
        lease.cancel(found.job)
        return see_other("bulk:run", found.pk)
    if not member.may(act.permission):
        return forbidden(request, member, act.permission)
    if wanted == "undo" and Report(found, act).can_undo:
        return see_other("bulk:run", job.undo(found, by=member).pk)
    if wanted == "export" and member.may("export"):
        changed = found.rows.filter(outcome=Outcome.CHANGED).values("chain")
        return see_other("bulk:run", job.begin(ExportZip(), Chain.objects.filter(pk__in=changed), by=member).pk)
    if wanted == "cancel" and found.job is None:
        found.delete()
        return see_other("chains:library")
    if found.job is not None:
        if wanted == "go on":
            job.start(found)
        return see_other("bulk:run", found.pk)
    form = form_of(act, member, request.POST)
    if not form.is_valid():
        return _choices(request, found, act, form, 422)
    job.start(found, form.options)
    return see_other("bulk:run", found.pk)


def _page(request: HttpRequest, found: BulkRun, act: Act) -> HttpResponse:
    if found.job is None:
        return _choices(request, found, act, form_of(act, member_of(request)))
    shown = request.GET.get("show", "")
    report = Report(found, act, shown if shown in Outcome.values else "", request.GET.get("page", "1"))
    if wants_fragment(request):
        if not report.is_running:
            return HttpResponse(status=204, headers={"HX-Redirect": reverse("bulk:run", args=[found.pk])})
        return render(request, "bulk/_progress.html", {"report": report})
    return render(request, "bulk/run.html", {"report": report})


def _choices(request: HttpRequest, found: BulkRun, act: Act, form: OptionsForm[Any], status: int = 200) -> HttpResponse:
    context = {"report": Report(found, act), "act": act, **context_of(form, act.first)}
    context["chains"] = [row.chain for row in found.rows.select_related("chain").order_by("pk")[:12]]
    context["files"] = found.rows.values("chain__file_name").distinct().count()
    if act.name == "repair" and member_of(request).may("files"):
        context["in_place"] = _sessions_of(found)
    return render(request, "bulk/choices.html", context, status=status)


def _sessions_of(found: BulkRun) -> str:
    """Return the sessions of the run as a query of the page that fixes them in their files; "" if it is too long for an address."""
    keys = WorkingCopy.objects.filter(chain__in=found.rows.values("chain")).exclude(session=None).values_list("session", flat=True)
    numbers = sorted(set(keys[: MOST_SESSIONS + 1]))
    return urlencode({"session": numbers}, doseq=True) if len(numbers) <= MOST_SESSIONS else ""


@requires("export")
@require_safe
def download(request: HttpRequest, bulk_id: int) -> HttpResponseBase:
    found, act = _run_for(request, bulk_id)
    rows = found.rows.filter(outcome=BulkRow.Outcome.CHANGED).select_related("chain").order_by("pk")
    if act.name != "export" or found.job is None or not found.job.is_finished or not rows.exists():
        raise Http404("There is nothing to download.")
    response = StreamingHttpResponse(zip_of(found, rows.iterator(chunk_size=100)), content_type="application/zip")
    response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response.headers["Content-Disposition"] = f'attachment; filename="chains {found.pk}.zip"'
    return response


# The form of a run: the options of its act.


def form_of(act: Act, member: Membership, data: QueryDict | None = None) -> OptionsForm[Any]:
    form = step_form(act.Options, member, data)
    act.adapt(form, member)
    return form
