"""One form for all chains of a bulk run: purges what the run masked in them. Nothing is purged before its number is typed.

Each chain is a job of its own, as on the page of a single purge; this page then says what became of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.bulk.models import PURGE_JOB, UNPURGED, BulkRow, BulkRun
from chainviz.core.counts import count_text
from chainviz.core.errors import ChainError
from chainviz.jobs.models import Job
from chainviz.purge.app_tables import masks_with
from chainviz.purge.jobs import start_masked
from chainviz.purge.requested_values import prefilled
from chainviz.web.http import see_other

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
    """Purges what can be searched for, and notes where nothing can. A second click finds the rows with their purges."""
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
