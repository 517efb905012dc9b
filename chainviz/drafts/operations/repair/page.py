"""The repair page: what could be mended, chosen fix by fix; the answer is a step of a draft.

Of a long chain the structure is judged at once. Reading all its messages for what only contents show is a job, and so is
carrying out what was chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.core.chain.paths import Path
from chainviz.core.errors import ChainError, Refused
from chainviz.core.operations.repair import CHOICES, Fix, Repair, RepairOptions, propose
from chainviz.drafts import services
from chainviz.drafts.operations.job import operation_job, start_operation
from chainviz.drafts.operations.repair.cards import Cards, cards_of, options_in
from chainviz.drafts.operations.repair.reading_job import fixes_of, reading_of, start_reading
from chainviz.drafts.operations.responses import begun_draft, moved_on, see_other, to_draft
from chainviz.drafts.operations.step_job import is_long
from chainviz.drafts.operations.waiting import at_step, step_of, waiting
from chainviz.drafts.target import Ground, ground_of
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.web.htmx import wants_fragment
from chainviz.web.query_params import small_number

REPAIR = Repair()


@require_http_methods(["GET", "HEAD", "POST"])
def repair(request: HttpRequest, chain_id: int) -> HttpResponse:
    ground = ground_of(request, chain_id)
    mending = step_of(request, ground, partial(operation_job, REPAIR), is_long=is_long(ground.stored))
    if mending is not None:
        head = {**_head(ground), "name": "Repair", "heading": "Repair", "doing": "Repairing the chain"}
        return waiting(request, mending, _address(ground), head)
    if request.method != "POST":
        begun = begun_draft(request, ground)
        if begun is not None:
            return redirect(reverse("drafts:repair", args=[chain_id]) + f"?draft={begun.pk}")
    reading = reading_of(ground, request.user) if is_long(ground.stored) else None
    act = request.POST.get("act", "")
    if act == "read":
        start_reading(ground, request.user)
        return see_other(_address(ground))
    if act == "stop" and reading is not None:
        lease.cancel(reading)
        return see_other(_address(ground))
    if wants_fragment(request) and reading is not None and request.method != "POST":
        return render(request, "drafts/repair/_reading.html", {"page": {**_head(ground), "reading": reading}})
    return _choice(request, ground, reading)


def _choice(request: HttpRequest, ground: Ground, reading: Job | None) -> HttpResponse:
    kind = request.GET.get("kind", "")
    kind = kind if kind in CHOICES else ""
    error = ""
    content = not is_long(ground.stored) or (reading is not None and reading.state == Job.State.DONE)
    if request.method == "POST":
        # what a form offered is what it answers, also where the messages were read in the meantime
        content = content and "content" in request.POST
    fixes = _fixes(ground, reading, content=content)
    if request.method == "POST":
        try:
            if request.POST.get("seen") != ground.seen or ("content" in request.POST and not content):
                raise Refused(moved_on(ground))
            return _apply(request, ground, options_in(request.POST, fixes, kind, content=content))
        except ChainError as refused:
            error = str(refused)

    def at(path: Path) -> str:
        return f"{ground.explorer}at/{path}#{path.node.dom_id}"

    cards = cards_of(fixes, kind, small_number(request.GET.get("from", "")) or 0, at, ground.query)
    page = {**_head(ground), **_of_cards(request, ground, cards), "error": error, "content": content, "reading": reading}
    return render(request, "drafts/repair/repair.html", {"page": page}, status=422 if error else 200)


def _fixes(ground: Ground, reading: Job | None, *, content: bool) -> Sequence[Fix]:
    if content and reading is not None:
        return fixes_of(reading)
    return propose(ground.stored, RepairOptions(content=content))


def _apply(request: HttpRequest, ground: Ground, options: RepairOptions) -> HttpResponse:
    if is_long(ground.stored):
        return see_other(at_step(_address(ground), start_operation(ground, request.user, REPAIR, options)))
    return to_draft(request, *services.change(ground, request.user, REPAIR, options))


def _head(ground: Ground) -> dict[str, object]:
    href, words = ground.back
    return {
        "chain": ground.chain,
        "source_words": ground.words,
        "back_href": href,
        "back_words": words,
        "address": _address(ground),
        "messages": f"{len(ground.stored):,}",
    }


def _of_cards(request: HttpRequest, ground: Ground, cards: Cards) -> dict[str, object]:
    return {
        "seen": ground.seen,
        "fixes": cards.cards,
        "cards": cards,
        "lead": cards.lead,
        "post_href": f"{reverse('drafts:repair', args=[ground.chain.pk])}?{request.GET.urlencode()}",
        "problems_href": f"{ground.explorer}problems",
    }


def _address(ground: Ground) -> str:
    return reverse("drafts:repair", args=[ground.chain.pk]) + ground.query
