"""What a person chooses about summaries: settings with their plan, which follows while one chooses, and a writer.

Applied, they begin a run of summaries, which becomes a step once its texts are there.
"""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.render.excerpt import stretch
from chainviz.core.operations.contract import Options
from chainviz.core.operations.summarize import SummarizeOptions, SummaryRequest
from chainviz.core.operations.summarize.planning.choose import plan
from chainviz.drafts.operations.choices import Choices
from chainviz.drafts.operations.reading_cache import kept
from chainviz.drafts.summaries import runs
from chainviz.drafts.summaries.form import OFFERED, SETTINGS, form_of, preset_in, presets, writer_choices, writer_in
from chainviz.drafts.summaries.plan_outline import PLAN_PAGE, PlanPage, plan_page
from chainviz.drafts.target import Target, target_of
from chainviz.web.htmx import page_or_fragment, wants_fragment
from chainviz.web.query_params import small_number
from chainviz.web.responses import see_other

NEW = "new"
"""In an address: show the settings although there are summaries of this content already."""


class SummarizeChoices(Choices):
    template = "drafts/summaries/summarize.html"
    fragment = "drafts/summaries/_summary_fragment.html"
    first: PlanPage | None = None
    """What a job found; of a long chain."""

    def read(self) -> None:
        self.given: QueryDict = self.request.POST if self.sent is not None else self.request.GET
        self.form = form_of(self.given, runs.endpoint_for(self.target.chain))

    def answer(self) -> HttpResponse | None:
        if "show" in self.request.POST:
            return see_other(f"{self.address}&{_words(self.given, 'show')}")
        run = runs.open_run(self.target)
        if self.sent is None and run is not None and not self._shows_settings:
            return redirect("drafts:summaries", run.chain_id, run.pk)
        return None

    def take(self, options: Options) -> HttpResponse:
        assert isinstance(options, SummarizeOptions)
        run = runs.begin(self.target, options, writer_in(self.given, runs.endpoint_for(self.target.chain)))
        return see_other("drafts:summaries", run.chain_id, run.pk)

    def context(self) -> dict[str, Any]:
        endpoint = runs.endpoint_for(self.target.chain)
        chosen = preset_in(self.given)
        writer = writer_in(self.given, endpoint)
        plan = self._plan()
        return {
            "form": self.form,
            "plan": plan,
            "cost": plan.cost if plan and writer == "openai" and plan.model == endpoint.model else "",
            "address": reverse("drafts:operation", args=[self.target.chain.pk, self.operation.name]),
            "query": self.target.query,
            "place": self.target.query[1:].partition("="),
            "presets": presets(chosen),
            "preset": chosen,
            "preset_label": OFFERED[chosen][0],
            "writer": writer,
            "writers": writer_choices(endpoint, writer),
            "words": _words(self.given),
            "open_run": runs.open_run(self.target),
            "is_fragment": wants_fragment(self.request),
        }

    def _plan(self) -> PlanPage | None:
        if not self.form.is_valid():
            self.error = self.error or "These settings cannot be used."
            return None
        if self.first is not None:
            return self.first
        stored, options, first, endpoint = self.target.stored, self.form.options, self._from, runs.endpoint_for(self.target.chain)

        def work() -> PlanPage:
            return plan_page(plan(stored, options), self.target.explorer, first, endpoint=endpoint)

        return kept(stored, (options, first, endpoint), work)

    @property
    def _from(self) -> int:
        return small_number(self.request.GET.get("from", "")) or 0

    @property
    def first_options(self) -> SummarizeOptions | None:
        return self.form.options if self.form.is_valid() and not self._from else None

    def take_first(self, found: Any) -> None:
        self.first = PLAN_PAGE.validate_python(found)

    @property
    def _shows_settings(self) -> bool:
        return wants_fragment(self.request) or bool({SETTINGS, "preset", NEW} & self.request.GET.keys())


def _words(given: QueryDict, *others: str) -> str:
    """Returns the settings as part of an address."""
    words = given.copy()
    for name in ("csrfmiddlewaretoken", "seen", "v", "draft", "from", "key", NEW, *others):
        words.pop(name, None)
    return words.urlencode()


@requires("draft")
@require_safe
def prompt(request: HttpRequest, chain_id: int) -> HttpResponse:
    """What a model would be asked for one piece of a plan, the first one if the address names none."""
    target = target_of(request, chain_id)
    form = form_of(request.GET, runs.endpoint_for(target.chain))
    if not form.is_valid():
        raise Http404("These settings give no plan.")
    planned = plan(target.stored, form.options)
    key = request.GET.get("key")
    piece = next((each for each in planned.pieces if key in (None, each.key)), None)
    if piece is None:
        raise Http404("The plan has no such piece.")
    words = request.GET.copy()
    words.pop("from", None)
    return prompt_answer(request, planned.request(piece), f"{request.path}?{words.urlencode()}&", target)


def prompt_answer(request: HttpRequest, asked: SummaryRequest, address: str, target: Target) -> HttpResponse:
    """One stretch of the prompt; `address` of the next one, without where it begins."""
    text = asked.prompt
    shown = stretch(text, small_number(request.GET.get("from", "")) or 0)
    page = {
        "chain": target.chain,
        "title": asked.key,
        "shown": shown,
        "size": len(text.encode("utf-8", "replace")),
        "more_href": f"{address}from={shown.end}" if shown.left else "",
        "back_href": target.back[0],
    }
    names = ("drafts/summaries/summary_prompt.html", "drafts/summaries/_summary_prompt.html")
    return page_or_fragment(request, *names, {"page": page})
