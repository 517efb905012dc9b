"""The page of an operation: its choices (here those of a conversion), a job if the chain is long, and the redirect to the draft.

A step of a draft is changed on the same page: it shows the step's choices again, and replaces it with a new preview. Later steps are
repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods
from django_htmx.http import trigger_client_event
from pydantic import ValidationError

from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.exports.export import Export, usual_formats
from chainviz.core.counts import count_text
from chainviz.core.errors import ChainError
from chainviz.core.operations import operation_named
from chainviz.core.operations.contract import Operation, Options
from chainviz.core.operations.convert import SAME
from chainviz.core.recipes import make_step
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.choices import Choices, begun_draft, moved_on, read_only_page, to_draft
from chainviz.drafts.operations.compact.compact_choices import CompactChoices
from chainviz.drafts.operations.mask.mask_choices import MaskChoices
from chainviz.drafts.operations.observations.observation_choices import ObservationsChoices
from chainviz.drafts.operations.redact.form import SELECTION
from chainviz.drafts.operations.redact.redact_choices import RedactChoices
from chainviz.drafts.operations.repair.repair_choices import RepairChoices
from chainviz.drafts.operations.run import find, stop
from chainviz.drafts.stored_draft import Steps, steps_of
from chainviz.drafts.summaries.summary_choices import SummarizeChoices
from chainviz.drafts.target import Target, target_of, target_of_draft
from chainviz.jobs.models import Job
from chainviz.recipes.services import create_numbered
from chainviz.recipes.step_form import context_of
from chainviz.store.content.codec import unpack
from chainviz.store.models import Step
from chainviz.web.http import see_other, small_number, wants_fragment


class ConvertChoices(Choices):
    template = "drafts/operations/convert.html"
    fragment = "drafts/operations/_losses.html"

    def read(self) -> None:
        """Read the choices. A link can name the format, as those to the usual ones do."""
        super().read()
        wanted = self.request.GET.get("to", "")
        if self.sent is None and wanted in dict(self.form.fields["to"].choices):  # type: ignore[attr-defined]
            self.reopen(self.operation.Options.model_validate({"to": wanted}))

    def answer(self) -> HttpResponse | None:
        """Show the page again when only the losses are asked for, which is the button without JavaScript."""
        is_look = self.request.method == "POST" and self.request.POST.get("act") == "look"
        return self.page() if is_look else None

    def context(self) -> dict[str, Any]:
        format = self.form.fields["to"]
        format.choices = [(SAME, "Choose a format"), *format.choices[1:]]  # type: ignore[attr-defined]
        name = str(self.form["to"].value() or SAME)
        is_known = name != SAME and name in dict(format.choices)  # type: ignore[attr-defined]
        target = Export.to(self.target.subject, name) if is_known else None
        usual = usual_formats(self.target.subject.snapshot.format)
        return {"target": target, "usual": usual, "export_href": f"{self.target.explorer}export", **context_of(self.form, ("to",))}


PARTICULAR: dict[str, type[Choices]] = {
    "compact": CompactChoices,
    "convert": ConvertChoices,
    "mask": MaskChoices,
    "observations": ObservationsChoices,
    "redact": RedactChoices,
    "repair": RepairChoices,
    "summarize": SummarizeChoices,
}
STOPPED = "This was stopped, and nothing was changed. Your choices are still here."


@requires("draft")
@require_http_methods(["GET", "HEAD", "POST"])
def operation(request: HttpRequest, chain_id: int, name: str) -> HttpResponse:
    chosen = operation_named(name)
    if chosen is None or name == "edit":  # an edit begins at a node
        raise Http404
    target = target_of(request, chain_id)
    refused = read_only_page(request, target, chosen)
    if refused is not None:
        return refused
    made = own_step(target, chosen, small_number(request.GET.get("at", "")))
    if made is not None and target.draft is not None:
        target = target_of_draft(target.draft, made.position)
    choices = PARTICULAR.get(name, Choices)(request, target, chosen)
    job = _job(choices)
    if job is not None:
        return _of_job(choices, job)
    if request.method != "POST" and not wants_fragment(request):
        begun = begun_draft(target)
        if begun is not None:
            return redirect(address_of(chosen, begun, request.GET))
    choices.read()
    if made is not None and request.method != "POST":
        choices.reopen(chosen_in(made, chosen))
        choices.note = _note(target, made)
    if request.POST.get("act") == "keep_recipe":
        return _keep_recipe(choices)
    return choices.answer() or (_take(choices) if choices.asks_for_step else choices.waiting() or choices.page())


def _note(target: Target, made: Step) -> str:
    later = steps_of(target.draft).cursor - made.position - 1 if target.draft is not None else 0
    repeats = f" and repeats the {count_text(later, 'step')} after it" if later else ""
    return f"Step {made.position + 1} of your draft has these choices. A new preview replaces it{repeats}."


def _keep_recipe(choices: Choices) -> HttpResponse:
    """Save the options as a recipe of the team, without options that name places in this chain."""
    answer = choices.answer()
    if answer is not None:
        return answer
    if choices.error:
        return choices.page()
    try:
        step = make_step(choices.operation.name, choices.options().model_dump(exclude_defaults=True))
        row = create_numbered(choices.operation.label, (step,), by=member_of(choices.request))
    except ChainError as refused:
        choices.error = str(refused)
        return choices.page()
    messages.success(choices.request, f"The options were saved as the recipe “{row.name}”. Rename it, or add steps.")
    return see_other("recipes:recipe", row.pk)


def _take(choices: Choices) -> HttpResponse:
    if choices.request.POST.get("seen") != choices.target.seen:
        choices.error = moved_on(choices.target)
        return choices.page()
    try:
        return choices.take(choices.options())
    except ChainError as refused:
        choices.error = str(refused)
        return choices.page()


def _job(choices: Choices) -> Job | None:
    """Return the job that the address names; for the page of a long chain, the running job."""
    asked = small_number(choices.request.GET.get("step", ""))
    looks = choices.request.method != "POST" and choices.is_long
    job = find(choices.target, choices.operation, asked) if asked or looks else None
    if asked and job is None:
        raise Http404
    return job


def _of_job(choices: Choices, job: Job) -> HttpResponse:
    """Show the progress of the job, then the draft that it made. If it made none, show the choices again."""
    request, address = choices.request, f"{choices.address}&step={job.pk}"
    if request.method == "POST" and request.POST.get("act") == "stop":
        stop(job)
        return see_other(address)
    if not job.is_finished:
        page = {**choices.head(), "job": job, "job_href": address}
        name = "drafts/operations/_waiting.html" if wants_fragment(request) else "drafts/operations/waiting.html"
        return render(request, name, {"page": page})
    if wants_fragment(request):
        if job.state != Job.State.DONE:
            return HttpResponse(status=204, headers={"HX-Redirect": address})
        # the page of the draft replaces this page in the browser's history, so that Back leads to the choices
        answer = HttpResponse(status=204)
        return trigger_client_event(answer, "job:done", {"href": _to_result(choices, job)["Location"]})
    if job.state == Job.State.DONE:
        return _to_result(choices, job)
    choices.reopen(choices.operation.Options.model_validate(job.args["options"]))
    if job.state == Job.State.CANCELLED:
        choices.note = STOPPED
    else:
        choices.error = job.message
    return choices.answer() or choices.page()


def _to_result(choices: Choices, job: Job) -> HttpResponse:
    """Redirect to the draft that the job made, or to the choices if the draft was saved or discarded."""
    draft = Draft.objects.open().filter(pk=job.result["draft"]).first()
    return to_draft(draft) if draft is not None else see_other(choices.address)


CHANGED_ELSEWHERE = {"edit", "summarize"}
"""Operations whose steps are changed on other pages: an edit in its node, summaries in their run."""

SELECTING = ("kind", "since", *SELECTION)
"""Query parameters of an address that select the nodes for the operation."""


def own_step(target: Target, operation: Operation[Any], position: int | None) -> Step | None:
    """Return the step at `position` if this operation made it."""
    if target.draft is None or position is None or operation.name in CHANGED_ELSEWHERE:
        return None
    steps = steps_of(target.draft)
    made = steps.at(position) if position < steps.cursor else None
    return made if made is not None and made.snapshot.operation == operation.name else None


def chosen_in(step: Step, operation: Operation[Any]) -> Options:
    """Return the options of a step. Options that were not stored, such as the patterns of a mask, have their defaults."""
    kept = {name: value for name, value in unpack(step.snapshot.options).items() if name in operation.Options.model_fields}
    try:
        return operation.Options.model_validate(kept)
    except ValidationError as refused:
        wrong = {error["loc"][0] for error in refused.errors() if error["loc"]}
        return operation.Options.model_validate({name: value for name, value in kept.items() if name not in wrong})


def change_address(draft: Draft, steps: Steps, position: int) -> str:
    """Return the address at which the choices of a step are changed; empty if they cannot be."""
    name = steps.all[position].snapshot.operation if position < steps.cursor else ""
    if operation_named(name) is None or name in CHANGED_ELSEWHERE:
        return ""
    return f"{reverse('drafts:operation', args=[draft.chain_id, name])}?draft={draft.pk}&at={position}"


def address_of(operation: Operation[Any], draft: Draft, asked: Mapping[str, str]) -> str:
    """Return the address of the operation's page for an existing draft. If the only step of the draft is of this operation, the page
    changes that step, so that Back from a preview leads to the choices. Otherwise, or if the query `asked` selects nodes, it adds a
    step."""
    steps = steps_of(draft)
    if kept := {name: asked[name] for name in SELECTING if name in asked}:
        query = urlencode({"draft": draft.pk, **kept}, errors="surrogatepass")
        return f"{reverse('drafts:operation', args=[draft.chain_id, operation.name])}?{query}"
    if steps.cursor == 1 and steps.all[0].snapshot.operation == operation.name and (address := change_address(draft, steps, 0)):
        return address
    return f"{reverse('drafts:operation', args=[draft.chain_id, operation.name])}?draft={draft.pk}&at={steps.cursor}"
