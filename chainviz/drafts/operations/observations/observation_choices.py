"""The choices for converting observations, with the savings and losses of each format beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse, QueryDict
from pydantic import ValidationError

from chainviz.chains.observations.index_job import is_long
from chainviz.chains.render.visible_text import marks
from chainviz.core.errors import Refused
from chainviz.core.observations.contract import LABELS
from chainviz.core.operations.contract import Context, Options
from chainviz.core.operations.observations.rewrites import ObservationsOptions
from chainviz.drafts.operations.choices import Choices
from chainviz.drafts.operations.observations.changes import change_window, delta_text, first_losses
from chainviz.drafts.operations.observations.summary import PlanSummary, Summaries, from_json, planning_job, start_planning, summaries_of
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.web.formatting import byte_text
from chainviz.web.http import small_number

HINTS = {"raw": "results only, no names", "brackets": "[tool_name] lines", "markdown": "# tool_name lines", "xml": "<tool_name> tags"}
MOST_LOSSES = 20


@dataclass(frozen=True, slots=True)
class Convention:
    """A card: what converting to this convention would come to."""

    name: str
    label: str
    hint: str
    delta: str
    verdict: str
    is_lossless: bool


@dataclass(frozen=True, slots=True)
class LossView:
    place: str
    url: str
    tool: str
    reason: str


class ObservationsChoices(Choices):
    template = "drafts/observations/convert.html"
    chosen = ObservationsOptions.model_validate({})
    job: Job | None = None
    summaries: Summaries | None = None
    """The summaries, or None while they are computed."""

    def read(self) -> None:
        given = self.sent if self.sent is not None else self.request.GET
        try:
            self.chosen = options_in(given)
        except ValidationError:
            self.error = "These settings do not exist; choose from the lists."
        self._plan()
        if self.sent is None and "roles" not in given:
            self._choose_tool_messages()

    def _choose_tool_messages(self) -> None:
        """Choose to write tool messages as text if no result is text yet, because nothing else would change. In a long chain, whose
        losses a job counts, the person chooses."""
        if self.job is not None or self.summary is None or self.summary.results:
            return
        chosen = self.chosen.model_copy(update={"roles": "to_text"})
        summaries = summaries_of(self.target.stored, chosen, Context())
        if summaries.by_convention[chosen.to].results:
            self.chosen, self.summaries = chosen, summaries

    def reopen(self, options: Options) -> None:
        assert isinstance(options, ObservationsOptions)
        self.chosen = options
        self._plan()

    def _plan(self) -> None:
        if not is_long(self.target.stored):
            self.summaries = summaries_of(self.target.stored, self.chosen, Context())
            return
        self.job = planning_job(self.target, self.chosen)
        act = self._sent_value("act")
        if act == "read" and self.job.is_finished and self.job.state != Job.State.DONE:
            self.job = start_planning(self.target, self.chosen)
        elif act == "halt":
            lease.cancel(self.job)
            self.job.refresh_from_db()
        if self.job.state == Job.State.DONE:
            self.summaries = from_json(self.job.result)

    def _sent_value(self, name: str) -> str:
        return str(self.sent.get(name, "")) if self.sent is not None else ""

    @property
    def asks_for_step(self) -> bool:
        return self._sent_value("act") == "apply" and not self.error

    @property
    def fragment(self) -> str:
        return "drafts/observations/_preview.html"

    @property
    def summary(self) -> PlanSummary | None:
        return self.summaries.by_convention[self.chosen.to] if self.summaries else None

    def options(self) -> ObservationsOptions:
        if self.summary is None:
            raise Refused("Wait until the chain is read: the losses are not known yet.")
        if self.needs_force and not self.chosen.force:
            raise Refused("This conversion has losses. Tick “Convert anyway”, or choose another format.")
        return self.chosen

    @property
    def needs_force(self) -> bool:
        summary = self.summary
        drops_ids = self.chosen.roles == "to_text" and summary is not None and summary.ids > 0
        return drops_ids or bool(summary and summary.loss_count)

    def answer(self) -> HttpResponse | None:
        return None

    def context(self) -> dict[str, Any]:
        start = small_number(self._sent_value("from")) or 0
        summary, summaries = self.summary, self.summaries
        window = change_window(self.target, self.chosen, summary, summaries.tools, start) if summary and summaries else None
        before, after = summary.sizes if summary else (0, 0)
        losses = self._losses()
        return {
            "chosen": self.chosen,
            "sources": [(name, LABELS[name], name in self.chosen.sources) for name in LABELS],
            "conventions": [self._convention(name) for name in LABELS],
            "job": self.job if summary is None else None,
            "summary": summary,
            "before": byte_text(before),
            "after": byte_text(after),
            "delta": delta_text(after - before),
            "is_smaller": after <= before,
            "losses": losses,
            "losses_left": summary.loss_count - len(losses) if summary else 0,
            "kept": [self._loss(message, "", reason) for message, reason in summary.kept[:MOST_LOSSES]] if summary else [],
            "kept_left": max(0, summary.kept_count - MOST_LOSSES) if summary else 0,
            "needs_force": self.needs_force,
            "window": window,
            "lossless": [each.label for each in map(self._convention, LABELS) if each.is_lossless and each.name != self.chosen.to],
            "observations_href": f"{self.target.explorer}observations",
        }

    def _convention(self, name: str) -> Convention:
        summary = self.summaries.by_convention.get(name) if self.summaries else None
        if summary is None or not summary.results:
            return Convention(name, LABELS[name], HINTS[name], "", "", False)
        before, after = summary.sizes
        is_lossless = not summary.loss_count
        verdict = "lossless" if is_lossless else f"{summary.survived:,} of {summary.results:,} survive"
        return Convention(name, LABELS[name], HINTS[name], delta_text(after - before), verdict, is_lossless)

    def _losses(self) -> list[LossView]:
        if self.summary is None or self.summaries is None or not self.summary.loss_count:
            return []
        found = first_losses(self.target, self.chosen, self.summary, self.summaries.tools, MOST_LOSSES)
        return [self._loss(message, loss.tool, loss.reason) for message, loss in found]

    def _loss(self, message: int, tool: str, reason: str) -> LossView:
        path = self.target.stored.outline.path_at(message)
        url = self.target.address_of(path)
        return LossView(path.number, url, marks(tool), marks(reason))


def options_in(form: QueryDict) -> ObservationsOptions:
    """Raise ValidationError. What the form does not say has its default."""
    given: dict[str, Any] = {name: form[name] for name in ("to", "roles", "wrapper", "section", "action_text") if form.get(name)}
    if "source" in form:
        given["sources"] = tuple(dict.fromkeys(form.getlist("source")))
    if "names" in form:
        given["names"] = tuple(word.strip() for word in form.get("names", "").split(",") if word.strip())
    return ObservationsOptions.model_validate({**given, "force": "force" in form})
