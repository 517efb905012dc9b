"""The page that runs a recipe on one chain: choose a recipe, wait if the chain is long, and review the draft."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.core.errors import ChainError
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.choices import begun_draft, moved_on, to_draft
from chainviz.drafts.operations.recipe import job_of, nothing, run_recipe, start
from chainviz.drafts.operations.run import is_long
from chainviz.drafts.target import Target, target_of
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.recipes.models import Recipe
from chainviz.recipes.services import value_of, without_lists
from chainviz.web.http import see_other, small_number, wants_fragment

PURGE_LATER = (
    "The recipe ends with a purge of the masked values, which is not part of the draft. Save the draft; the new version's report "
    "then offers the purge, and an owner confirms it."
)
STOPPED = "This was stopped, and nothing was changed."


@requires("draft")
@require_http_methods(["GET", "HEAD", "POST"])
def recipe_page(request: HttpRequest, chain_id: int) -> HttpResponse:
    target = target_of(request, chain_id)
    number = small_number(request.GET.get("step", ""))
    job = job_of(target, number) if number else None
    if number and job is None:
        raise Http404
    if job is not None:
        return _of_job(request, target, job)
    if request.method == "POST":
        return _run(request, target)
    begun = begun_draft(target)
    return redirect(_address(target, begun)) if begun is not None else _page(request, target)


def _run(request: HttpRequest, target: Target) -> HttpResponse:
    key = small_number(request.POST.get("recipe", "")) or 0
    row = get_object_or_404(Recipe.objects.visible_to(member_of(request)), pk=key)
    if request.POST.get("seen") != target.seen:
        return _page(request, target, moved_on(target))
    if is_long(target.stored):
        return see_other(f"{_address(target, target.draft)}&step={start(target, row).pk}")
    try:
        made = run_recipe(target, value_of(row))
    except ChainError as refused:
        return _page(request, target, str(refused))
    if made is target or made.draft is None:
        return _page(request, target, nothing(row))
    return _to_draft(request, made.draft, row)


def _of_job(request: HttpRequest, target: Target, job: Job) -> HttpResponse:
    address = f"{_address(target, target.draft)}&step={job.pk}"
    if request.method == "POST" and request.POST.get("act") == "stop":
        lease.cancel(job)
        return see_other(address)
    if not job.is_finished:
        page = {**_head(target), "operation": {"doing": "Running the recipe"}, "job": job, "job_href": address}
        name = "drafts/operations/_waiting.html" if wants_fragment(request) else "drafts/recipe/waiting.html"
        return render(request, name, {"page": page})
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    if job.state == Job.State.DONE:
        draft = Draft.objects.open().filter(pk=job.result["draft"]).first()
        row = Recipe.objects.visible_to(member_of(request)).filter(pk=job.args["recipe"]).first()
        return _to_draft(request, draft, row) if draft is not None else see_other(_address(target, target.draft))
    return _page(request, target, STOPPED if job.state == Job.State.CANCELLED else job.message)


def _to_draft(request: HttpRequest, draft: Draft, row: Recipe | None) -> HttpResponse:
    if row is not None and row.purges:
        messages.info(request, PURGE_LATER)
    return to_draft(draft)


def _address(target: Target, draft: Draft | None) -> str:
    query = f"?draft={draft.pk}" if draft is not None else target.query
    return reverse("drafts:recipe", args=[target.chain.pk]) + query


def _head(target: Target) -> dict[str, object]:
    href, words = target.back
    return {
        "chain": target.chain,
        "draft": target.draft,
        "source_words": target.words,
        "seen": target.seen,
        "back_href": href,
        "back_words": words,
    }


def _page(request: HttpRequest, target: Target, error: str = "") -> HttpResponse:
    rows = Recipe.objects.visible_to(member_of(request))
    page = {**_head(target), "error": error, "post_href": _address(target, target.draft)}
    page["recipes"] = [(row, without_lists(row).labels) for row in rows]
    status = 422 if error and request.method == "POST" else 200
    return render(request, "drafts/recipe/recipe.html", {"page": page}, status=status)
