"""The choices for a compaction: a strategy as a tree, with its effect on the chain beside it."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.urls import reverse

from chainviz.core.errors import ChainError, OptionsError, Refused
from chainviz.core.operations.compact import CompactOptions, as_value, parse_strategy, print_strategy
from chainviz.core.operations.compact.contract import Compactor
from chainviz.core.operations.contract import Context, Options
from chainviz.drafts.operations.choices import Choices, to_draft
from chainviz.drafts.operations.compact import run, tree
from chainviz.drafts.operations.compact.result import BeforeAfter, Result, before_after
from chainviz.drafts.operations.compact.run import Ran, run_strategy
from chainviz.drafts.operations.compact.tree import Node, Value, node_of
from chainviz.drafts.operations.presets import Preset, presets_of, save_preset
from chainviz.drafts.operations.run import change
from chainviz.drafts.summaries.runs import endpoint_for
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.web.forms import options_form
from chainviz.web.http import see_other, small_number

UNSURE = "This removes everything: tick “Remove everything” to continue, or choose another boundary."


class CompactChoices(Choices):
    template = "drafts/compact/compact.html"
    job: Job | None = None
    """The job that runs the strategy on a long chain."""

    def read(self) -> None:
        self.job = self._job()
        if self.job is not None and self.sent is None:
            self.reopen(CompactOptions.model_validate(self.job.args["options"]))
            return
        self.form = options_form(CompactOptions)(self.sent)
        window = self.target.context_window
        tokens = window.tokens if window else 0
        self.tree: Value | None = tree.usual_tree(tokens)
        if self.sent is None:
            self.form.begin_with(CompactOptions.model_validate({"keep_first_request": True}))
        if self.sent is None and "strategy" in self.request.GET:
            self._read_json(self.request.GET["strategy"])
        if self.sent is not None:
            self.tree = tree.edited(tree.read_tree(self.sent), self.act, tokens)
            preset = self._preset("load")
            if preset is not None:
                self.reopen(CompactOptions.model_validate(preset.options))
            if self.act == "read":
                self._read_json(self.request.POST.get("json", ""))

    def reopen(self, options: Options) -> None:
        assert isinstance(options, CompactOptions)
        super().reopen(options)
        self.tree = as_value(options.compactor) if options.compactor else None

    def _read_json(self, text: str) -> None:
        try:
            self.tree = as_value(parse_strategy(text))
        except OptionsError as refused:
            self.error = str(refused)

    def _preset(self, word: str) -> Preset | None:
        """Return the saved strategy that a button names, such as `load:7`."""
        said, _, number = self.act.partition(":")
        key = small_number(number) if said == word else None
        return None if key is None else presets_of(self.target.person, self.operation.name).filter(pk=key).first()

    def _keep(self) -> None:
        try:
            preset = save_preset(self.target.person, self.operation.name, self.request.POST.get("preset_name", ""), self.options())
        except Refused as refused:
            self.error = str(refused)
        else:
            self.note = f"Saved as “{preset.name}”."

    def _forget(self) -> None:
        preset = self._preset("forget")
        if preset is not None:
            preset.delete()
            self.note = f"“{preset.name}” was deleted."

    def answer(self) -> HttpResponse | None:
        if self.act == "keep":
            self._keep()
        self._forget()
        if self.act == "write" and self.tree is not None and not self.problem:
            content = print_strategy(parse_strategy(self.tree), indent=2) + "\n"
            headers = {"Content-Disposition": 'attachment; filename="strategy.json"'}
            return HttpResponse(content, content_type="application/json", headers=headers)
        if self.act == "simulate" and self.tree is not None and not self.problem:
            address = reverse("drafts:simulation", args=[self.target.chain.pk])
            strategy = urlencode({"a": print_strategy(parse_strategy(self.tree))})
            return see_other(f"{address}{self.target.query}&{strategy}")
        if self.act == "stop" and self.job is not None:
            lease.cancel(self.job)
            return see_other(self.address)
        if self.act == "look" and self.runs_as_job and not self.problem:
            job = run.start(self.target, self.options())
            return see_other(f"{self.address}&run={job.pk}")
        return None

    def take(self, options: Options) -> HttpResponse:
        if not run.is_written_by_model(self.tree):
            return super().take(options)
        assert isinstance(options, CompactOptions)
        texts = run.written_texts(self.target, options)
        if texts is None:
            raise Refused("Press Run first: a model writes the summaries, and you see the result before anything changes.")
        return to_draft(change(self.target, self.operation, options, texts))

    def options(self) -> CompactOptions:
        if self.problem:
            raise Refused(self.problem)
        if self.form.is_bound and not self.form.is_valid():
            raise Refused("Correct the marked fields.")
        chosen = self.form.options if self.form.is_bound else CompactOptions.model_validate(self.form.initial)
        options: CompactOptions = chosen.model_copy(update={"strategy": json.dumps(self.tree, ensure_ascii=False)})
        if self.asks_for_step and self.ran is not None and self.ran.removes_everything and not self.request.POST.get("sure"):
            raise Refused(UNSURE)
        return options

    @property
    def act(self) -> str:
        return str(self.request.POST.get("act", ""))

    @property
    def asks_for_step(self) -> bool:
        return self.act == "apply"

    @cached_property
    def problem(self) -> str:
        """The reason why the strategy cannot run; "" if it can."""
        if self.tree is None:
            return "Add a first step."
        try:
            parse_strategy(self.tree)
        except OptionsError as refused:
            return str(refused)
        return ""

    @property
    def runs_as_job(self) -> bool:
        return run.is_long(self.target.stored, self.tree, self._field_value("counter"))

    @cached_property
    def ran(self) -> Ran | None:
        """The result of the strategy, or None if it is not known yet: a long chain waits for its job."""
        if self.job is not None:
            return Ran.model_validate(self.job.result) if self.job.state == Job.State.DONE else None
        if self.problem or self.runs_as_job or (self.form.is_bound and not self.form.is_valid()):
            return None
        chosen = self.form.options if self.form.is_bound else CompactOptions.model_validate(self.form.initial)
        options = chosen.model_copy(update={"strategy": json.dumps(self.tree)})
        try:
            return run_strategy(self.target.stored, options, Context())
        except ChainError as refused:
            self.error = self.error or str(refused)
            return None

    def _job(self) -> Job | None:
        number = small_number(self.request.GET.get("run", ""))
        job = run.find(self.target, number) if number else None
        if number and job is None:
            raise Http404
        return job

    @property
    def fragment(self) -> str:
        """A field changes the result alone; a button of the tree changes the form, too."""
        return "drafts/compact/_result.html" if self.request.htmx.target == "lab" else self.template  # type: ignore[attr-defined]

    def context(self) -> dict[str, Any]:
        ran, ways = self.ran, self._ways()
        return {
            "form": self.form,
            "root": self._root(),
            "root_choices": tree.kinds_for(Compactor),
            "problem": self.problem,
            "ran": ran,
            "result": Result(ran) if ran else None,
            "ways": ways,
            "is_way": any(is_chosen for _, _, is_chosen in ways),
            "no_model": endpoint_for(self.target.chain).problem,
            "keeps_first": bool(self._field_value("keep_first_request")),
            "counter": self._field_value("counter"),
            "boundary": self._field_value("if_no_user_boundary"),
            "prompt_tokens": self._field_value("prompt_tokens"),
            "window": self.target.context_window,
            "query": self.target.query,
            "explorer": self.target.explorer,
            "changes": self._changes(ran),
            "job": self.job,
            "job_href": f"{self.address}&run={self.job.pk}" if self.job else "",
            "runs_as_job": self.runs_as_job,
            "json": self._json(),
            "presets": presets_of(self.target.person, self.operation.name),
        }

    def _ways(self) -> list[tuple[tree.Way, str, bool]]:
        """Return each way with its address, and whether it is chosen."""
        window, endpoint = self.target.context_window, endpoint_for(self.target.chain)
        model = "" if endpoint.problem else f"{endpoint.model} at {endpoint.host} reads what is folded."
        found = tree.ways_for(window.tokens if window else 0, model)
        return [(way, f"{self.address}&{urlencode({'strategy': json.dumps(way.tree)})}", way.tree == self.tree) for way in found]

    def _root(self) -> Node | None:
        return node_of(self.tree) if self.tree is not None else None

    def _changes(self, ran: Ran | None) -> BeforeAfter | None:
        given = self.request.POST if self.sent is not None else self.request.GET
        start = small_number(given.get("sections", ""))
        return before_after(self.target.stored, ran, start) if ran else None

    def _field_value(self, name: str) -> str:
        """Return a field as it was sent or, if it was not, as it was chosen before."""
        given = self.request.POST.get(name) if self.form.is_bound else self.form.initial.get(name)
        return str(given or "")

    def _json(self) -> str:
        if self.act == "read" and self.error:
            return str(self.request.POST.get("json", ""))
        return print_strategy(parse_strategy(self.tree), indent=2) if self.tree and not self.problem else ""
