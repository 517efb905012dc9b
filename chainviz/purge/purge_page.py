"""The pages that purge: what would go is counted first, and only the chain's title, typed, sets it off.

Both are jobs. A small one is over before the page is answered; a long one has a page that can be left and found again. One form for all
chains of a bulk run purges what the run masked in them, after its number is typed. Each chain is a job of its own; the page then says
what became of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.bulk.models import PURGE_JOB, UNPURGED, BulkRow, BulkRun
from chainviz.chains.access import chain_for
from chainviz.chains.models import Chain
from chainviz.core.counts import count_text
from chainviz.core.errors import ChainError
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.purge.jobs import LEFT, LOOK, PURGE, can_stop, forget_typed, job_of, start_look, start_masked, start_purge
from chainviz.purge.values import MOST_VALUES, SHORTEST, masks_with, prefilled, requested_values, with_other_cases
from chainviz.web.http import see_other, small_number, small_numbers, wants_fragment

MOST_NAMED = 20
NOT_THE_TITLE = "This is not the title. Nothing was purged."
NOT_SEARCHED = "Text inside pictures and in compressed or encrypted content cannot be searched."
MISNAMED = "misnamed"
"""A parameter in the address of a count: the person entered another title than the chain's."""
NOTHING_TYPED = {"values": "", "paths": ""}
"""With both names: a template takes the word `values` of a dict without that key for its method."""


@requires("purge")
@require_http_methods(["GET", "HEAD", "POST"])
def purge_page(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    number = small_number(request.GET.get("job", ""))
    job = job_of(chain, person_of(request), number)
    if number and job is None:
        raise Http404
    if request.method == "POST":
        return _act(request, chain, job)
    return _of_job(request, chain, job) if job is not None else _first(request, chain)


def _first(request: HttpRequest, chain: Chain) -> HttpResponse:
    """Show the empty form. `?masked=3` fills in what was masked up to version 3 or is found in it; no value is ever
    part of an address."""
    version = small_number(request.GET.get("masked", ""))
    if version is None:
        return _page(request, chain, NOTHING_TYPED)
    try:
        begun = prefilled(chain, version, person_of(request))
    except ChainError as refused:
        return _page(request, chain, NOTHING_TYPED, note=str(refused))
    return _page(request, chain, {**NOTHING_TYPED, "values": begun.values}, note=begun.note)


def _act(request: HttpRequest, chain: Chain, job: Job | None) -> HttpResponse:
    act = request.POST.get("act", "")
    if act in ("keep", "stop"):
        if job is not None and can_stop(job):
            lease.cancel(job)
        forget_typed(chain)
        return see_other("chains:versions" if act == "keep" else "purge", chain.pk)
    person = person_of(request)
    typed = {name: request.POST.get(name, "") for name in ("values", "paths", "title")}
    if act == "cases":
        return _page(request, chain, {**typed, "values": with_other_cases(typed["values"])})
    also = set(small_numbers(request.POST.getlist("also")))
    is_named = chain.is_called(typed["title"])
    try:
        if act == "purge" and is_named:
            return _after(request, chain, start_purge(chain, typed["values"], typed["paths"], also, by=person), typed)
        job = start_look(chain, typed["values"], typed["paths"], by=person)
    except ChainError as refused:
        return _page(request, chain, typed, error=str(refused))
    if act == "purge" and job.state == Job.State.DONE:
        return _page(request, chain, typed, job=job, also=also, title_error=NOT_THE_TITLE)
    return _after(request, chain, job, typed, misnamed=act == "purge")


def _after(request: HttpRequest, chain: Chain, job: Job, typed: dict[str, str], *, misnamed: bool = False) -> HttpResponse:
    """Answer after the start of a job, which may already be done."""
    if not job.is_finished:
        return see_other(_address(chain, job, misnamed))
    if job.state == Job.State.DONE and job.function == PURGE:
        return _done(request, chain, job)
    return _result(request, chain, job, typed)


def _address(chain: Chain, job: Job, misnamed: bool) -> str:
    return f"{reverse('purge', args=[chain.pk])}?job={job.pk}" + (f"&{MISNAMED}=1" if misnamed else "")


def _of_job(request: HttpRequest, chain: Chain, job: Job) -> HttpResponse:
    address = _address(chain, job, MISNAMED in request.GET)
    if not job.is_finished:
        waiting = {"chain": chain, "job": job, "address": address, "is_look": job.function == LOOK}
        waiting["can_stop"] = can_stop(job)
        name = "purge/_purge_job.html" if wants_fragment(request) else "purge/purge_job.html"
        return render(request, name, waiting)
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    if job.state == Job.State.DONE and job.function == PURGE:
        return _done(request, chain, job)
    return _result(request, chain, job, {name: job.args.get(name, "") for name in ("values", "paths")})


def _result(request: HttpRequest, chain: Chain, job: Job, typed: dict[str, str]) -> HttpResponse:
    if job.state == Job.State.DONE:
        errors = {"title_error": NOT_THE_TITLE} if MISNAMED in request.GET else {}
        return _page(request, chain, typed, job=job, **errors)
    stopped = "The purge was stopped before anything was changed."
    return _page(request, chain, typed, error=stopped if job.state == Job.State.CANCELLED else job.message)


def _done(request: HttpRequest, chain: Chain, job: Job) -> HttpResponse:
    left = LEFT[job.result["left"]]
    again = job.result.get("again")
    text = f"Purged: {job.result['places']:,} places are blank now, in every version. {_second_search_text(again)} {left}".strip()
    (messages.warning if left or again else messages.success)(request, text, extra_tags="purged")
    return see_other("chains:audit", chain.pk)


def _second_search_text(places: int | None) -> str:
    if places is None:
        return NOT_SEARCHED
    found = f"A second search still found {places:,}: purge again." if places else "A second search found none."
    return f"{found} {NOT_SEARCHED}"


@dataclass(frozen=True, slots=True)
class Other:
    """A chain of another file that contains a value too, with those that share its file."""

    chain: Chain
    more: int
    places: int
    is_chosen: bool


def _page(
    request: HttpRequest, chain: Chain, typed: dict[str, str], *, job: Job | None = None, also: Any = (), note: str = "", **errors: str
) -> HttpResponse:
    context = {"chain": chain, "typed": typed, "most": MOST_VALUES, "shortest": SHORTEST, "note": note, **errors}
    if job is not None:
        own = Chain.objects.visible_to(member_of(request))
        same = own.filter(pk__in=job.result["family"]).exclude(pk=chain.pk).order_by("pk")
        context |= {
            "found": job.result,
            "same": same[:MOST_NAMED],
            "more": max(0, same.count() - MOST_NAMED),
            "others": list(_others(own, job, also)),
            "masks": masks_with([chain], requested_values(chain, typed["values"], typed["paths"])),
        }
    return render(request, "purge/purge.html", context, status=422 if errors else 200)


def _others(own: Any, job: Job, also: Any) -> Any:
    for keys, places in job.result["others"]:
        chains = list(own.filter(pk__in=keys).order_by("pk"))
        if chains:
            yield Other(chains[0], len(chains) - 1, places, chains[0].pk in also)


AT_ONCE = 100
"""The number of chains whose values are counted and purged together."""
NOT_THE_NUMBER = "This is not the number of chains. Nothing was purged."


@dataclass(frozen=True, slots=True)
class Masked:
    """A chain of the run, and what would be purged from it."""

    row: BulkRow
    values: tuple[str, ...]
    note: str


@requires("purge")
@require_http_methods(["GET", "HEAD", "POST"])
def purge_of_run(request: HttpRequest, bulk_id: int) -> HttpResponse:
    run = get_object_or_404(BulkRun.objects.of_team(member_of(request)), pk=bulk_id)
    rows = [row for row in _rows(run) if row.facts.get("masked")]
    if not rows or run.undone_by.exists():
        raise Http404("This run masked nothing.")
    waiting = [row for row in rows if not row.facts.keys() & {PURGE_JOB, UNPURGED}]
    found = [_masked(row) for row in waiting[:AT_ONCE]]
    chosen = [each for each in found if each.values]
    error = ""
    if request.method == "POST":
        if found and request.POST.get("number", "").strip() == str(len(chosen)):
            _settle(request, run, found)
            BulkRun.objects.filter(pk=run.pk).update(awaits_purge=len(waiting) > len(found))
            return see_other("purge_of_run", run.pk)
        error = NOT_THE_NUMBER
    is_own = run.author_id == person_of(request).pk
    context = {
        "run": run,
        "back": reverse("bulk:run", args=[run.pk]) if is_own else reverse("bulk:runs"),
        "chosen": chosen,
        "left_out": [each for each in (*found, *_settled(rows)) if not each.values],
        "can_close": bool(found) and not chosen and run.awaits_purge,
        "values": count_text(sum(len(each.values) for each in chosen), "value"),
        "masks": masks_with([each.row.chain for each in chosen], [value for each in chosen for value in each.values]),
        "chains": count_text(len(chosen), "chain"),
        "more": len(waiting) - len(found),
        "started": list(_started(rows)),
        "error": error,
    }
    return render(request, "purge/purge_of_run.html", context, status=422 if error else 200)


def _rows(run: BulkRun) -> list[BulkRow]:
    return list(run.rows.filter(outcome=BulkRow.Outcome.CHANGED).select_related("chain").order_by("pk"))


def _masked(row: BulkRow) -> Masked:
    assert row.after is not None
    try:
        begun = prefilled(row.chain, row.after)
    except ChainError as refused:
        return Masked(row, (), str(refused))
    return Masked(row, tuple(filter(None, begun.values.split("\n"))), begun.note)


def _settled(rows: list[BulkRow]) -> Iterator[Masked]:
    return (_masked(row) for row in [row for row in rows if UNPURGED in row.facts][:AT_ONCE])


@transaction.atomic
def _settle(request: HttpRequest, run: BulkRun, found: list[Masked]) -> None:
    """Start the purges of values that can be searched for, and note the rows without such values. A second click finds the rows with their
    purges."""
    with_values = {each.row.pk: bool(each.values) for each in found}
    rows = run.rows.select_for_update(of=("self",)).select_related("chain").filter(pk__in=with_values).order_by("pk")
    for row in rows:
        if PURGE_JOB in row.facts or row.after is None:
            continue
        if with_values[row.pk]:
            row.facts[PURGE_JOB] = start_masked(row.chain, row.after, by=person_of(request)).pk
        else:
            row.facts[UNPURGED] = True
        row.save(update_fields=["facts"])


def _started(rows: list[BulkRow]) -> Iterator[tuple[BulkRow, Job | None]]:
    """Rows with their purges; a purge that is over may have been forgotten since."""
    numbers = [row.facts[PURGE_JOB] for row in rows if PURGE_JOB in row.facts]
    jobs = Job.objects.in_bulk(numbers)
    return ((row, jobs.get(row.facts[PURGE_JOB])) for row in rows if PURGE_JOB in row.facts)
