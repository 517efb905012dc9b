"""The choices for a repair: every possible fix, one by one. A job checks the structure of a long chain; another reads
all its messages to find problems that only their contents show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django_htmx.http import HttpResponseClientRedirect

from chainviz.chains.explorer.place_views import request_numbers
from chainviz.chains.verdicts import VerdictView, next_call_errors, provider_of, unsent_errors, verdict_view, verdicts_by_provider
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.chain.problems import Problem, rule_flag
from chainviz.core.errors import Refused
from chainviz.core.formats.vendors import PROVIDERS, get_provider
from chainviz.core.operations.contract import Context, Options
from chainviz.core.operations.repair import CHOICES, OPERATION, Fix, RepairOptions, propose
from chainviz.core.operations.repair.fixes import DROP_SIGNED, ON_DEMAND
from chainviz.core.providers.contract import Provider
from chainviz.drafts.operations.choices import Choices, moved_on
from chainviz.drafts.operations.presets import cached
from chainviz.drafts.operations.repair.cards import Links, cards_of, options_in
from chainviz.drafts.target import Target, target_of_job
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.content.codec import unpack
from chainviz.store.outline.build import outline_of
from chainviz.store.query.problems import ProblemFilter, problems
from chainviz.web.http import see_other, small_number, wants_fragment


class RepairChoices(Choices):
    template = "drafts/repair/repair.html"
    chosen = RepairOptions()
    reading: Job | None = None
    structure: Job | None = None
    """The check of the structure of a long chain."""

    def read(self) -> None:
        if self.is_long and self._offer_options:
            self.reading = reading_of(self.target, content=True, **self._offer_options)
            self.structure = self.reading = self.reading or start_reading(self.target, content=True, **self._offer_options)
        elif self.is_long:
            self.reading = reading_of(self.target, content=True)
            self.structure = reading_of(self.target, content=False) or start_reading(self.target, content=False)

    def reopen(self, options: Options) -> None:
        assert isinstance(options, RepairOptions)
        self.chosen = options
        self.read()

    def answer(self) -> HttpResponse | None:
        act = self.request.POST.get("act", "")
        if act == "read":
            start_reading(self.target, content=True)
        elif act == "stop" and self.reading is not None:
            lease.cancel(self.reading)
        elif wants_fragment(self.request) and self._is_waiting:
            return render(self.request, "drafts/repair/_checking.html", {"page": {**self.head(), **self._of_reading()}})
        elif wants_fragment(self.request) and self.request.GET.get("checking"):
            return HttpResponseClientRedirect(self._here)
        elif wants_fragment(self.request) and self.reading is not None and self.sent is None:
            return render(self.request, "drafts/repair/_reading.html", {"page": {**self.head(), **self._of_reading()}})
        else:
            return None
        return see_other(self._here)

    def options(self) -> RepairOptions:
        if self.request.POST.get("act") == "goal":
            return RepairOptions(goal=get_provider(self.request.POST.get("goal", "")).name)
        if self.request.POST.get("act") == DROP_SIGNED:
            return RepairOptions(only=(DROP_SIGNED,), since=self.request.POST.get("since", ""))
        # what a form offered is what it answers, also where the messages were read in the meantime
        if "content" in self.request.POST and not self._has_content:
            raise Refused(moved_on(self.target))
        content = "content" in self.request.POST
        return options_in(self.request.POST, self._fixes(content=content), self._kind, content=content)

    def context(self) -> dict[str, Any]:
        is_of_fixes = self.sent is not None and "act" not in self.sent
        content = self._has_content and (not is_of_fixes or "content" in self.request.POST)
        if is_of_fixes and not self._is_waiting:
            # a refused form comes back as it was sent
            self.chosen = options_in(self.request.POST, self._fixes(content=content), self._kind, content=content)
        start = small_number(self.request.GET.get("from", "")) or 0
        links = Links(self.target.address_of, self.target.query)
        goal = goal_view(self.target, self.request.GET.get("goal", ""), self.target.address_of)
        return {
            **self._of_reading(),
            "goal": goal,
            "planned": planned_fixes(self.target, goal.provider) if goal.errors and not self.is_long else (),
            "cards": None if self._is_waiting else cards_of(self._fixes(content=content), self._problems, self._kind, start, links),
            "content": content,
            "is_by_hand": is_of_fixes or bool(self._kind),
            "post_href": self._here,
            "problems_href": f"{self.target.explorer}problems",
        }

    @property
    def _problems(self) -> int:
        outline = outline_of(self.target.stored.snapshot)
        return outline.errors + outline.warnings

    def _of_reading(self) -> dict[str, Any]:
        return {"address": self._here, "messages": f"{len(self.target.stored):,}", "reading": self.reading, "structure": self.structure}

    @property
    def _kind(self) -> str:
        kind = self.request.GET.get("kind", "")
        return kind if kind in CHOICES else ""

    @property
    def _here(self) -> str:
        """The address of the page with the kind of fixes that it shows."""
        shown = {name: self.request.GET[name] for name in ("kind", "from", "since") if self._kind and name in self.request.GET}
        return f"{self.address}&{urlencode(shown)}" if shown else self.address

    @property
    def _offer_options(self) -> dict[str, Any]:
        """The options with which a fix is offered that fits one provider only."""
        return {"only": (self._kind,), "since": self.request.GET.get("since", "")} if self._kind in ON_DEMAND else {}

    @property
    def _has_content(self) -> bool:
        """True if it is known what the contents of the messages need."""
        if not self.is_long:
            return True
        return self.reading is not None and self.reading.state == Job.State.DONE

    @property
    def _is_waiting(self) -> bool:
        """True if nothing is known yet, so that the page shows the progress of the check."""
        return self.structure is not None and not self.structure.is_finished and not self._has_content

    def _fixes(self, *, content: bool) -> Sequence[Fix]:
        others = (f"{name}={self._kind}" for name in CHOICES if self._kind and name != self._kind)
        update = {"content": content, "choose": (*self.chosen.choose, *others), **self._offer_options}
        options = self.chosen.model_copy(update=update)
        job = self.reading if content else self.structure
        if job is not None and job.state == Job.State.DONE:
            return cached(self.target.stored, (job.pk, options), lambda: fixes_of(job, options))
        return cached(self.target.stored, options, lambda: propose(self.target.stored, options))


# Checking a long chain as a job: its structure when the page is opened, all contents when somebody asks. What a job
# finds is kept with it and serves every look at the page.


READING = "propose-repairs"


def start_reading(target: Target, *, content: bool, **asked: Any) -> Job:
    """Start a reading, or return the job that is running."""
    known = reading_of(target, content=content, **asked)
    if known and not known.is_finished:
        return known
    return start_job(READING, owner=target.person, **target.job_args, content=content, **asked)


def reading_of(target: Target, *, content: bool, **asked: Any) -> Job | None:
    """Return the person's last reading of exactly this content; `asked`: options of a fix that is offered on demand."""
    args = {**target.job_args, "content": content, **asked}
    jobs = Job.objects.visible_to(target.person).filter(function=READING, args=args)
    return jobs.order_by("-pk").defer("result").first()


def read_content(context: JobContext, *, content: bool = True, only: Sequence[str] = (), since: str = "", **args: Any) -> list[Any]:
    """Read the contents. Jobs of earlier versions do not name `content`."""
    options = RepairOptions(content=content, only=tuple(only), since=since)
    return [_packed(fix) for fix in propose(target_of_job(context.job).stored, options, context.report)]


def _packed(fix: Fix) -> list[Any]:
    """Return the fields of a fix as a list."""
    return [
        fix.id, fix.rule, str(fix.path), fix.message, fix.problem, fix.choices, fix.choice, fix.accepted, fix.default,
        fix.bytes_before, fix.bytes_after,
    ]  # fmt: skip


def fixes_of(job: Job, options: RepairOptions) -> list[Fix]:
    """Return what a finished reading proposes, accepted as the options say."""
    fixes = (
        Fix(id, rule, parse_path(path), message, problem, tuple(choices), *rest)
        for id, rule, path, message, problem, choices, *rest in job.result
    )
    return [_decided(fix, options) for fix in fixes]


def _decided(fix: Fix, options: RepairOptions) -> Fix:
    chosen = options.chosen()
    wanted = (chosen.get(key) for key in (fix.id, fix.rule, fix.name))
    choice = next((each for each in wanted if each in fix.choices), fix.choice)
    # the job knows which fixes come before the place of the request
    return replace(fix, accepted=options.accepts(fix) and (fix.accepted or not options.since), choice=choice)


MOST_ERRORS = 12


@dataclass(frozen=True, slots=True)
class ErrorLine:
    place: str
    """The name of the message for the provider, such as `messages.13`; "" if the file is not the JSON that is sent."""
    title: str
    text: str
    """One sentence with the provider's own words."""
    own_place: str
    href: str


@dataclass(frozen=True, slots=True)
class GoalView:
    provider: Provider
    """The provider of the next call, or the one that the person chose."""
    errors: int
    unsent: int
    """The number of errors in messages that the agent no longer sends."""
    is_accepted: bool
    lines: tuple[ErrorLine, ...]
    choices: tuple[tuple[Provider, VerdictView], ...]

    @property
    def more(self) -> int:
        return max(0, self.errors - len(self.lines))


def goal_view(target: Target, asked: str, at: Callable[[Path], str]) -> GoalView:
    """Return the view of a goal. `asked` is the name of the chosen provider; for "" or any other word, the
    provider of the chain is used."""
    provider = next((each for each in PROVIDERS if each.name == asked), None) or provider_of(target.stored)
    verdicts = verdicts_by_provider(unpack(outline_of(target.stored.snapshot).verdicts))
    everything = verdicts[provider]
    errors = next_call_errors(target.stored, provider, everything.errors)
    verdicts[provider] = own = replace(everything, errors=errors)
    lines = tuple(_lines(target, provider, at)) if errors else ()
    is_accepted = own.state == "accepted"
    choices = tuple((each, verdict_view(verdict)) for each, verdict in verdicts.items())
    return GoalView(provider, errors, unsent_errors(everything, own), is_accepted, lines, choices)


@dataclass(frozen=True, slots=True)
class PlannedFix:
    label: str
    hint: str
    count: int


def planned_fixes(target: Target, provider: Provider) -> tuple[PlannedFix, ...]:
    """Return what a repair for a provider would do, by kind of fix; nothing if the chain was not fully read."""
    options = RepairOptions(goal=provider.name)
    try:
        report = cached(target.stored, ("planned", provider.name), lambda: OPERATION.run(target.stored, options, Context()).report)
    except Refused:
        return ()
    actions = Counter(row.action for row in report if row.action in CHOICES)
    return tuple(PlannedFix(*CHOICES[name], count) for name, count in actions.items())


def _lines(target: Target, provider: Provider, at: Callable[[Path], str]) -> list[ErrorLine]:
    found = problems(target.stored, count=MOST_ERRORS, wanted=ProblemFilter(provider.name, "error")).problems[:MOST_ERRORS]
    is_sent = target.stored.snapshot.format in provider.formats
    numbers = request_numbers(target.stored, {each.message for each in found}) if is_sent else {}
    return [_line(each, provider, numbers.get(each.message), at) for each in found]


def _line(problem: Problem, provider: Provider, number: int | None, at: Callable[[Path], str]) -> ErrorLine:
    place = provider.message_place.format(number) if number is not None else ""
    return ErrorLine(place, rule_flag(problem.rule).capitalize(), problem.text, problem.path.number, at(problem.path))
