"""The choices for summaries: settings, with a plan that is updated at every change, and a writer.

They start a run of summaries, which becomes a step of a draft when its texts are written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.render.text_marks import stretch
from chainviz.core.operations.contract import Options
from chainviz.core.operations.summarize import PRESETS, SummarizeOptions, SummaryRequest
from chainviz.core.operations.summarize.folding import plan
from chainviz.core.operations.summarize.options import Preset
from chainviz.drafts.operations.choices import Choices
from chainviz.drafts.operations.presets import cached
from chainviz.drafts.summaries import runs
from chainviz.drafts.summaries.plan_outline import PLAN_PAGE, PlanPage, plan_page
from chainviz.drafts.target import Target, target_of
from chainviz.llm import WRITERS, Endpoint, writer_named
from chainviz.web.forms import OptionsForm, options_form
from chainviz.web.http import page_or_fragment, see_other, small_number, wants_fragment

NEW = "new"
"""The query parameter that shows the settings, even if there are summaries of this content."""


class SummarizeChoices(Choices):
    template = "drafts/summaries/summarize.html"
    fragment = "drafts/summaries/_summary_fragment.html"
    first: PlanPage | None = None
    """The plan of a long chain, computed by a job."""

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

        return cached(stored, (options, first, endpoint), work)

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
    """Return the settings as a query string."""
    words = given.copy()
    for name in ("csrfmiddlewaretoken", "seen", "v", "draft", "from", "key", NEW, *others):
        words.pop(name, None)
    return words.urlencode()


@requires("draft")
@require_safe
def prompt(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Show the prompt for one piece of a plan, the first one if the address names none."""
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
    """Show a range of the prompt; `address` is that of the next range, without its start."""
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


# The form of settings, which a preset fills, and the writers.


OFFERED: dict[Preset, tuple[str, str]] = {
    "default": ("Default", "One section stays as it is; older sections become one summary each."),
    "assistant": ("Assistant", "Three sections stay as they are, and all limits are larger."),
    "provider_switch": ("After a provider switch", "Small, for a chain that continues with another provider."),
}
"""The presets on the page. PentAGI's own preset is only on the command line, because it cannot be reviewed piece by piece."""
SETTINGS = "set"
"""The query parameter that marks an address with settings, because an unticked box sends nothing."""


@dataclass(frozen=True, slots=True)
class PresetChoice:
    name: str
    label: str
    hint: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class WriterChoice:
    name: str
    label: str
    hint: str
    is_chosen: bool
    is_offered: bool = True


def preset_in(given: Mapping[str, str]) -> Preset:
    name = given.get("preset", "default")
    return next((preset for preset in OFFERED if preset == name), "default")


def form_of(given: QueryDict, endpoint: Endpoint) -> OptionsForm[SummarizeOptions]:
    """Return the chosen settings, or the values of a preset."""
    preset = preset_in(given)
    values: Any = given if SETTINGS in given else {**PRESETS[preset], **_text_defaults()}
    form = options_form(SummarizeOptions)(values, fixed={"preset": preset})
    del form.fields["preset"]
    if endpoint.window:
        form.fields["context_window"].default_text = f"{endpoint.window:,} of {endpoint.model}"  # type: ignore[attr-defined]
    return form


def _text_defaults() -> dict[str, Any]:
    filled = SummarizeOptions()
    return {name: getattr(filled, name) for name in ("tool_call_id_template", "allow_growth", "context_window")}


def presets(chosen: Preset) -> tuple[PresetChoice, ...]:
    return tuple(PresetChoice(name, label, hint, name == chosen) for name, (label, hint) in OFFERED.items())


def writer_choices(endpoint: Endpoint, chosen: str) -> tuple[WriterChoice, ...]:
    hints = {
        "extractive": "Extracts questions, decisions, attempts and findings verbatim. Quick; nothing leaves this machine.",
        "manual": "You write each summary yourself.",
    }
    choices = []
    for writer in WRITERS:
        known = writer_named(writer.name, endpoint)
        is_offered = writer.name != "openai" or not endpoint.problem
        hint = hints.get(writer.name) or _model_hint(endpoint)
        choices.append(WriterChoice(writer.name, known.label, hint, writer.name == chosen, is_offered))
    return tuple(choices)


def _model_hint(endpoint: Endpoint) -> str:
    if not endpoint.problem:
        return f"What is folded is sent to {endpoint.host}."
    return endpoint.refusal or f"{endpoint.problem} Then start chainviz again."


def writer_in(given: Mapping[str, str], endpoint: Endpoint) -> str:
    """Return the chosen writer, or the extractive one if the chosen one is not available."""
    offered = [choice.name for choice in writer_choices(endpoint, "") if choice.is_offered]
    name = given.get("writer", "")
    return name if name in offered else offered[0]
