"""Settings of a summary with their plan, which follows while one chooses; and the beginning of a run."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods, require_safe

from chainviz.chains.render.excerpt import stretch
from chainviz.core.errors import ChainError
from chainviz.core.operations.summarize import SummarizeOptions, SummaryRequest, plan
from chainviz.drafts.operations.responses import begun_draft, moved_on, see_other
from chainviz.drafts.summaries import runs
from chainviz.drafts.summaries.form import OFFERED, SETTINGS, form_of, preset_in, presets, writer_choices, writer_in
from chainviz.drafts.summaries.plan_outline import PlanPage, plan_page
from chainviz.drafts.target import Ground, ground_of
from chainviz.web.forms import OptionsForm
from chainviz.web.htmx import wants_fragment
from chainviz.web.query_params import small_number

ANEW = "anew"
"""In an address: show the settings although summaries of this content are on their way."""


@require_http_methods(["GET", "HEAD", "POST"])
def summarize(request: HttpRequest, chain_id: int) -> HttpResponse:
    ground = ground_of(request, chain_id)
    address = reverse("drafts:summarize", args=[chain_id])
    if request.method == "POST":
        return _posted(request, ground, address)
    if not wants_fragment(request):
        begun = begun_draft(request, ground)
        if begun is not None:
            return redirect(f"{address}?draft={begun.pk}")
        run = runs.open_run(ground, request.user)
        if run is not None and not {SETTINGS, "preset", ANEW} & request.GET.keys():
            return redirect("drafts:summaries", chain_id, run.pk)
    return _answer(request, ground, form_of(request.GET), request.GET)


def _posted(request: HttpRequest, ground: Ground, address: str) -> HttpResponse:
    if "show" in request.POST:
        words = request.POST.copy()
        for name in ("csrfmiddlewaretoken", "show", "seen", "v", "draft"):
            words.pop(name, None)
        return see_other(f"{address}{ground.query}&{words.urlencode()}")
    form = form_of(request.POST)
    if request.POST.get("seen") != ground.seen:
        return _answer(request, ground, form, request.POST, moved_on(ground))
    if form.is_valid():
        try:
            run = runs.begin(ground, request.user, form.options, writer_in(request.POST, runs.endpoint()))
        except ChainError as refused:
            return _answer(request, ground, form, request.POST, str(refused))
        return see_other(reverse("drafts:summaries", args=[ground.chain.pk, run.pk]))
    return _answer(request, ground, form, request.POST)


def _answer(
    request: HttpRequest, ground: Ground, form: OptionsForm[SummarizeOptions], given: QueryDict, error: str = ""
) -> HttpResponse:
    first = small_number(request.GET.get("from", "")) or 0
    shown: PlanPage | None = None
    if form.is_valid():
        shown = plan_page(plan(ground.stored, form.options), ground.explorer, first)
    page = {**_page(request, ground, given), "form": form, "plan": shown, "error": error}
    template = "drafts/summaries/_summary_fragment.html" if wants_fragment(request) else "drafts/summaries/summarize.html"
    response = render(request, template, {"page": page}, status=422 if error or shown is None else 200)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _page(request: HttpRequest, ground: Ground, given: QueryDict) -> dict[str, Any]:
    endpoint = runs.endpoint()
    chosen = preset_in(given)
    writer = writer_in(given, endpoint)
    address = reverse("drafts:summarize", args=[ground.chain.pk])
    href, words = ground.back
    open_run = runs.open_run(ground, request.user)
    return {
        "chain": ground.chain,
        "source_words": ground.words,
        "seen": ground.seen,
        "back_href": href,
        "back_words": words,
        "address": address,
        "query": ground.query,
        "place": ground.query[1:].partition("="),
        "presets": presets(chosen),
        "preset": chosen,
        "preset_label": OFFERED[chosen][0],
        "writer": writer,
        "writers": writer_choices(endpoint, writer),
        "words": _words(given),
        "open_run": open_run,
        "is_fragment": wants_fragment(request),
    }


def _words(given: QueryDict) -> str:
    """The settings as part of an address."""
    words = given.copy()
    for name in ("csrfmiddlewaretoken", "seen", "v", "draft", "from", "key", ANEW):
        words.pop(name, None)
    return words.urlencode()


@require_safe
def prompt(request: HttpRequest, chain_id: int) -> HttpResponse:
    """What a model would be asked for one piece of a plan, the first one if the address names none."""
    ground = ground_of(request, chain_id)
    form = form_of(request.GET)
    if not form.is_valid():
        raise Http404("These settings give no plan.")
    planned = plan(ground.stored, form.options)
    key = request.GET.get("key")
    piece = next((each for each in planned.pieces if key in (None, each.key)), None)
    if piece is None:
        raise Http404("The plan has no such piece.")
    words = request.GET.copy()
    words.pop("from", None)
    return prompt_answer(request, ground, planned.request(piece), f"{request.path}?{words.urlencode()}&")


def prompt_answer(request: HttpRequest, ground: Ground, asked: SummaryRequest, address: str) -> HttpResponse:
    start = small_number(request.GET.get("from", "")) or 0
    text = asked.prompt
    shown = stretch(text, start)
    page = {
        "chain": ground.chain,
        "title": asked.key,
        "shown": shown,
        "size": len(text.encode("utf-8", "replace")),
        "more_href": f"{address}from={shown.end}" if shown.left else "",
        "back_href": ground.back[0],
    }
    template = "drafts/summaries/_summary_prompt.html" if wants_fragment(request) else "drafts/summaries/summary_prompt.html"
    response = render(request, template, {"page": page})
    patch_vary_headers(response, ["HX-Request"])
    return response
