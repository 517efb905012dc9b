"""The page of any operation of the registry that has none of its own: its form is made from its options."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.core.errors import ChainError
from chainviz.core.operations import OPERATIONS
from chainviz.core.operations.contract import Operation, Options
from chainviz.drafts import services
from chainviz.drafts.operations.job import operation_job, start_operation
from chainviz.drafts.operations.responses import begun_draft, moved_on, see_other, to_draft
from chainviz.drafts.operations.step_job import is_long
from chainviz.drafts.operations.waiting import STOPPED, at_step, ended_in_vain, step_of, waiting
from chainviz.drafts.target import Ground, ground_of
from chainviz.jobs.models import Job
from chainviz.web.forms import OptionsForm, options_form
from chainviz.web.htmx import wants_fragment

OWN_PAGES = {"repair", "edit", "redact", "mask", "summarize"}


def operation_named(name: str) -> Operation[Any]:
    found = next((each for each in OPERATIONS if each.name == name and name not in OWN_PAGES), None)
    if found is None:
        raise Http404
    return found


@require_http_methods(["GET", "HEAD", "POST"])
def operation(request: HttpRequest, chain_id: int, name: str) -> HttpResponse:
    chosen = operation_named(name)
    ground = ground_of(request, chain_id)
    job = step_of(request, ground, partial(operation_job, chosen), is_long=is_long(ground.stored))
    if job is not None:
        return _of_job(request, ground, chosen, job)
    form = options_form(chosen.Options)(request.POST if request.method == "POST" else None)
    error = ""
    if request.method != "POST":
        begun = begun_draft(request, ground)
        if begun is not None:
            return redirect(f"{reverse('drafts:operation', args=[chain_id, name])}?draft={begun.pk}")
    elif request.POST.get("seen") != ground.seen:
        error = moved_on(ground)
    elif form.is_valid():
        try:
            return _apply(request, ground, chosen, form.options)
        except ChainError as refused:
            error = str(refused)
    return _page(request, ground, chosen, form, error)


def _apply(request: HttpRequest, ground: Ground, chosen: Operation[Any], options: Options) -> HttpResponse:
    if is_long(ground.stored):
        return see_other(at_step(_address(ground, chosen), start_operation(ground, request.user, chosen, options)))
    return to_draft(request, *services.change(ground, request.user, chosen, options))


def _of_job(request: HttpRequest, ground: Ground, chosen: Operation[Any], job: Job) -> HttpResponse:
    """The form as it was sent, where nothing came of it."""
    if not ended_in_vain(job) or request.method == "POST" or wants_fragment(request):
        head = {**_head(ground), "name": chosen.label, "heading": chosen.label, "doing": "Working through the chain"}
        return waiting(request, job, _address(ground, chosen), head)
    form = options_form(chosen.Options)()
    given = job.args["options"]
    form.initial = {key: ", ".join(value) if isinstance(value, list) else value for key, value in given.items()}
    note = STOPPED if job.state == Job.State.CANCELLED else ""
    return _page(request, ground, chosen, form, "" if note else job.message, note)


def _page(
    request: HttpRequest, ground: Ground, chosen: Operation[Any], form: OptionsForm[Any], error: str, note: str = ""
) -> HttpResponse:
    page = {
        **_head(ground),
        "operation": chosen,
        "seen": ground.seen,
        "error": error,
        "note": note,
        "post_href": _address(ground, chosen),
        "keep_key": f"{ground.seen}:{chosen.name}",
    }
    status = 422 if request.method == "POST" and (error or form.errors) else 200
    return render(request, "drafts/operations/operation.html", {"page": page, "form": form}, status=status)


def _head(ground: Ground) -> dict[str, object]:
    href, words = ground.back
    return {"chain": ground.chain, "source_words": ground.words, "back_href": href, "back_words": words}


def _address(ground: Ground, chosen: Operation[Any]) -> str:
    return reverse("drafts:operation", args=[ground.chain.pk, chosen.name]) + ground.query
